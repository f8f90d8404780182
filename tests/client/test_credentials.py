"""Name and password in an address: they go into a header, and into no message."""

import asyncio
import base64

import pytest

from tidings.client import connect
from tidings.client.errors import CannotConnect
from tidings.client.http import HttpClient
from tidings.client.login.addresses import without_credentials
from waiting import PATIENCE, asynchronous


@pytest.mark.parametrize(
    ("url", "address", "told"),
    [
        ("wss://host/subscribe", "wss://host/subscribe", None),
        ("ws://ann:secret@host:9000/subscribe?x=@", "ws://host:9000/subscribe?x=@", "ann:secret"),
        ("https://ann@[::1]:8443/sub@scribe", "https://[::1]:8443/sub@scribe", "ann:"),
        ("wss://a%40b:p%3Aw%C3%A9%2F@host", "wss://host", "a@b:p:wé/"),
    ],
)
def test_an_address_is_divided_into_where_and_who(url: str, address: str, told: str | None) -> None:
    found, headers = without_credentials(url)
    assert found == address
    shown = {name: base64.b64decode(value.removeprefix("Basic ")).decode() for name, value in headers.items()}
    assert shown == ({} if told is None else {"Authorization": told})


@asynchronous
async def test_a_proxy_is_told_who_knocks_and_messages_do_not_repeat_it() -> None:
    requests: asyncio.Queue[str] = asyncio.Queue()

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        requests.put_nowait((await reader.readuntil(b"\r\n\r\n")).decode().lower())
        writer.write(b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        await writer.drain()
        writer.close()

    expected = "authorization: basic " + base64.b64encode(b"ann:secret").decode().lower()
    async with await asyncio.start_server(refuse, "127.0.0.1", 0) as server:
        host, port = server.sockets[0].getsockname()
        with pytest.raises(CannotConnect) as failure:
            async with connect(f"ws://ann:secret@{host}:{port}/subscribe"):
                pass
        assert "secret" not in str(failure.value)
        assert expected in await asyncio.wait_for(requests.get(), PATIENCE)


def test_calls_of_the_command_line_do_not_repeat_a_password() -> None:
    with HttpClient("http://ann:secret@127.0.0.1:1") as calls, pytest.raises(CannotConnect) as failure:
        calls.json("/status")
    assert "127.0.0.1:1" in str(failure.value)
    assert "secret" not in str(failure.value)
