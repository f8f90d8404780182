"""One WebSocket of a client: passes the documents in its frames to the conversation, and sends answers as frames.

The event loop handles each frame as it comes in. If the client reads too slowly, the connection marks the session as
full, and the broker adds up its notifications until the client has room again.
"""

import asyncio
import socket
from functools import cache
from typing import TYPE_CHECKING, cast

from picows import WSCloseCode, WSFrame, WSListener, WSMsgType, WSTransport

from tidings.broker.subscriptions.outbox import TOO_SLOW
from tidings.broker.subscriptions.subscriber import Origin, Parcel, Session, Subscriber
from tidings.gates.answers import body_of, encode_body, head_of
from tidings.gates.errors import BadForwarding
from tidings.gates.peer import Peer, peer_of
from tidings.gates.quotas import Ticket, client_of
from tidings.gates.websocket.conversation import Conversation
from tidings.model.errors import LimitExceeded
from tidings.protocol.answers import Unsubscribed, encode
from tidings.protocol.notifications import SPLICE

if TYPE_CHECKING:
    from tidings.gates.websocket.gate import WebSocketGate

LINGER = 5.0
"""Seconds that a client has to answer the close frame."""
BACKLOG = 16 << 20
"""Bytes of answers that may wait for a client that does not read them."""
TRY_AGAIN_LATER = 1013
"""Close code: there is no room for this connection now."""
RECEIVED_AT_ONCE = 1 << 16
"""Bytes that the system keeps of what a client has sent. picows parses all of them in one turn of the event loop, and
without a limit the system would keep several MB: a flood of tiny frames would hold up the loop for seconds."""
_WHOLE_TEXT = 0x81
_LONG = 1 << 16


