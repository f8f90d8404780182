"""The surroundings of one evaluation: the moment it happens in, its limits, and the outside world handed to it."""

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
"""Work between two looks at the clock by whoever walks a path."""


class ServiceClient(Protocol):
    """Asks another SPARQL endpoint, for SERVICE."""

    def __call__(self, endpoint: str, query: str) -> Solutions: ...


class Limits(Struct, frozen=True):
    """What an evaluation may cost. `clock` counts seconds; it is only looked at if there is a time limit."""

    seconds: float | None = None
    rows: int | None = None
    clock: Callable[[], float] | None = None

    def deadline(self) -> float:
        """When an evaluation that starts now has to end; 0 if it may take its time."""
        if self.seconds is None:
            return 0.0
        if self.clock is None:
            raise ValueError("a time limit needs a clock")
        return self.clock() + self.seconds


UNLIMITED = Limits()


class Moment:
    """What changes from one evaluation to the next: the instant, in microseconds since 1970, and chance."""

    __slots__ = ("_numbers", "_prefix", "now", "random")

    def __init__(self, now: int = 0, random: Random | None = None) -> None:
        self.now = now
        self.random = random or Random()
        self._prefix = f"t{self.random.getrandbits(48):012x}"
        self._numbers = count(1)

    def at(self, now: int) -> "Moment":
        """Another instant with the same source of chance; blank nodes made in either are all different."""
        other = Moment.__new__(Moment)
        other.now, other.random = now, self.random
        other._prefix, other._numbers = self._prefix, self._numbers
        return other

    def fresh_blank(self) -> Term:
        """A blank node that is nowhere yet."""
        return blank(f"{self._prefix}n{next(self._numbers)}")


class Spent(Exception):
    """An evaluation has done the work that it may do."""


class Overrun(Exception):
    """A step has done all the work that it may do in one go, and is not at its end."""


class Meter:
    """Counts work: rows that are looked up, terms that are walked to. It does not depend on time or place.

    Each row takes a token. Where there are no tokens left, rows just end, and whoever gave out the tokens finds out: so
    counting costs 11 ns a row. A piece of work may have a limit, and the whole step that it belongs to a *slice*."""

    __slots__ = ("_left", "_slice", "tokens")

    def __init__(self) -> None:
        self.begin(None)

    def begin(self, work: int | None) -> None:
        """Begin a step that may do so much work."""
        self._slice = self._left = most = _PLENTY if work is None else work
        """What is left of the slice."""
        self.tokens = repeat(True, most)
        """Taken by whoever looks anything up."""

    def check(self) -> int:
        """What is left of the slice. Raises Overrun if that is nothing."""
        left = self._left + length_hint(self.tokens) - self._slice
        if left <= 0:
            raise Overrun
        return left

    def spend(self, work: int) -> None:
        """Raises Spent if there is no more to spend."""
        if next(islice(self.tokens, work - 1, None), None) is None:
            raise Spent

    def charge(self, work: int) -> None:
        """Work that counts for the slice alone. Raises Overrun."""
        self._left -= work
        if self._left <= 0:
            raise Overrun

    def watch(self, rows: Iterator[Row]) -> Iterator[Row]:
        """The same rows, counted."""
        return compress(rows, self.tokens)

    def apart(self, work: Callable[[], T]) -> tuple[T, int]:
        """What some work comes to that counts for the slice alone, and how much it was. Raises Overrun."""
        given = self._left
        result = self.limited(given, work)
        if result is None:
            raise Overrun
        return result, given - self._left

    def limited(self, most: int, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T | None:
        """What some work comes to; None if that is more than so much. Nothing that it did may be used then. Raises
        Overrun if it is more than is left of the slice."""
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
    """Handed to every compiled operator. Plans keep it, and read the moment through it each time they run."""

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
        """Counts the work of a plan that is kept; the answer of a query is not counted."""
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
        """Evaluate once more, with other constants and limits; there is a time limit if there was one."""
        self.moment = moment
        self.parameters = parameters
        self.limits = limits
        self._deadline = deadline
        for memo in self._memos:
            memo.clear()

    def memo(self) -> dict[Any, Any]:
        """What a plan that is being made may remember within one evaluation."""
        self._memos.append({})
        return self._memos[-1]

    def call_for(self, variable: Var) -> str:
        """A name that no other call has, for a call that is compiled in an expression for a variable."""
        self._calls[variable] += 1
        return f"{variable} {self._calls[variable]}"

    def spelled(self, term: Term) -> Term:
        """A constant as the store spells it, or else as it was first spelt in this request."""
        if not is_tagged(term):
            return term
        return self.view.spelling(term) or self._spellings.setdefault(fold(term), term)

    def constant(self, term: Term) -> Term:
        """A constant of the pattern, be it lifted or not."""
        return self.parameters[int(term[2:])] if term[0] == "$" else term

    def glance(self) -> None:
        """At the clock, while a plan is made. Raises TimeLimitExceeded."""
        limits = self.limits
        if limits.seconds is not None and limits.clock is not None and limits.clock() > self._deadline:
            raise TimeLimitExceeded(limits.seconds)

    def look(self, work: int = _WORK_OF_A_LOOK) -> None:
        """At the clock, and at what may be spent, while a plan works on one row for long. Raises TimeLimitExceeded,
        Spent."""
        self.glance()
        if self.meter is not None:
            self.meter.spend(work)

    def left(self, most: float) -> float:
        """Seconds that something may take that cannot look at the clock itself. Raises TimeLimitExceeded."""
        limits = self.limits
        if limits.seconds is None or limits.clock is None:
            return most
        left = self._deadline - limits.clock()
        if left <= 0:
            raise TimeLimitExceeded(limits.seconds)
        return min(most, left)

    def watch(self, rows: Iterator[Row]) -> Iterator[Row]:
        """The same rows, under the time limit if there is one, and counted if they are."""
        if self.meter is not None:
            rows = self.meter.watch(rows)
        return self.timed(rows)

    def timed(self, items: Iterator[T]) -> Iterator[T]:
        """The same items, under the time limit if there is one: for work that gives no row."""
        return items if self.limits.seconds is None else self._timed(items, self.limits.seconds)

    def _timed(self, items: Iterator[T], seconds: float) -> Iterator[T]:
        clock = self.limits.clock
        for number, item in enumerate(items):
            if number % _ROWS_BETWEEN_LOOKS == 0 and clock is not None and clock() > self._deadline:
                raise TimeLimitExceeded(seconds)
            yield item

    def hold(self, rows: Iterable[Row]) -> Iterable[Row]:
        """The same rows, for whoever keeps them all in memory: under the row limit if there is one."""
        return rows if self.limits.rows is None else self._counted(rows, self.limits.rows)

    def keep(self, rows: Iterable[Row], kept: Sized) -> Iterable[Row]:
        """The same rows, for whoever keeps what they come to: that is under the row limit if there is one."""
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
