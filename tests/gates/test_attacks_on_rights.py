"""Attempts to see more than one may: by taking over, by being slow, by asking in a roundabout way."""

import asyncio
from pathlib import Path

import httpx
import pytest

from gates.client import connected, rows
from gates.secured import POLICY, A, B, House, secured
from gates.sockets import asynchronous
from security.making import basic
from tidings.broker.policy import Disk
from tidings.gates.http.streaming.feed import Feed
from tidings.model.access import NO_RIGHTS, Rights
from tidings.model.graph_patterns import graphs
from tidings.protocol.commit_feed import FeedFormat
from waiting import until

QUERY = "SELECT ?o { GRAPH ?g { <s> <p> ?o } }"
ANYBODY = f'\n[[grant]]\nto = "anonymous"\nsubscribe = ["{A}"]\n'


async def _revoke(house: House, name: str, secret: str, token: str) -> None:
    form = {"token": token.removeprefix("Bearer ")}
    answer = await house.http.post("/oauth/revoke", data=form, headers={"authorization": basic(name, secret)})
    assert answer.status_code == 200, answer.text


async def _insert(house: House, text: str) -> None:
    await house.broker.update(f'INSERT DATA {{ GRAPH <{A}> {{ <s> <p> "{text}" }} }}')


# -- taking over ----------------------------------------------------------------------------------------------------


@asynchronous
async def test_what_was_nobodys_belongs_to_whoever_takes_it_up_and_ends_with_their_rights(tmp_path: Path) -> None:
    async with secured(tmp_path, POLICY + ANYBODY) as house, connected(house) as client:
        secret = await house.register("listener")
        token = await house.login("listener", secret)
        async with connected(house) as stranger:
            first = (await stranger.ask({"subscribe": {"sparql": QUERY}}))["notification"]
        await until(lambda: house.broker.subscriptions.absent == 1)
        resumed = {"resume": {"spuid": first["spuid"], "sequence": 0}, "authorization": token}
        told = (await client.ask({"subscribe": resumed}))["notification"]
        assert told["resumed"] is False
        assert house.broker.find(told["spuid"], "listener").owner == "listener"
        (tmp_path / "security.toml").write_text(POLICY)  # for whoever is nobody there is nothing any more
        await house.security.read_again()
        await _insert(house, "still")
        assert rows((await client.next())["notification"]["addedResults"]) == [("still",)]
        await _revoke(house, "listener", secret, token)
        assert (await client.next())["unsubscribed"]["spuid"] == told["spuid"]


@asynchronous
async def test_an_administrator_who_takes_something_over_loses_it_with_the_token(tmp_path: Path) -> None:
    async with secured(tmp_path) as house, connected(house) as owner, connected(house) as client:
        listener, secret = await house.newcomer("listener"), await house.register("boss")
        boss = await house.login("boss", secret)
        spuid = (await owner.ask({"subscribe": {"sparql": QUERY, "authorization": listener}}))["notification"]["spuid"]
        resumed = {"resume": {"spuid": spuid, "sequence": 0}, "authorization": boss}
        told = (await client.ask({"subscribe": resumed}))["notification"]
        assert sorted(rows(told["addedResults"])) == [("in a",), ("in b",)]  # with their own rights
        await _revoke(house, "boss", secret, boss)
        assert (await client.next())["unsubscribed"]["spuid"] == told["spuid"]
        await _insert(house, "more")
        refused = await client.ask({"query": {"sparql": "ASK {}", "alias": "q"}})
        assert refused["status_code"] == 401


# -- being slow -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "kind", "body"),
    [
        ("/update", "application/sparql-update", f'INSERT DATA {{ GRAPH <{A}> {{ <s> <p> "late" }} }}'),
        ("/sparql", "application/sparql-update", f'INSERT DATA {{ GRAPH <{A}> {{ <s> <p> "late" }} }}'),
        ("/query", "application/sparql-query", QUERY),
        (f"/rdf-graphs/service?graph={A}", "text/turtle", '<http://x.example/s> <http://x.example/p> "late" .'),
    ],
)
@asynchronous
async def test_a_request_counts_only_if_its_token_does_when_it_is_complete(
    tmp_path: Path, path: str, kind: str, body: str
) -> None:
    async with secured(tmp_path) as house:
        secret = await house.register("boss")
        token = await house.login("boss", secret)
        begun, revoked = asyncio.Event(), asyncio.Event()

        async def slowly() -> object:
            yield body[:5].encode()
            begun.set()
            await revoked.wait()
            yield body[5:].encode()

        headers = {"authorization": token, "content-type": kind}
        request = asyncio.create_task(house.http.post(path, content=slowly(), headers=headers))  # type: ignore[arg-type]
        await begun.wait()
        await _revoke(house, "boss", secret, token)
        revoked.set()
        answer: httpx.Response = await request
        assert (answer.status_code, answer.json()["error"]) == (401, "invalid_grant")
        assert '"late"' not in {quad[2] for quad in house.broker.store}


