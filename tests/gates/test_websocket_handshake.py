"""Knocking at the WebSocket gate: the right doors, the wrong ones, noise, and one client too many."""

import asyncio
import json
from contextlib import suppress

import pytest
from picows import WSHandshakeError

from gates.client import connected, is_error
from gates.sockets import ALL, asynchronous, door, serving
from plain import async_client


@asynchronous
@pytest.mark.parametrize("path", ["/subscribe", "/subscribe?token=x", "/sparql"])
async def test_the_right_doors(path: str) -> None:
    async with serving() as house, connected(house, path) as client:
        await client.follow(ALL)


@asynchronous
@pytest.mark.parametrize("path", ["/", "/subscribers", "/subscribe/", "/%2e%2e/subscribe", "/secure/subscribe"])
async def test_a_wrong_door_says_which_is_right(path: str) -> None:
    async with serving() as house:
        with pytest.raises(WSHandshakeError) as refused:
            async with connected(house, path):
                pass
        assert refused.value.response is not None
        assert refused.value.response.status == 404
        assert refused.value.raw_body
        error = json.loads(refused.value.raw_body)
        assert is_error(error, 404, "not_found")
        assert "/subscribe" in error["error_description"]


@asynchronous
async def test_plain_http_is_told_that_this_is_another_port() -> None:
    async with serving() as house, async_client() as client:
        answer = await client.get(f"http://127.0.0.1:{house.port}/subscribe")
        assert answer.status_code == 400
        assert is_error(answer.json(), 400, "bad_message")
        assert "WebSocket" in answer.json()["error_description"]
        assert (await client.get(f"http://127.0.0.1:{house.port}/nowhere")).status_code == 404


@asynchronous
@pytest.mark.parametrize("noise", [b"\x16\x03\x01\x02\x00" * 40, b"GET\r\n\r\n", b"\r\n" * 100, b"x" * 100_000])
async def test_noise_is_hung_up_on_and_others_are_served(noise: bytes) -> None:
    async with serving() as house, connected(house) as other, door(house, handshake=0.1) as hasty:
        reader, writer = await asyncio.open_connection("127.0.0.1", hasty.port)
        with suppress(ConnectionError):
            writer.write(noise)
            while await reader.read(4096):
                pass
        writer.close()
        await other.quiet()


@asynchronous
@pytest.mark.parametrize("beginning", [b"", b"GET /subscribe HTTP/1.1\r\nHost: x\r\n"])
async def test_a_handshake_that_does_not_end_is_ended(beginning: bytes) -> None:
    async with serving() as house, connected(house) as other, door(house, handshake=0.1) as hasty:
        reader, writer = await asyncio.open_connection("127.0.0.1", hasty.port)
        writer.write(beginning)
        with suppress(ConnectionError):
            while await reader.read(4096):
                pass
        writer.close()
        assert len(house.gate.connections) == 1
        await other.quiet()


@asynchronous
async def test_one_client_too_many_is_asked_to_come_back() -> None:
    async with serving(max_connections=1) as house:
        async with connected(house):
            with pytest.raises(WSHandshakeError) as refused:
                async with connected(house):
                    pass
            assert refused.value.response is not None
            assert refused.value.response.status == 429
            assert refused.value.raw_body
            assert is_error(json.loads(refused.value.raw_body), 429, "too_many_connections")
        await house.nobody()
        async with connected(house) as client:
            await client.quiet()
