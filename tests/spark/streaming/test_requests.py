"""Who wants what: a file that people and brokers write, and the subscriptions of a broker."""

import asyncio
from hashlib import sha256
from pathlib import Path
from zlib import crc32

import msgspec
import pytest

from gates.wire import serving
from tidings.client import connect
from tidings.model.access import Graphs
from tidings.spark.errors import FeedFailed
from tidings.spark.streaming.errors import StreamUnusable
from tidings.spark.streaming.subscriptions.requests import BrokerRequests, FileRequests, SubscriptionRequest
from tidings.sparql.algebra import Dataset

QUERY = "SELECT * { ?s ?p ?o }"


def test_the_last_line_of_a_subscription_counts(tmp_path: Path) -> None:
    path = tmp_path / "wanted.jsonl"
    path.write_text(
        '{"spuid": "a", "query": "ASK { }"}\n'
        '{"spuid": "b", "query": "ASK { }", "from": 7, "default": ["http://example.org/g"]}\n\n'
        f'{{"spuid": "a", "query": "{QUERY}"}}\n'
        '{"spuid": "c", "query": "ASK { }"}\n'
        '{"spuid": "c", "ended": true}\n'
        '{"spuid": "d", "query": "ASK'  # whoever appends is in the middle of it
    )
    wanted = FileRequests(path)
    requests = wanted.read()
    assert requests is not None
    assert {spuid: (request.query, request.begins) for spuid, request in requests.items()} == {
        "a": (QUERY, None),
        "b": ("ASK { }", 7),
    }
    assert requests["b"].member.default == ("<http://example.org/g>",)
    assert wanted.read() is None
    path.write_text('{"query": "ASK { }"}\n')
    named = wanted.read()
    assert named is not None
    assert [spuid.startswith("sepa://spuid/") for spuid in named] == [True]


@pytest.mark.parametrize(
    "line",
    [
        "no JSON",
        '{"spuid": "a"}',
        '{"query": "ASK { }", "from": -1}',
        '{"query": "ASK { }", "from": "x"}',
        '{"query": "ASK { }", "graphs": ["x"]}',
    ],
)
def test_a_line_that_makes_no_sense_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "wanted.jsonl"
    path.write_text(f'{{"query": "ASK {{ }}"}}\n{line}\n')
    with pytest.raises(StreamUnusable, match="line 2"):
        FileRequests(path).read()


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(StreamUnusable, match=r"nothing\.jsonl"):
        FileRequests(tmp_path / "nothing.jsonl").read()


COLLIDING = ("plumless", "buckeroo")
"""Words of one CRC-32, which texts around them have in common, too."""


def test_texts_of_one_checksum_are_two_subscriptions(tmp_path: Path) -> None:
    texts = [f"SELECT * {{ ?s <urn:{word}> ?o }}" for word in COLLIDING]
    assert crc32(texts[0].encode()) == crc32(texts[1].encode())
    path = tmp_path / "wanted.jsonl"
    path.write_bytes(b"".join(msgspec.json.encode({"query": text}) + b"\n" for text in texts))
    found = FileRequests(path).read()
    assert found is not None
    assert [request.query for request in found.values()] == texts


def test_as_many_texts_as_there_are_without_a_spuid_have_as_many() -> None:
    texts = [f"SELECT * {{ ?s <urn:{sha256(b'%d' % number).hexdigest()}> ?o }}" for number in range(200_000)]
    assert len({crc32(text.encode()) for text in texts}) < len(texts)
    assert len({SubscriptionRequest(text).member.spuid for text in texts}) == len(texts)


def test_a_spuid_that_is_not_given_is_that_of_text_and_graphs_in_every_run() -> None:
    plain = SubscriptionRequest("ASK { }")
    assert plain.member.spuid == "sepa://spuid/7b8c4eb18438feffd12614a23b9e4c9c"
    others = [
        SubscriptionRequest("ASK { }", default=("urn:g",)),
        SubscriptionRequest("ASK { }", named=("urn:g",)),
        SubscriptionRequest("ASK { }", default=()),
        SubscriptionRequest("ASK { }", graphs=("default",)),
    ]
    assert len({each.member.spuid for each in (plain, *others)}) == 5
    assert others[-1].member.graphs == Graphs(names=frozenset(("",)))


@pytest.mark.parametrize(
    "lines",
    [
        ('{"query": "ASK { }", "from": 1}', '{"query": "ASK { }", "from": 2}'),
        (f'{{"spuid": "{SubscriptionRequest("ASK { }").member.spuid}", "query": "{QUERY}"}}', '{"query": "ASK { }"}'),
    ],
)
def test_two_requests_that_would_share_a_spuid_are_refused(tmp_path: Path, lines: tuple[str, str]) -> None:
    path = tmp_path / "wanted.jsonl"
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(StreamUnusable, match="line 2: another request has the spuid"):
        FileRequests(path).read()


def test_the_same_request_twice_is_one(tmp_path: Path) -> None:
    path = tmp_path / "wanted.jsonl"
    path.write_text('{"query": "ASK { }"}\n' * 2)
    assert len(FileRequests(path).read() or ()) == 1


@pytest.mark.server
def test_a_broker_says_who_has_subscribed(tmp_path: Path) -> None:
    with serving(tmp_path, "--memory") as broker:
        wanted = BrokerRequests(broker.http)
        assert wanted.read() == {}

        async def subscribed() -> None:
            async with connect(broker.http) as connection:
                plain = await connection.subscribe(QUERY)
                graph = await connection.subscribe(QUERY, default_graphs=["http://example.org/g"])
                requests = await asyncio.to_thread(wanted.read)
                assert requests is not None
                assert {spuid: (request.query, request.member.dataset) for spuid, request in requests.items()} == {
                    plain.spuid: (QUERY, None),
                    graph.spuid: (QUERY, Dataset(("<http://example.org/g>",), ())),
                }
                assert await asyncio.to_thread(wanted.read) is None
                await plain.unsubscribe()
                later = await connection.subscribe("ASK { }")
                changed = await asyncio.to_thread(wanted.read)
                assert changed is not None
                assert set(changed) == {graph.spuid, later.spuid}
                assert changed == BrokerRequests(broker.http).read()

        asyncio.run(subscribed())
    with pytest.raises(FeedFailed, match="/subscriptions"):
        wanted.read()
