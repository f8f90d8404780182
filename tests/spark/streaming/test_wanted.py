"""Who wants what: a file that people and brokers write, and the subscriptions of a broker."""

import asyncio
from pathlib import Path

import pytest

from gates.wire import serving
from tidings.client import connect
from tidings.spark.errors import FeedFailed
from tidings.spark.streaming.errors import StreamUnusable
from tidings.spark.streaming.subscriptions.requested import WantedByBroker, WantedInFile
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
    wanted = WantedInFile(path)
    wishes = wanted.read()
    assert wishes is not None
    assert {spuid: (wish.query, wish.begins) for spuid, wish in wishes.items()} == {
        "a": (QUERY, None),
        "b": ("ASK { }", 7),
    }
    assert wishes["b"].member.default == ("<http://example.org/g>",)
    assert wanted.read() is None
    path.write_text('{"query": "ASK { }"}\n')
    named = wanted.read()
    assert named is not None
    assert [spuid.startswith("sepa://spuid/") for spuid in named] == [True]


@pytest.mark.parametrize(
    "line", ["no JSON", '{"spuid": "a"}', '{"query": "ASK { }", "from": -1}', '{"query": "ASK { }", "from": "x"}']
)
def test_a_line_that_makes_no_sense_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "wanted.jsonl"
    path.write_text(f'{{"query": "ASK {{ }}"}}\n{line}\n')
    with pytest.raises(StreamUnusable, match="line 2"):
        WantedInFile(path).read()


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(StreamUnusable, match=r"nothing\.jsonl"):
        WantedInFile(tmp_path / "nothing.jsonl").read()


@pytest.mark.server
def test_a_broker_says_who_has_subscribed(tmp_path: Path) -> None:
    with serving(tmp_path, "--memory") as broker:
        wanted = WantedByBroker(broker.http)
        assert wanted.read() == {}

        async def subscribed() -> None:
            async with connect(broker.http) as connection:
                plain = await connection.subscribe(QUERY)
                graph = await connection.subscribe(QUERY, default_graphs=["http://example.org/g"])
                wishes = await asyncio.to_thread(wanted.read)
                assert wishes is not None
                assert {spuid: (wish.query, wish.member.dataset) for spuid, wish in wishes.items()} == {
                    plain.spuid: (QUERY, None),
                    graph.spuid: (QUERY, Dataset(("<http://example.org/g>",), ())),
                }
                assert await asyncio.to_thread(wanted.read) is None

        asyncio.run(subscribed())
    with pytest.raises(FeedFailed, match="/subscriptions"):
        wanted.read()
