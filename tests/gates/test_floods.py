"""One client sends as much as it can: the broker takes in a bounded part at a time, so that others have their turns."""

import asyncio
import socket

import pytest
from picows import WSFrame, WSTransport

from gates.client import connected
from gates.sockets import asynchronous, serving
from tidings.gates.websocket.connection import RECEIVED_AT_ONCE, Connection

_BEGIN, _MORE = b"\x01\x80\0\0\0\0", b"\x00\x80\0\0\0\0"
"""Empty frames of a message that never ends."""
_TURNS = 60


@asynchronous
async def test_one_turn_of_the_loop_takes_in_a_bounded_part_of_a_flood(monkeypatch: pytest.MonkeyPatch) -> None:
    heard = 0
    plain = Connection.on_ws_frame

    def counted(self: Connection, transport: WSTransport, frame: WSFrame) -> None:
        nonlocal heard
        heard += len(_MORE)
        plain(self, transport, frame)

    monkeypatch.setattr(Connection, "on_ws_frame", counted)
    async with serving() as house, connected(house) as client:
        client.transport.underlying_transport.write(_BEGIN)
        flood = _Flood(client.transport.underlying_transport.get_extra_info("socket").fileno())
        most = 0
        for _ in range(_TURNS):
            flood.fill()
            heard = 0
            await asyncio.sleep(0)
            most = max(most, heard)
    assert 0 < most <= 4 * RECEIVED_AT_ONCE


class _Flood:
    """Frames without end, over the socket of a client."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._sent = 0

    def fill(self) -> None:
        """Send until nothing more fits into the buffers of the system: nobody reads meanwhile."""
        with socket.socket(fileno=socket.dup(self._number)) as copy:
            copy.setblocking(False)
            try:
                while True:
                    self._sent += copy.send((_MORE * 100_000)[self._sent % len(_MORE) :])
            except BlockingIOError:
                return