class Connection(WSListener):
    """One client."""

    def __init__(self, gate: "WebSocketGate", authorization: str | None = None) -> None:
        self._gate = gate
        self.peer: Peer
        self._authorization = authorization
        self._broker = gate.broker
        self._transport: WSTransport
        self._session: Session
        self._conversation: Conversation
        self._client: str
        self._place: Ticket | None = None
        self._parts = bytearray()
        self._frames: list[bytes] = []

    # -- for picows ---------------------------------------------------------------------------------------------

    def on_ws_connected(self, transport: WSTransport) -> None:
        gate = self._gate
        self._transport = transport
        transport.underlying_transport.set_write_buffer_limits(high=gate.settings.high_water)
        system: socket.socket = transport.underlying_transport.get_extra_info("socket")
        system.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVED_AT_ONCE)
        self._meet(transport)
        self._client = client_of(None, self.peer.address)
        self._session = self._broker.connect(self, self._client if gate.guard.asks else None)
        self._session.origin = Origin("websocket", self.peer.address, self._unsent)
        self._conversation = Conversation(
            self._broker, self._session, self._send, gate.traffic,
            base=gate.settings.base, read_only=gate.settings.read_only, quotas=gate.quotas, guard=gate.guard,
            authorization=self._authorization, where=self.peer.address,
        )  # fmt: skip
        gate.connections.add(self)
        self._take_place()

    def _take_place(self) -> None:
        """Count this connection for its address; close it if the address has too many, or opens them too fast."""
        quotas = self._gate.quotas
        try:
            quotas.take(self._client)
            self._place = Ticket(quotas.connections, self._client)
        except LimitExceeded as error:
            quotas.note(error)
            self.close(TRY_AGAIN_LATER, str(error))

    def _meet(self, transport: WSTransport) -> None:
        """Find the address of the client, also behind a trusted proxy."""
        self.peer = nearest = peer_of(transport.underlying_transport)
        try:
            self.peer = self._gate.settings.proxies.peer(nearest, transport.request.headers.items())
        except BadForwarding as error:
            self.close(WSCloseCode.POLICY_VIOLATION.value, str(error))

    def on_ws_disconnected(self, transport: WSTransport) -> None:
        self._gate.connections.discard(self)
        if self._place is not None:
            self._place.leave()
        self._conversation.end()
        self._broker.disconnect(self._session)

    def pause_writing(self) -> None:
        self._broker.filled(self._session)

    def resume_writing(self) -> None:
        self._broker.drained(self._session)

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        kind = frame.msg_type
        if kind == WSMsgType.CLOSE:
            if self._frames:
                self.flush()
            code = frame.get_close_code()  # RFC 6455, 7.4.1: NO_INFO, for a frame without a code, must not be sent
            transport.send_close(WSCloseCode.OK if code == WSCloseCode.NO_INFO else code)
            transport.disconnect()
        elif kind in {WSMsgType.TEXT, WSMsgType.BINARY, WSMsgType.CONTINUATION}:
            if frame.fin and not self._parts:
                self._conversation.hear(frame.get_payload_as_bytes())
            else:
                self._collect(frame)

    def _collect(self, frame: WSFrame) -> None:
        """A message in several frames."""
        most = self._gate.settings.max_message
        self._parts += frame.get_payload_as_bytes()  # in one piece: there may be millions of frames without a byte
        if len(self._parts) > most:
            self._whole()
            self.close(WSCloseCode.MESSAGE_TOO_BIG.value, f"more than {most:,} bytes")
        elif frame.fin:
            self._conversation.hear(self._whole())

    def _whole(self) -> bytes:
        """The message whose frames were collected. The next message begins anew."""
        document, self._parts = bytes(self._parts), bytearray()
        return document

    # -- for the broker -----------------------------------------------------------------------------------------

    def deliver(self, subscriber: Subscriber, sequence: int, parcel: Parcel) -> None:
        frames = self._frames
        if not frames:
            self._gate.will_flush(self)
        # The parts of a notification exist already: the only work for each subscriber is to join their bytes.
        head = subscriber.head or head_of(subscriber)
        document = SPLICE % (head, sequence, parcel.encodings.get(encode_body) or body_of(parcel))
        size = len(document)
        frames.append(_short_frame(size) if size < _LONG else _long_frame(size))
        frames.append(document)

    def dismiss(self, subscriber: Subscriber, reason: str, code: int) -> None:
        self._send(encode(Unsubscribed(subscriber.spuid, subscriber.alias, reason)))

    def close(self, code: int, reason: str) -> None:
        """Send a close frame, and end the connection after some seconds if the client does not."""
        transport = self._transport
        if transport.is_disconnected or transport.is_close_frame_sent:
            return
        if self._frames:
            self.flush()
        transport.send_close(cast(WSCloseCode, code), reason.encode()[:120])  # picows takes any number of four digits
        transport.disconnect()
        asyncio.get_running_loop().call_later(LINGER, self.abort)

    def abort(self) -> None:
        self._transport.disconnect(False)

    # -- for the client -----------------------------------------------------------------------------------------

    def _send(self, document: bytes) -> None:
        """Send an answer at the end of this turn of the event loop, together with all other frames of the turn."""
        if self._session.full and self._transport.underlying_transport.get_write_buffer_size() > BACKLOG:
            self.close(TOO_SLOW, "answers are not being read")
            return
        frames = self._frames
        if not frames:
            self._gate.will_flush(self)
        size = len(document)
        frames.append(_short_frame(size) if size < _LONG else _long_frame(size))
        frames.append(document)

    def _unsent(self) -> int:
        """Bytes that the socket has not taken yet."""
        return self._transport.underlying_transport.get_write_buffer_size()

    def flush(self) -> None:
        """Hand all collected frames to the socket in one system call. These calls are most of the work of sending: for
        a thousand clients they are a thousand, whether each client gets one message or thirty."""
        frames, self._frames = self._frames, []
        transport = self._transport
        if transport.is_disconnected or transport.is_close_frame_sent:
            return
        if len(frames) == 2:
            transport.send(WSMsgType.TEXT, frames[1])  # picows writes to the socket itself, past the event loop
        else:
            transport.underlying_transport.write(b"".join(frames))


# The header of a frame from a server: one whole text of so many bytes (RFC 6455, section 5.2).


@cache
def _short_frame(size: int) -> bytes:
    return bytes((_WHOLE_TEXT, size)) if size < 126 else bytes((_WHOLE_TEXT, 126)) + size.to_bytes(2, "big")


def _long_frame(size: int) -> bytes:
    return bytes((_WHOLE_TEXT, 127)) + size.to_bytes(8, "big")
