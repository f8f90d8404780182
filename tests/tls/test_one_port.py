"""HTTP and WebSockets at one port, so that a proxy needs only one."""

import asyncio
import json
from dataclasses import dataclass

import pytest

from gates.client import connected
from gates.sockets import ALL, asynchronous
from plain import async_client
from ports import free_port
from tidings.client import connect
from tls.house import Certificates, House, serving
from waiting import PATIENCE, until

WEBSOCKET = {
    "Connection": "Upgrade", "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}  # fmt: skip


KNOCK = "\r\n".join(
    ("GET /subscribe HTTP/1.1", "Host: localhost", *(f"{name}: {value}" for name, value in WEBSOCKET.items()), "\r\n")
).encode()


@dataclass(frozen=True)
class Place:
    ws: str


@asynchronous
async def test_ports_of_one_number_are_one() -> None:
    port = free_port()
    async with serving(http_port=port, ws_port=port) as house:
        assert (house.http, house.ws) == (f"http://127.0.0.1:{port}", f"ws://127.0.0.1:{port}/subscribe")
        async with connect(house.http) as broker, await broker.subscribe(ALL) as lamps:
            assert list((await asyncio.wait_for(anext(lamps), PATIENCE)).added) == []
            async with async_client(base_url=house.http) as http:
                await http.post("/update", data={"update": "INSERT DATA { <s> <p> 1 }"})
            assert len((await asyncio.wait_for(anext(lamps), PATIENCE)).added) == 1


@asynchronous
@pytest.mark.parametrize("path", ["/subscribe", "/sparql", "/subscribe?x=y"])
async def test_the_http_port_takes_websockets(path: str) -> None:
    async with serving() as house:
        place = Place(house.http.replace("http", "ws") + "/subscribe")
        async with connected(place, path) as socket_:
            follower = await socket_.follow(ALL)
            long = "x" * 200_000  # more than any buffer at first
            async with connected(place, path) as other:
                await other.update(f'INSERT DATA {{ <s> <p> "{long}" }}')
            await follower.hear()
            assert sum(follower.answer.values()) == 1


@asynchronous
async def test_a_websocket_at_a_wrong_path_is_told_the_right_address() -> None:
    async with serving() as house, async_client(base_url=house.http) as http:
        for path in ("/", "/query", "/update", "/healthz"):
            answer = await http.get(path, headers=WEBSOCKET)
            assert (answer.status_code, answer.json()["error"]) == (404, "not_found")
            assert f"{house.http.replace('http', 'ws')}/subscribe" in answer.json()["error_description"]


@asynchronous
async def test_http_at_the_port_for_websockets_is_told_the_right_address() -> None:
    async with serving() as house, async_client() as http:
        answer = await http.get(house.ws.replace("ws", "http"))
        assert house.http in answer.json()["error_description"]


@asynchronous
async def test_a_websocket_may_follow_requests_but_not_overtake_one() -> None:
    async with serving() as house:
        port = int(house.http.rpartition(":")[2])
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), PATIENCE)
        assert json.loads(await asyncio.wait_for(reader.readuntil(b"\n"), PATIENCE))["status"] == "ok"
        writer.write(KNOCK)
        assert (await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), PATIENCE)).startswith(b"HTTP/1.1 101")
        writer.close()
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET /subscribe?query=ASK%7B%7D HTTP/1.1\r\nHost: localhost\r\n\r\n" + KNOCK)
        said = await asyncio.wait_for(reader.read(), PATIENCE)
        writer.close()
        assert b"HTTP/1.1 101" not in said


@asynchronous
async def test_a_websocket_at_the_http_port_is_let_go_as_any_other_when_the_broker_stops() -> None:
    async with serving() as house:
        place = Place(house.http.replace("http", "ws") + "/subscribe")
        async with connected(place) as client:
            await client.follow(ALL)
            await house.gate.close()
            assert await client.inbox.end() == 1001


@asynchronous
@pytest.mark.parametrize("secure", [False, True])
async def test_a_client_at_the_http_port_that_does_not_read_counts_as_slow(
    secure: bool, certificates: Certificates
) -> None:
    text = "x" * 1_000_000
    async with serving(**certificates.settings, outbox=4096) as house:
        place = Place((house.https if secure else house.http).replace("http", "ws") + "/subscribe")
        context = certificates.context if secure else None
        async with connected(place, ssl_context=context) as slow, connected(house) as publisher:
            await slow.follow(ALL)
            slow.transport.underlying_transport.pause_reading()
            for number in range(40):  # the system takes some of them before anybody notices
                await publisher.update(f'INSERT DATA {{ <s> <p> "{number}{text}" }}')
                if is_full(house):
                    break
            assert is_full(house)
            slow.transport.underlying_transport.resume_reading()
            await until(lambda: not is_full(house))


def is_full(house: House) -> bool:
    return any(session.full for session in house.broker.sessions.values())


@asynchronous
async def test_what_comes_with_the_handshake_is_heard() -> None:
    message = b'{"query":{"sparql":"ASK {}","alias":"early"}}'
    frame = bytes((0x81, 0x80 | len(message), 0, 0, 0, 0)) + message  # masked with zeros
    async with serving() as house:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(house.http.rpartition(":")[2]))
        writer.write(KNOCK + frame)
        assert (await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), PATIENCE)).startswith(b"HTTP/1.1 101")
        assert await asyncio.wait_for(reader.readuntil(b"early"), PATIENCE)
        writer.close()
