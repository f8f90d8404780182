"""The short way of updates answers as the long one does, in order, whatever else comes over the same connection."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from gates.doors import House, listening
from waiting import PATIENCE, asynchronous, until

LONG_WAY = {"sec-fetch-site": "same-origin"}
"""Only browsers say so; to everybody else it makes no difference."""
TEXT = {"content-type": "application/sparql-update"}
FORM = {"content-type": "application/x-www-form-urlencoded"}
INSERT = "INSERT DATA { <urn:a> <urn:p> 1 }"

REQUESTS: dict[str, tuple[str, dict[str, str], bytes]] = {
    "text": ("/update", TEXT, INSERT.encode()),
    "charset": ("/update", {"content-type": "Application/SPARQL-Update ; charset=UTF-8"}, INSERT.encode()),
    "form": ("/update", FORM, b"update=CLEAR+ALL&using-graph-uri=urn%3Ag"),
    "query in a form": ("/update", FORM, b"query=ASK+%7B%7D"),
    "nothing in a form": ("/update", FORM, b""),
    "query": ("/update", {"content-type": "application/sparql-query"}, b"ASK {}"),
    "dry run": ("/update?dry-run=true", TEXT, INSERT.encode()),
    "dry run in a form": ("/update", FORM, b"update=CLEAR+ALL&dry-run=true"),
    "syntax error": ("/update", TEXT, b"INSERT DATA {"),
    "nothing": ("/update", TEXT, b""),
    "no type": ("/update", {}, INSERT.encode()),
    "other type": ("/update", {"content-type": "text/turtle"}, b"<a> <b> <c> ."),
    "other charset": ("/update", {"content-type": "application/sparql-update; charset=latin-1"}, INSERT.encode()),
    "no UTF-8": ("/update", TEXT, b"\xff"),
    "too large": ("/update", TEXT, b" " * 100_000),
    "publisher": ("/update", {**TEXT, "tidings-publisher": "lamp"}, INSERT.encode()),
    "bad publisher": ("/update", {**TEXT, "tidings-publisher": "x" * 1000}, INSERT.encode()),
    "packed": ("/update", {**TEXT, "content-encoding": "gzip"}, b"\x1f\x8b"),
    "secure": ("/secure/update", TEXT, INSERT.encode()),
}


def told(answer: httpx.Response) -> tuple[int, dict[str, str], Any]:
    """What an answer says, apart from the time. Only the long way packs answers."""
    headers = {name: value for name, value in answer.headers.items() if name not in {"date", "content-length", "vary"}}
    document = answer.json()
    if isinstance(document.get("response"), dict):
        document["response"].pop("time", None)
    return answer.status_code, headers, document


@pytest.mark.parametrize("name", REQUESTS)
@asynchronous
async def test_both_ways_give_the_same_answer(name: str) -> None:
    path, headers, body = REQUESTS[name]
    answers = []
    for more in ({}, LONG_WAY):
        async with listening(max_body=50_000) as house:
            await house.get("/healthz")
            await house.get("/")  # from here on, the host is known
            answers.append(told(await house.http.post(path, headers=headers | more, content=body)))
            assert len(house.broker.store) == (INSERT.encode() == body and answers[-1][0] == 200 and "dry" not in name)
    assert answers[0] == answers[1]


@asynccontextmanager
async def connection(house: House) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection(house.http.base_url.host, house.http.base_url.port)
    try:
        yield reader, writer
    finally:
        writer.close()


def request(text: str, *, host: str = "localhost", more: str = "") -> bytes:
    lines = f"POST /update HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/sparql-update\r\n{more}"
    return f"{lines}content-length: {len(text)}\r\n\r\n{text}".encode()


async def answers(reader: asyncio.StreamReader, count: int) -> list[bytes]:
    """Bodies, in the order in which they come."""
    found = []
    async with asyncio.timeout(PATIENCE):
        for _ in range(count):
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            length = int(head.partition(b"content-length: ")[2].partition(b"\r\n")[0])
            found.append(await reader.readexactly(length))
    return found


def insert(number: int) -> str:
    return f"INSERT DATA {{ <urn:a> <urn:p> {number} }}"


@pytest.mark.parametrize("piece", [1, 7, 10_000])
@asynchronous
async def test_requests_that_come_together_are_answered_in_their_order(piece: int, tmp_path: Any) -> None:
    """Some take the short way and some the long one; each waits for the one before it, which waits for the disk."""
    async with listening(tmp_path) as house, connection(house) as (reader, writer):
        sent = b"".join(
            [
                request(insert(1)),
                request(insert(2), more="sec-fetch-site: none\r\n"),
                request(insert(3)),
                request(insert(4)),
                b"GET /query?query=ASK+%7B%3Curn:a%3E+%3Curn:p%3E+4%7D HTTP/1.1\r\nhost: localhost\r\n\r\n",
                request("INSERT DATA {"),
                request(insert(5)),
            ]
        )
        for begin in range(0, len(sent), piece):
            writer.write(sent[begin : begin + piece])
            await writer.drain()
        found = await answers(reader, 7)
        assert [json.loads(each)["response"]["sequence"] for each in found[:4]] == [1, 2, 3, 4]
        assert b"true" in found[4]
        assert b"syntax" in found[5]
        assert json.loads(found[6])["response"]["sequence"] == 5


@asynchronous
async def test_a_client_that_leaves_has_its_update_carried_out_all_the_same(tmp_path: Any) -> None:
    async with listening(tmp_path) as house:
        async with connection(house) as (reader, writer):
            writer.write(request(insert(1)))
            await answers(reader, 1)
            house.broker.updates.hold()
            writer.write(request(insert(2)))
            await until(lambda: house.broker.updates.accepted == 1)
        house.broker.updates.resume()
        await until(lambda: house.broker.updates.accepted == 0)
        assert len(house.broker.store) == 2
        assert (await house.get("/healthz")).json()


@asynchronous
async def test_a_host_that_is_not_ours_is_refused() -> None:
    async with listening() as house, connection(house) as (reader, writer):
        writer.write(request(insert(1), host="evil.example"))
        (body,) = await answers(reader, 1)
        assert b"host_not_allowed" in body
        assert not len(house.broker.store)
        writer.write(request(insert(1)) + request(insert(2), host="evil.example"))
        _, body = await answers(reader, 2)
        assert b"host_not_allowed" in body
        assert len(house.broker.store) == 1


@asynchronous
async def test_an_answer_before_the_end_says_that_it_is_the_last(tmp_path: Any) -> None:
    async with listening(tmp_path) as house, connection(house) as (reader, writer):
        writer.write(request(insert(1)) + request(insert(2), more="connection: close\r\n"))
        assert len(await answers(reader, 2)) == 2
        async with asyncio.timeout(PATIENCE):
            assert await reader.read() == b""


@pytest.mark.parametrize("way", ["", "sec-fetch-site: none\r\n"])
@asynchronous
async def test_a_body_that_does_not_come_is_answered_for(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("connection", "limits"):
        monkeypatch.setattr(f"tidings.gates.http.{module}.BODY_SECONDS", 0.01)
    async with listening() as house, connection(house) as (reader, writer):
        writer.write(request(insert(1), more=way)[:-1])
        (body,) = await answers(reader, 1)
        assert json.loads(body)["error"] == "body_too_slow"
        assert len(house.broker.store) == 0


@pytest.mark.parametrize("way", ["", "sec-fetch-site: none\r\n"])
@asynchronous
async def test_a_connection_ends_that_has_had_no_request_for_long_and_never_before_an_answer(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    longest = property(lambda _: 0.01, lambda *_: None)
    monkeypatch.setattr("tidings.gates.http.connection.HttpConnection.timeout_keep_alive", longest, raising=False)
    async with listening() as house, connection(house) as (reader, writer):
        house.broker.updates.hold()
        writer.write(request(insert(1), more=way) + request(insert(2), more=way))
        await until(lambda: house.broker.updates.accepted == 1)
        await asyncio.sleep(0.05)
        house.broker.updates.resume()
        assert len(await answers(reader, 2)) == 2
        async with asyncio.timeout(PATIENCE):
            assert await reader.read() == b""
