"""Plain HTTP to an endpoint: answers in every framing, connections that are kept or lost, servers that say nothing."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tidings.client.errors import CannotConnect, ConnectionLost, NoAnswer
from tidings.endpoint.plain_http import PlainHttp, is_plain
from tidings.model.errors import AnswerTooLarge
from waiting import PATIENCE, asynchronous, until

OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok"


class Script:
    """What a server answers to one request after the other; b"" closes the connection, None says nothing."""

    def __init__(self, *answers: bytes | None) -> None:
        self.answers = list(answers)
        self.requests: list[bytes] = []
        self.connections = 0
        self.open = 0
        self.url = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.open += 1
        try:
            while await self._answer(reader, writer):
                pass
        finally:
            self.open -= 1
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError:
            return False
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r")[0])
        self.requests.append(head + await reader.readexactly(length))
        answer = self.answers.pop(0)
        if answer is None:
            await reader.read()
            return False
        writer.write(answer)
        await writer.drain()
        return bool(answer) and b"close" not in answer


@asynccontextmanager
async def following(script: Script) -> AsyncIterator[Script]:
    async with await asyncio.start_server(script.serve, "127.0.0.1", 0) as server:
        script.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/sparql?a=b%20c"
        yield script


@asynchronous
async def test_an_answer_is_read_in_every_framing_over_one_connection() -> None:
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
    late = b"HTTP/1.1 100 Continue\r\n\r\n" + OK
    empty = b"HTTP/1.1 204 No Content\r\n\r\n"
    closing = b"HTTP/1.1 500 No\r\nConnection: close\r\n\r\nwhy not"
    async with following(Script(OK, chunked, late, empty, closing, OK)) as script:
        http = PlainHttp(seconds=PATIENCE, connections=4)
        found = [await http.post(script.url, {"accept": "x/y"}, b"body") for _ in range(5)]
        assert [(each.status_code, each.content) for each in found] == [
            (200, b"ok"), (200, b"abcde"), (200, b"ok"), (204, b""), (500, b"why not"),
        ]  # fmt: skip
        assert found[0].headers["content-type"] == "text/plain"
        assert script.connections == 1
        assert script.requests[0].startswith(b"POST /sparql?a=b%20c HTTP/1.1\r\nhost: 127.0.0.1:")
        assert script.requests[0].endswith(b"accept: x/y\r\n\r\nbody")
        assert (await http.post(script.url, {}, b"")).status_code == 200
        assert script.connections == 2, "what was closed is opened again"
        http.close()
        await until(lambda: not script.open)


@asynchronous
async def test_a_connection_that_was_closed_while_nobody_used_it_is_no_failure() -> None:
    async with following(Script(OK, b"", OK)) as script:
        http = PlainHttp(seconds=PATIENCE, connections=4)
        for _ in range(2):
            assert (await http.post(script.url, {}, b"x")).content == b"ok"
        assert (script.connections, len(script.requests)) == (2, 3)
        http.close()


@asynchronous
async def test_what_is_no_answer_or_only_half_of_one_is_told_apart() -> None:
    half = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 9\r\n\r\nhalf"
    async with following(Script(half, b"SSH-2.0 close\r\n", b"", None, OK)) as script:
        http = PlainHttp(seconds=PATIENCE, connections=1)
        for _ in range(3):
            with pytest.raises(ConnectionLost):
                await http.post(script.url, {}, b"")
        with pytest.raises(NoAnswer):
            await PlainHttp(seconds=0.01, connections=1).post(script.url, {}, b"")
        with pytest.raises(AnswerTooLarge):
            await http.post(script.url, {}, b"", 1)
        await until(lambda: not script.open)
        url = script.url
    with pytest.raises(CannotConnect):
        await http.post(url, {}, b"")


@asynchronous
async def test_who_comes_while_all_connections_are_busy_waits_and_who_gives_up_leaves_room() -> None:
    async with following(Script(None, *[OK] * 9)) as script:
        http = PlainHttp(seconds=PATIENCE, connections=1)
        first = asyncio.ensure_future(http.post(script.url, {}, b""))
        await until(lambda: len(script.requests) == 1)
        others = [asyncio.ensure_future(http.post(script.url, {}, b"")) for _ in range(9)]
        first.cancel()
        assert [answer.content for answer in await asyncio.gather(*others)] == [b"ok"] * 9
        assert script.connections == 2
        http.close()


def test_what_is_encrypted_or_goes_by_a_proxy_is_left_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    assert is_plain("http://store.example/sparql")
    assert not is_plain("https://store.example/sparql")
    assert not is_plain("http://who:secret@store.example/sparql")
    monkeypatch.setenv("http_proxy", "http://proxy.example:3128")
    assert not is_plain("http://store.example/sparql")
    monkeypatch.setenv("no_proxy", "store.example")
    assert is_plain("http://store.example/sparql")