@asynchronous
async def test_a_feed_from_the_disk_is_cut_when_its_reader_may_no_longer_read_it(tmp_path: Path) -> None:
    async with secured(tmp_path, data=str(tmp_path / "data"), durability="os") as house:
        for number in range(40):
            data = " ".join(f'<s> <p> "{number} {each} {"x" * 1000}" .' for each in range(20))
            await house.broker.update(f"INSERT DATA {{ GRAPH <{A}> {{ {data} }} }}")
        disk = house.broker.disk
        assert isinstance(disk, Disk)
        rights = Rights(read=graphs([A]))
        feed = Feed(house.broker, disk.folder, disk.journal, FeedFormat.JSON_LINES, asyncio.Semaphore(1), 60.0, rights)
        pieces = feed.up_to_now(1, 1000)
        assert b"in a" in await anext(pieces)
        feed.changed(NO_RIGHTS, "revoked")
        assert [piece async for piece in pieces] == []


# -- asking in a roundabout way -------------------------------------------------------------------------------------


@asynchronous
async def test_the_time_is_not_told_whenever_somebody_does_something_elsewhere(tmp_path: Path) -> None:
    async with secured(tmp_path) as house, connected(house) as client:
        shown = {"authorization": await house.newcomer("listener")}
        await client.ask({"subscribe": {"sparql": "SELECT (NOW() AS ?now) { }", "alias": "clock"} | shown})
        house.clock.pass_by(1)
        await house.broker.update(f"INSERT DATA {{ GRAPH <{B}> {{ <s> <p> 1 }} }}")
        assert "response" in await client.ask({"query": {"sparql": "ASK {}"} | shown})  # and nothing before it
        await house.broker.update(f"INSERT DATA {{ GRAPH <{A}> {{ <s> <p> 1 }} }}")
        assert "notification" in await client.next()


HIDDEN = (
    f"SELECT * {{ GRAPH <{B}> {{ ?s ?p ?o }} }}",
    f"SELECT * FROM <{B}> {{ ?s ?p ?o }}",
    f"SELECT * FROM NAMED <{B}> {{ GRAPH ?g {{ ?s ?p ?o }} }}",
    f"SELECT * {{ VALUES ?g {{ <{B}> }} GRAPH ?g {{ ?s ?p ?o }} }}",
    f"SELECT * {{ GRAPH <{A}> {{ ?s ?p ?o FILTER EXISTS {{ GRAPH <{B}> {{ ?s ?q ?x }} }} }} }}",
    f"SELECT * {{ GRAPH <{B}> {{ ?s (<p>|!<p>)+ ?o }} }}",
    f"SELECT * {{ GRAPH <{B}> {{ }} }}",
    f"SELECT ?x {{ {{ SELECT (COUNT(*) AS ?n) {{ GRAPH <{B}> {{ ?s ?p ?o }} }} }} FILTER(?n > 0) BIND(1 AS ?x) }}",
    f"SELECT ?g {{ GRAPH ?g {{ }} FILTER(?g != <{A}>) }}",
    'SELECT * { GRAPH ?g { ?s ?p "in b" } }',
)


@pytest.mark.parametrize("text", HIDDEN)
@asynchronous
async def test_no_question_tells_anything_of_a_graph_that_may_not_be_read(tmp_path: Path, text: str) -> None:
    async with secured(tmp_path) as house, connected(house) as client:
        token, boss = await house.newcomer("listener"), await house.newcomer("boss")
        for who, told in ((token, False), (boss, True)):
            headers = {"authorization": who}
            answer = await house.http.post("/query", data={"query": text}, headers=headers)
            assert bool(answer.json()["results"]["bindings"]) is told
            message = {"subscribe": {"sparql": text, "alias": text[:9], "authorization": who}}
            found = (await client.ask(message))["notification"]["addedResults"]
            assert bool(rows(found)) is told
        described = await house.http.post(
            "/query", data={"query": f"DESCRIBE <s> FROM <{B}>"}, headers={"authorization": token}
        )
        assert "in b" not in described.text


