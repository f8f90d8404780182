"""What an evaluation depends on besides the query: the store, the current time, limits, and the client for SERVICE."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sized
from itertools import compress, count, islice, repeat
from operator import length_hint
from random import Random
from typing import Any, ParamSpec, Protocol, TypeVar

from msgspec import Struct

from tidings.model.errors import RowLimitExceeded, TimeLimitExceeded
from tidings.model.results import Solutions
from tidings.model.terms import Term, Var, blank, fold, is_tagged
from tidings.sparql.evaluate.dataset import View
from tidings.sparql.evaluate.layout import Row

P = ParamSpec("P")
T = TypeVar("T")

_ROWS_BETWEEN_LOOKS = 512
_PLENTY = 1 << 60
_WORK_OF_A_LOOK = 256
"""Terms that a path walks to between two looks at the clock."""


class ServiceClient(Protocol):
    """Asks another SPARQL endpoint, for SERVICE."""

    def __call__(self, endpoint: str, query: str) -> Solutions: ...


class Limits(Struct, frozen=True):
    """What an evaluation may cost. `clock` returns seconds; only a time limit needs it."""

    seconds: float | None = None
    rows: int | None = None
    clock: Callable[[], float] | None = None

    def deadline(self) -> float:
        """When an evaluation that starts now has to end; 0 without a time limit."""
        if self.seconds is None:
            return 0.0
        if self.clock is None:
            raise ValueError("a time limit needs a clock")
        return self.clock() + self.seconds


UNLIMITED = Limits()


class Moment:
    """What changes from one evaluation to the next: the time, in microseconds since 1970, and random numbers."""

    __slots__ = ("_numbers", "_prefix", "now", "random")

    def __init__(self, now: int = 0, random: Random | None = None) -> None:
        self.now = now
        self.random = random or Random()
        self._prefix = f"t{self.random.getrandbits(48):012x}"
        self._numbers = count(1)

    def at(self, now: int) -> "Moment":
        """Another instant with the same random numbers. No blank node of one instant is equal to one of the other."""
        other = Moment.__new__(Moment)
        other.now, other.random = now, self.random
        other._prefix, other._numbers = self._prefix, self._numbers
        return other

    def fresh_blank(self) -> Term:
        """A blank node with a new label."""
        return blank(f"{self._prefix}n{next(self._numbers)}")


class Spent(Exception):
    """An evaluation has used up its work."""


class Overrun(Exception):
    """A step has used up its slice of work before it was complete."""


class Meter:
    """Counts work, the same on every machine: rows that a plan looks up, terms that a path walks to.

    Each row takes a token. Without tokens, rows just end, and the method that gave out the tokens finds none left: so
    counting costs 11 ns a row. A piece of work may have a limit, and the whole step that it belongs to a *slice*."""

    __slots__ = ("_left", "_slice", "tokens")

    def __init__(self) -> None:
        self.begin(None)

    def begin(self, work: int | None) -> None:
        """Begin a step with a slice of so much work; None is no limit."""
        self._slice = self._left = most = _PLENTY if work is None else work
        """What is left of the slice."""
        self.tokens = repeat(True, most)
        """One for each unit of work that is left."""

    def check(self) -> int:
        """The work left of the slice. Raises Overrun if there is none."""
        left = self._left + length_hint(self.tokens) - self._slice
        if left <= 0:
            raise Overrun
        return left

    def spend(self, work: int) -> None:
        """Take so many tokens. Raises Spent if there are not enough."""
        if next(islice(self.tokens, work - 1, None), None) is None:
            raise Spent

    def charge(self, work: int) -> None:
        """Count work against the slice, but not against the limit of a piece of work. Raises Overrun."""
        self._left -= work
        if self._left <= 0:
            raise Overrun

    def watch(self, rows: Iterator[Row]) -> Iterator[Row]:
        """The same rows, counted."""
        return compress(rows, self.tokens)

    def apart(self, work: Callable[[], T]) -> tuple[T, int]:
        """The result of some work, and how much it was. It counts only against the slice. Raises Overrun."""
        given = self._left
        result = self.limited(given, work)
        if result is None:
            raise Overrun
        return result, given - self._left

    def limited(self, most: int, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T | None:
        """The result of some work; None if it takes more than `most`: the caller then discards everything that it did.
        Raises Overrun if it takes more than is left of the slice."""
        outside, left = self.tokens, self._left
        given = most if most < left else left
        self.tokens = mine = repeat(True, given)
        result: T | None
        try:
            result = work(*args, **kwargs)
        except Spent:
            result = None
        finally:
            self.tokens = outside
            unused = length_hint(mine)
            self._left -= given - unused
        if unused and result is not None:
            return result
        if given < most:
            raise Overrun
        return None


class Context:
    """The surroundings of one evaluation after another. Plans keep their context, and read its values when they run."""

    __slots__ = (
        "_calls",
        "_deadline",
        "_memos",
        "_spellings",
        "limits",
        "meter",
        "moment",
        "parameters",
        "service",
        "stable",
        "view",
    )

    def __init__(
        self,
        view: View,
        moment: Moment,
        limits: Limits = UNLIMITED,
        service: ServiceClient | None = None,
        parameters: tuple[Term, ...] = (),
        stable: bool = False,
        deadline: float | None = None,
        meter: Meter | None = None,
    ) -> None:
        self.view = view
        self.meter = meter
        """Counts the work of plans that the engine keeps; None for queries."""
        self.moment = moment
        self.limits = limits
        self.service = service
        self.parameters = parameters
        """The values of lifted constants (`parser.slots`)."""
        self.stable = stable
        """Whether the same data must always give the same answer: blank nodes are named after the solution they stand
        in, and rows that ORDER BY does not tell apart have an order all the same. Subscriptions need both."""
        self._spellings: dict[Term, Term] = {}
        self._calls: Counter[Var] = Counter()
        self._memos: list[dict[Any, Any]] = []
        self._deadline = limits.deadline() if deadline is None else deadline

    def begin(self, moment: Moment, parameters: tuple[Term, ...], limits: Limits, deadline: float) -> None:
        """Begin another evaluation, with other constants and limits. It has a time limit if and only if the first one
        had it, because plans are compiled with or without time limits."""
        self.moment = moment
        self.parameters = parameters
        self.limits = limits
        self._deadline = deadline
        for memo in self._memos:
            memo.clear()

    def memo(self) -> dict[Any, Any]:
        """A dict for a plan that is being compiled, which each new evaluation empties."""
        self._memos.append({})
        return self._memos[-1]

    def call_for(self, variable: Var) -> str:
        """A unique name for a function call in the expression of a variable."""
        self._calls[variable] += 1
        return f"{variable} {self._calls[variable]}"

    def spelled(self, term: Term) -> Term:
        """A constant as the store spells it, or else as the request first spells it."""
        if not is_tagged(term):
            return term
        return self.view.spelling(term) or self._spellings.setdefault(fold(term), term)

    def constant(self, term: Term) -> Term:
        """The value of a constant, lifted or not."""
        return self.parameters[int(term[2:])] if term[0] == "$" else term

    def glance(self) -> None:
        """Check the time limit while a plan is made. Raises TimeLimitExceeded."""
        limits = self.limits
        if limits.seconds is not None and limits.clock is not None and limits.clock() > self._deadline:
            raise TimeLimitExceeded(limits.seconds)

    def look(self, work: int = _WORK_OF_A_LOOK) -> None:
        """Check the time limit, and take tokens, while a plan works on one row for long. Raises TimeLimitExceeded,
        Spent."""
        self.glance()
        if self.meter is not None:
            self.meter.spend(work)

    def left(self, most: float) -> float:
        """The seconds, at most `most`, for a call that cannot check the time limit itself. Raises TimeLimitExceeded."""
        limits = self.limits
        if limits.seconds is None or limits.clock is None:
            return most
        left = self._deadline - limits.clock()
        if left <= 0:
            raise TimeLimitExceeded(limits.seconds)
        return min(most, left)

    def watch(self, rows: Iterator[Row]) -> Iterator[Row]:
        """The same rows, under the time limit if there is one, and counted if there is a meter."""
        if self.meter is not None:
            rows = self.meter.watch(rows)
        return self.timed(rows)

    def timed(self, items: Iterator[T]) -> Iterator[T]:
        """The same items, under the time limit if there is one, but not counted."""
        return items if self.limits.seconds is None else self._timed(items, self.limits.seconds)

    def _timed(self, items: Iterator[T], seconds: float) -> Iterator[T]:
        clock = self.limits.clock
        for number, item in enumerate(items):
            if number % _ROWS_BETWEEN_LOOKS == 0 and clock is not None and clock() > self._deadline:
                raise TimeLimitExceeded(seconds)
            yield item

    def hold(self, rows: Iterable[Row]) -> Iterable[Row]:
        """The same rows, under the row limit if there is one: for an operator that keeps them all in memory."""
        return rows if self.limits.rows is None else self._counted(rows, self.limits.rows)

    def keep(self, rows: Iterable[Row], kept: Sized) -> Iterable[Row]:
        """The same rows; the row limit, if there is one, applies to `kept`, which the caller fills from them."""
        return rows if self.limits.rows is None else self._kept(rows, kept, self.limits.rows)

    def _kept(self, rows: Iterable[Row], kept: Sized, most: int) -> Iterator[Row]:
        for row in rows:
            yield row
            if len(kept) > most:
                raise RowLimitExceeded(most)

    def _counted(self, rows: Iterable[Row], most: int) -> Iterator[Row]:
        for number, row in enumerate(rows):
            if number >= most:
                raise RowLimitExceeded(most)
            yield row
