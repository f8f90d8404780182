"""One socket of a knowledge processor: passes messages to the conversation, and sends its answers.

Messages wait in a bounded queue and are handled one after the other; while it is full, nothing is read from the socket.
If the client reads too slowly, its session is marked as full, and the broker adds up its indications until it has room.
"""

import asyncio
import socket
from collections import deque
from typing import TYPE_CHECKING, cast

from tidings.broker.subscriptions.outbox import TOO_SLOW
from tidings.broker.subscriptions.subscriber import Origin, Parcel, Subscriber
from tidings.gates.caller import Caller
from tidings.gates.peer import peer_of
from tidings.gates.quotas import Ticket, client_of
from tidings.gates.smart_m3.conversation import Conversation
from tidings.gates.smart_m3.dialects import Dialect
from tidings.gates.smart_m3.framing import Framing
from tidings.gates.smart_m3.jssap import Jssap
from tidings.gates.smart_m3.messages import Header
from tidings.gates.smart_m3.ssap_writing import Ssap
from tidings.model.errors import LimitExceeded, TidingsError

if TYPE_CHECKING:
    from tidings.gates.smart_m3.gate import SmartM3Gate

MOST_WAITING = 32
"""How many messages of a connection may wait."""
LINGER = 5.0
"""Seconds that a client has to read the rest before the gate closes the connection."""
BACKLOG = 16 << 20
"""Bytes of answers that may wait for a client that does not read them."""

_PROBES = {"TCP_KEEPIDLE": 1, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 3}
"""Seconds, and how often: a client that has closed its socket answers with a reset, within a minute."""
_CLOSED = 7
"""The state of a closed connection in TCP_INFO of Linux."""

SSAP = Ssap()
JSSAP = Jssap()


class Connection(asyncio.Protocol):
    """One client."""

    def __init__(self, gate: "SmartM3Gate") -> None:
        self._gate = gate
        self._framing = Framing(gate.premises.max_body)
        self._line: deque[bytes] = deque()
        self._transport: asyncio.Transport
        self._caller: Caller
        self._conversation: Conversation | None = None
        self._where = ""
        self._place: Ticket | None = None
        self._worker: asyncio.Task[None] | None = None
        self._paused = False
        self._closing = False
        self._said_all = False
        self.heard = 0.0
        """When the last bytes came in, by the clock of the event loop."""

    @property
    def is_idle(self) -> bool:
        """Whether the client has neither a request in work nor a subscription."""
        return self._worker is None and (self._conversation is None or not self._conversation.has_subscriptions)

    @property
    def is_gone(self) -> bool:
        """Whether a client that has shut down its sending side has closed the socket, which no read would notice."""
        if not self._said_all or not hasattr(socket, "TCP_INFO"):
            return False
        wire = self._transport.get_extra_info("socket")
        return wire is not None and wire.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] == _CLOSED

    # -- for asyncio --------------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        gate = self._gate
        self._transport = transport = cast(asyncio.Transport, transport)  # uvloop's own is none by name
        self._where = peer_of(transport).address
        self.heard = asyncio.get_running_loop().time()
        transport.set_write_buffer_limits(high=gate.premises.high_water)
        origin = Origin("smart_m3", self._where, transport.get_write_buffer_size)
        self._caller = Caller(gate.premises, self, gate.counts, where=self._where, origin=origin)
        gate.connections.add(self)
        try:
            gate.admit()
            self._place = Ticket(gate.premises.quotas.connections, client_of(None, self._where))
        except LimitExceeded as error:
            self.close(0, self._say(error))

    def connection_lost(self, exc: Exception | None) -> None:
        self._gate.connections.discard(self)
        self._closing = True
        if self._worker is not None:
            self._worker.cancel()
        if self._place is not None:
            self._place.leave()
        if self._conversation is not None:
            self._conversation.end()
        self._caller.leave()

    def data_received(self, data: bytes) -> None:
        if self._closing:
            return
        self.heard = asyncio.get_running_loop().time()
        try:
            self._line.extend(self._framing.feed(data))
        except TidingsError as error:
            self._say(error)
            self._hear_out()
            return
        if self._line and self._worker is None:
            self._worker = asyncio.get_running_loop().create_task(self._work())
        if len(self._line) > MOST_WAITING and not self._paused:
            self._paused = True
            self._transport.pause_reading()

    def eof_received(self) -> bool:
        """A client may have nothing more to say, and wait for answers and indications."""
        self._said_all = True
        if self._closing or self.is_idle:
            return False
        _probe(self._transport.get_extra_info("socket"))
        return True

    def pause_writing(self) -> None:
        self._caller.filled()

    def resume_writing(self) -> None:
        self._caller.drained()

    # -- messages -----------------------------------------------------------------------------------------------

    async def _work(self) -> None:
        """Handle what waits, in order."""
        while self._line and not self._closing:
            await self._talk().hear(self._line.popleft())
            if self._paused and len(self._line) <= MOST_WAITING // 2 and not self._closing:
                self._paused = False
                self._transport.resume_reading()
        self._worker = None
        if self._said_all and self.is_idle:
            self.close(0, "all was said, and answered")

    @property
    def _dialect(self) -> Dialect:
        return JSSAP if self._framing.is_json else SSAP

    def _talk(self) -> Conversation:
        if self._conversation is None:
            gate = self._gate
            self._conversation = Conversation(
                self._caller, self._dialect, self._send, gate.memberships, gate.holders,
                base=gate.premises.base, where=self._where,
            )  # fmt: skip
        return self._conversation

    def _say(self, error: TidingsError) -> str:
        """Why nothing more is read from it."""
        heard = self._caller.refused(error, "message")
        self._send(self._dialect.refused(Header(), heard))
        return str(heard)

    def _hear_out(self) -> None:
        """Read nothing into what still comes, and let the client go. To close while it sends would reset the connection
        and take away what was just said."""
        self._closing = True
        self._transport.write_eof()
        asyncio.get_running_loop().call_later(LINGER, self._transport.abort)

    def _send(self, document: bytes) -> None:
        if self._closing or self._transport.is_closing():
            return
        if self._transport.get_write_buffer_size() > BACKLOG:
            self.close(TOO_SLOW, "answers are not being read")
            return
        self._transport.write(document)

    # -- for the broker -----------------------------------------------------------------------------------------

    def deliver(self, subscriber: Subscriber, sequence: int, parcel: Parcel) -> None:
        if self._conversation is not None:
            self._gate.counts.notifications += 1
            self._conversation.indicate(subscriber, sequence, parcel)

    def dismiss(self, subscriber: Subscriber, reason: str, code: int) -> None:
        if self._conversation is not None:
            self._conversation.dismiss(subscriber, reason)

    def close(self, code: int, reason: str) -> None:
        """Let the client go once it has taken what was sent, or after some seconds."""
        if self._closing and self._transport.is_closing():
            return
        self._closing = True
        self._transport.close()
        asyncio.get_running_loop().call_later(LINGER, self._transport.abort)

    def abort(self) -> None:
        self._transport.abort()


def _probe(wire: socket.socket) -> None:
    """Find out whether a client that says nothing more is still there: to close and to say no more look the same."""
    wire.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _PROBES.items():
        if (option := getattr(socket, name, None)) is not None:
            wire.setsockopt(socket.IPPROTO_TCP, option, value)