@pytest.mark.parametrize(
    "text",
    [
        f"INSERT {{ GRAPH <{A}> {{ ?s <seen> ?o }} }} WHERE {{ GRAPH <{B}> {{ ?s ?p ?o }} }}",
        f"INSERT {{ GRAPH <{A}> {{ ?s <seen> ?o }} }} USING <{B}> WHERE {{ ?s ?p ?o }}",
        f"INSERT {{ GRAPH <{A}> {{ ?s <seen> ?o }} }} USING NAMED <{B}> WHERE {{ GRAPH ?g {{ ?s ?p ?o }} }}",
        f"INSERT {{ GRAPH <{A}> {{ ?s <seen> ?o }} }} WHERE {{ GRAPH ?g {{ ?s ?p ?o FILTER(?g = <{B}>) }} }}",
        f"COPY SILENT <{B}> TO <{A}>",
        f"ADD SILENT <{B}> TO <{A}>",
        f"DELETE {{ GRAPH <{A}> {{ <s> ?p ?o }} }} WHERE {{ GRAPH <{A}> {{ <s> ?p ?o }} GRAPH <{B}> {{ ?s ?q ?x }} }}",
    ],
)
@asynchronous
async def test_no_update_carries_anything_over_from_a_graph_that_may_not_be_read(tmp_path: Path, text: str) -> None:
    policy = POLICY + f'\n[[grant]]\nto = "client:writer"\nquery = ["{A}"]\n'
    async with secured(tmp_path, policy) as house:
        before = set(house.broker.store)
        headers = {"authorization": await house.newcomer("writer")}
        answer = await house.http.post("/update", data={"update": text}, headers=headers)
        assert (answer.status_code, answer.json()["response"]["added"], answer.json()["response"]["removed"]) == (
            200,
            0,
            0,
        )
        assert set(house.broker.store) == before


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (f"COPY <{B}> TO <{A}>", "graph_missing"),
        (f"ADD <{B}> TO <{A}>", "graph_missing"),
        (f"MOVE <{B}> TO <{A}>", "graph_not_writable"),
        (f"MOVE SILENT <{A}> TO <{B}>", "graph_not_writable"),
        (f"COPY SILENT <{A}> TO <{B}>", "graph_not_writable"),
        (f"CLEAR SILENT GRAPH <{B}>", "graph_not_writable"),
        (f"DROP SILENT GRAPH <{B}>", "graph_not_writable"),
        ("DROP SILENT ALL", "graph_not_writable"),
        ("CLEAR SILENT NAMED", "graph_not_writable"),
        ("CLEAR SILENT DEFAULT", "graph_not_writable"),
        (f"CREATE SILENT GRAPH <{B}>", "graph_not_writable"),
        (f"LOAD SILENT <http://127.0.0.1:1/x> INTO GRAPH <{B}>", "graph_not_writable"),
        (f"DELETE DATA {{ GRAPH <{B}> {{ <s> <p> 'in b' }} }}", "graph_not_writable"),
        (f"DELETE WHERE {{ GRAPH <{B}> {{ ?s ?p ?o }} }}", None),
        (f"WITH <{B}> DELETE {{ ?s ?p ?o }} WHERE {{ GRAPH <{A}> {{ ?s ?p ?o }} }}", "graph_not_writable"),
        (f"INSERT {{ GRAPH ?g {{ <x> <y> <z> }} }} WHERE {{ VALUES ?g {{ <{A}> <{B}> }} }}", "graph_not_writable"),
    ],
)
@asynchronous
async def test_no_update_changes_a_graph_that_may_not_be_written_or_tells_whether_it_is_there(
    tmp_path: Path, text: str, code: str | None
) -> None:
    policy = POLICY + f'\n[[grant]]\nto = "client:writer"\nquery = ["{A}"]\n'
    async with secured(tmp_path, policy) as house:
        before = set(house.broker.store)
        headers = {"authorization": await house.newcomer("writer")}
        answers = [
            (await house.http.post("/update", data={"update": each}, headers=headers)).json()
            for each in (text, text.replace(B, f"{B}x"))
        ]
        assert [answer.get("error") for answer in answers] == [code, code]  # the same whether there is one or not
        there, not_there = (str(answer.get("error_description")).replace(f"{B}x", B) for answer in answers)
        assert there == not_there
        assert set(house.broker.store) == before
