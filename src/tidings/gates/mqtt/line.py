"""Handles messages in the order in which they came, a limited number at a time. A message that met a limit is tried
again before the others. A message is acknowledged when its handler allows it, and never before an earlier message.

If a message is acknowledged only when its effect is durable, the MQTT broker keeps it until then.
"""

import heapq
from collections import deque
from collections.abc import Callable
from typing import TypeAlias

from tidings.gates.mqtt.messages import Message

MOST_IN_WORK = 512
MOST_WAITING = 10_000

Later: TypeAlias = Callable[[float, Callable[[], None]], object]
"""Calls a function after so many seconds."""


class Turn:
    """A message that is being handled. Its handler calls either `done` or `again`, once."""

    __slots__ = ("_line", "_number", "_over", "message")

    def __init__(self, line: "Line", number: int, message: Message) -> None:
        self._line = line
        self._number = number
        self._over = False
        self.message = message

    def accept(self) -> None:
        """Acknowledge the message: the MQTT broker need not send it again, whatever its outcome."""
        self._line.settle(self._number)

    def done(self) -> None:
        self._line.settle(self._number)
        self._end()

    def again(self, seconds: float) -> None:
        """Try the message again after some seconds, before all later messages that are not in work yet."""
        self._line.put_back(self._number, self.message, seconds)
        self._end()

    def _end(self) -> None:
        if not self._over:
            self._over = True
            self._line.leave()


Serve: TypeAlias = Callable[[Turn], None]


class Line:
    """`acknowledge` takes the token of a message."""

    def __init__(self, serve: Serve, acknowledge: Callable[[int], None], later: Later) -> None:
        self._serve = serve
        self._acknowledge = acknowledge
        self._later = later
        self._waiting: list[tuple[int, Message]] = []
        """A heap, by number."""
        self._next = 0
        self._in_work = 0
        self._held = False
        self._unacknowledged: deque[tuple[int, int]] = deque()
        """The numbers and tokens of messages that are not acknowledged, in order."""
        self._settled: set[int] = set()
        self.dropped = 0
        """How many messages were dropped because too many waited; these need no acknowledgement."""

    def __len__(self) -> int:
        return len(self._waiting) + self._in_work

    def put(self, message: Message) -> None:
        """Add a message. Of those that need an acknowledgement, the MQTT broker itself sends only a limited number."""
        if not message.token and len(self._waiting) >= MOST_WAITING:
            self.dropped += 1
            return
        self._next = number = self._next + 1
        if message.token:
            self._unacknowledged.append((number, message.token))
        heapq.heappush(self._waiting, (number, message))
        self._advance()

    def forget(self) -> None:
        """There is a new connection: drop unacknowledged messages, because the MQTT broker sends them again."""
        self._unacknowledged.clear()
        self._settled.clear()
        self._waiting = [(number, message) for number, message in self._waiting if not message.token]
        heapq.heapify(self._waiting)

    def _advance(self) -> None:
        while self._waiting and self._in_work < MOST_IN_WORK and not self._held:
            number, message = heapq.heappop(self._waiting)
            self._in_work += 1
            self._serve(Turn(self, number, message))

    # -- for turns ----------------------------------------------------------------------------------------------

    def put_back(self, number: int, message: Message, seconds: float) -> None:
        heapq.heappush(self._waiting, (number, message))
        if not self._held:
            self._held = True
            self._later(seconds, self._release)

    def leave(self) -> None:
        self._in_work -= 1
        self._advance()

    def settle(self, number: int) -> None:
        line, settled = self._unacknowledged, self._settled
        if not line or number < line[0][0]:
            return  # it needs no acknowledgement, or has one, or belongs to an earlier connection
        settled.add(number)
        while line and line[0][0] in settled:
            first, token = line.popleft()
            settled.discard(first)
            self._acknowledge(token)
        if not line:
            settled.clear()

    def _release(self) -> None:
        self._held = False
        self._advance()
