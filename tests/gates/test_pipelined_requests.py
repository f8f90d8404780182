"""Requests that are sent without waiting for the answers to those before them (RFC 9112, section 9.3.2)."""

import asyncio
import json
import re
from itertools import count
from typing import Any

import pytest
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from gates.doors import listening
from tidings.gates.http.connection import SLICE
from waiting import PATIENCE, asynchronous

GET = b"GET /query?query=SELECT%%20%%28%d%%20AS%%20%%3Fn%%29%%7B%%7D HTTP/1.1\r\nhost: localhost\r\n\r\n"
HOLDS = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n"


def post(number: int) -> bytes:
    body = b"INSERT DATA { <urn:s> <urn:p> %d }" % number
    kind = b"content-type: application/sparql-update\r\n"
    return b"POST /update HTTP/1.1\r\nhost: localhost\r\n%bcontent-length: %d\r\n\r\n%b" % (kind, len(body), body)


async def answers(reader: asyncio.StreamReader, number: int) -> list[Any]:
    found = []
    async with asyncio.timeout(PATIENCE):
        for _ in range(number):
            head = await reader.readuntil(b"\r\n\r\n")
            length = re.search(rb"content-length: (\d+)", head)
            assert length is not None
            found.append(json.loads(await reader.readexactly(int(length[1]))))
    return found


@pytest.mark.parametrize("cut", [1_000, SLICE - 1, SLICE, 200_000])
@asynchronous
async def test_all_are_answered_in_their_order_however_they_are_cut(cut: int) -> None:
    number = 1_200
    sent = b"".join(GET % each if each % 3 else post(each) for each in range(1, number + 1))
    async with listening() as house:
        reader, writer = await asyncio.open_connection("127.0.0.1", house.http.base_url.port)
        answered = asyncio.create_task(answers(reader, number))
        for start in range(0, len(sent), cut):
            writer.write(sent[start : start + cut])
            await writer.drain()
        commits = count(1)
        for each, answer in enumerate(await answered, 1):
            if each % 3:
                assert answer["results"]["bindings"][0]["n"]["value"] == str(each)
            else:
                assert answer["response"]["sequence"] == next(commits)
        writer.close()


@asynchronous
async def test_only_so_many_become_objects_before_they_are_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    deepest = 0
    complete = HttpToolsProtocol.on_headers_complete

    def watched(self: HttpToolsProtocol) -> None:
        nonlocal deepest
        complete(self)
        deepest = max(deepest, len(self.pipeline))

    monkeypatch.setattr(HttpToolsProtocol, "on_headers_complete", watched)
    number = 20_000
    async with listening() as house:
        reader, writer = await asyncio.open_connection("127.0.0.1", house.http.base_url.port)
        answered = asyncio.create_task(answers(reader, number))
        writer.write(HOLDS * number)
        assert len(await answered) == number
        writer.close()
    assert 0 < deepest <= SLICE / len(HOLDS) + 1
