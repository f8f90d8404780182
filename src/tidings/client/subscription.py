"""A subscription for an application: a live answer, and the sequence of its changes.

    rows after = rows before - removed + added

The connection may break and be restored; the application sees one uninterrupted sequence. If it reads changes more
slowly than they arrive, it gets fewer of them, added up.
"""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Any

from tidings.client.answers import Cells, Row, answer_of, frame, named, valued
from tidings.model.errors import TidingsError
from tidings.model.zset import absorb, add
from tidings.protocol.answers import Notification

if TYPE_CHECKING:
    import pandas

_MOST_WAITING = 1_000


class Change:
    """The change of an answer by a commit, or by several whose changes were added up."""

    __slots__ = ("_weights", "commit", "sequence", "time", "variables")

    def __init__(
        self, variables: tuple[str, ...], weights: Counter[Cells], *, sequence: int, commit: int, time: int
    ) -> None:
        self.variables = variables
        self._weights = weights
        self.sequence = sequence
        """0 for the first answer, and one more for each change after it, even across connections."""
        self.commit = commit
        self.time = time
        """The time of the commit, in microseconds since 1970."""

    @property
    def added(self) -> list[Row]:
        return [named(self.variables, cells) for cells in _repeated(self._weights, 1)]

    @property
    def removed(self) -> list[Row]:
        return [named(self.variables, cells) for cells in _repeated(self._weights, -1)]

    def added_values(self) -> list[dict[str, Any]]:
        """The added rows with plain Python values."""
        return [valued(self.variables, cells) for cells in _repeated(self._weights, 1)]

    def removed_values(self) -> list[dict[str, Any]]:
        return [valued(self.variables, cells) for cells in _repeated(self._weights, -1)]

    def weights(self) -> Counter[Cells]:
        """The change as a Z-set of rows, each a tuple in the order of `variables`."""
        return self._weights

    def __bool__(self) -> bool:
        return bool(self._weights)

    def __repr__(self) -> str:
        return f"Change(sequence={self.sequence}, added={self.added}, removed={self.removed})"


def _repeated(weights: Counter[Cells], sign: int) -> Iterable[Cells]:
    return (cells for cells, weight in weights.items() for _ in range(sign * weight))


class Subscription:
    """A subscription, made by `Connection.subscribe`. Iterating gives its changes; `rows` is the present answer."""

    def __init__(self, request: dict[str, Any], end: Callable[["Subscription"], Any]) -> None:
        self.request = request
        self.spuid: str | None = None
        self.sequence = -1
        """The sequence of the broker's last notification, for resuming the subscription."""
        self._number = -1
        self.variables: tuple[str, ...] = ()
        self._answer: Counter[Cells] = Counter()
        self._waiting: deque[Change] = deque()
        self._news = asyncio.Event()
        self._failure: TidingsError | None = None
        self._ended = False
        self._end = end

    # -- for the application ------------------------------------------------------------------------------------

    @property
    def rows(self) -> list[Row]:
        """The answer after the last notification that has arrived."""
        return [named(self.variables, cells) for cells in self._answer.elements()]

    def values(self) -> list[dict[str, Any]]:
        """The answer with plain Python values."""
        return [valued(self.variables, cells) for cells in self._answer.elements()]

    def to_pandas(self) -> "pandas.DataFrame":
        return frame(self.variables, list(self._answer.elements()))

    def __len__(self) -> int:
        return self._answer.total()

    def __aiter__(self) -> AsyncIterator[Change]:
        return self

    async def __anext__(self) -> Change:
        while not self._waiting:
            if self._failure is not None:
                raise self._failure
            if self._ended:
                raise StopAsyncIteration
            self._news.clear()
            await self._news.wait()
        return self._waiting.popleft()

    async def unsubscribe(self) -> None:
        """End the subscription. Changes that have arrived before can still be read."""
        if not self._ended and self._failure is None:
            await self._end(self)

    async def __aenter__(self) -> "Subscription":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.unsubscribe()

    # -- for the connection -------------------------------------------------------------------------------------

    def take(self, notification: Notification) -> None:
        """Apply a notification. Raises NotUnderstood."""
        variables, weights = _read(notification)
        self.spuid, self.sequence = notification.spuid, notification.sequence
        first = self._number < 0
        if self.sequence == 0 and not notification.resumed and not first:
            # The broker could not resume, and sent the whole answer: the difference is the change that was missed.
            absorb(weights, ((cells, -weight) for cells, weight in self._answer.items()))
        self.variables = variables
        absorb(self._answer, weights.items())
        if not weights and not first:
            return
        self._number += 1
        commit, time = notification.commit or 0, notification.time or 0
        change = Change(variables, weights, sequence=self._number, commit=commit, time=time)
        if len(self._waiting) >= _MOST_WAITING:
            change = _merged(self._waiting.pop(), change)
        self._waiting.append(change)
        self._news.set()

    def fail(self, error: TidingsError) -> None:
        """End the subscription with an error."""
        self._failure = error
        self._news.set()

    def ended(self) -> None:
        self._ended = True
        self._news.set()


def _read(notification: Notification) -> tuple[tuple[str, ...], Counter[Cells]]:
    """The variables of a notification, and its change as a Z-set."""
    weights: Counter[Cells] = Counter()
    answer = answer_of(notification.added)
    for cells in answer.cells:
        add(weights, cells, 1)
    for cells in answer_of(notification.removed).cells:
        add(weights, cells, -1)
    return answer.variables, weights


def _merged(earlier: Change, later: Change) -> Change:
    weights = Counter(earlier.weights())
    absorb(weights, later.weights().items())
    return Change(later.variables, weights, sequence=later.sequence, commit=later.commit, time=later.time)
