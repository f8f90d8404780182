"""FILTER and BIND that compare with NOW():  Δ = f'(ΔA) + (f' - f) of the rows of A that are due.

The operator keeps the rows for which a comparison may still change, in the order of the instants at which it may. It
forgets all other rows: time does not go back, and when such a row is removed, evaluating it now gives what it gave
before. If only lasting parts of NOW() matter, such as the hour, all rows are due at the same instant, and the operator
keeps the last output for each.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tidings.engine.due_times import DueTimes
from tidings.engine.operators.base import Changes, Explanation, Hits, Loader, Operator, States, shown
from tidings.engine.operators.stateful.memory import Memory
from tidings.engine.operators.stateful.turning import Values, atoms, next_part, next_turning, parts
from tidings.model.terms import Var
from tidings.model.zset import add
from tidings.sparql.algebra import Expression
from tidings.sparql.evaluate.layout import Layout, Row

Judge = Callable[[Row], Row | None]
"""The output for an input row at the present instant; None if it does not pass."""


class Waiting:
    """The rows of one member that wait for an instant."""

    __slots__ = ("due_times", "lasting", "until", "weights")

    def __init__(self) -> None:
        self.due_times: DueTimes[Row] = DueTimes()
        self.weights: Changes = {}
        self.lasting: dict[Row, tuple[int, Row | None]] = {}
        """Rows that all wait for the same instant, with their weights and their last outputs."""
        self.until = 0
        """The instant for which these wait, if there are any."""

    def __len__(self) -> int:
        return len(self.weights) + len(self.lasting)

    def next(self) -> int | None:
        """The first instant at which a row is due; None if none waits."""
        return self.until if self.lasting else self.due_times.next()

    def last(self, row: Row, weight: int, judged: Row | None) -> None:
        total = weight + self.lasting.get(row, (0, None))[0]
        if total:
            self.lasting[row] = total, judged
        else:
            self.lasting.pop(row, None)

    def put(self, row: Row, weight: int, at: int | None) -> None:
        if at is not None:
            add(self.weights, row, weight)
            self.due_times.put(row, at if row in self.weights else None)

    def due(self, now: int) -> list[tuple[Row, int, int]]:
        """Remove the rows that are due. Returns them with their weights and instants."""
        return [(row, self.weights.pop(row), at) for row, at in self.due_times.due(now)]

    def items(self) -> Iterator[tuple[Row, int, int] | tuple[Row, int, int, Row | None]]:
        yield from ((row, self.weights[row], at) for row, at in self.due_times.items())
        yield from ((row, weight, self.until, judged) for row, (weight, judged) in self.lasting.items())

    def extend(self, items: list[tuple[Row, int, int] | tuple[Row, int, int, Row | None]]) -> None:
        for row, weight, at, *judged in items:
            if judged:
                self.until = at
                self.last(row, weight, judged[0])
            else:
                self.put(row, weight, at)


class Clocked:
    """A FILTER condition, or a BIND expression, that depends on the moment only by comparisons with NOW() and lasting
    parts of it."""

    __slots__ = (
        "_atoms", "_detail", "_due_times", "_inner", "_judge", "_lasts", "_load", "_moment", "_parts", "_states",
        "_width", "layout", "memory",
    )  # fmt: skip

    def __init__(
        self, inner: Operator, load: Loader, width: int, expression: Expression, states: States,
        layout: Layout, judge: Judge, detail: str,
    ) -> None:  # fmt: skip
        self._inner = inner
        self._load = load
        self._width = width
        self._states = states
        self._moment = states.new.moment
        self._judge = judge
        self._detail = detail
        self.layout = layout
        compiler = states.compiler(states.new)
        self._atoms: list[tuple[Any, Values]] = []
        for atom in atoms(expression):
            operand = None if atom.operand is None else compiler.value(atom.operand, inner.layout)
            self._atoms.append((atom, (compiler.value(atom.other, inner.layout), operand)))
        self._parts = tuple(dict.fromkeys(parts(expression)))
        self._lasts = bool(self._parts) and not self._atoms
        """Whether all rows wait for the same instant."""
        self.memory: Memory[Waiting] = Memory(Waiting, Waiting.items, Waiting.extend)
        self._due_times: DueTimes[Row] = DueTimes()
        """The members, by the first instant at which a row of each is due."""

    def due(self) -> int | None:
        """The first instant at which a row of any member is due; None if none waits."""
        return self._due_times.next()

    def _turning(self, row: Row) -> int | None:
        turning = next_turning(self._atoms, row, self._moment.now)
        if not self._parts:
            return turning
        beginning = next_part(self._parts, self._moment.now)
        return beginning if turning is None or (beginning is not None and beginning < turning) else turning

    def delta(self, hits: Hits) -> Changes:
        changes: Changes = {}
        members: dict[Row, Waiting] = {}
        for member, _ in list(self._due_times.due(self._moment.now)):
            members[member] = self.memory.states[member]
            turn = self._turn_all if self._lasts else self._turn
            turn(members[member], changes)
        for row, weight in self._inner.delta(hits).items():
            member = row[: self._width]
            waiting = self.memory.states.get(member)
            if waiting is not None:
                members[member] = waiting
                self._tell(changes, self._wait(waiting, row, weight), weight)
        for member, waiting in members.items():
            self._due_times.put(member, waiting.next())
        return changes

    def _wait(self, waiting: Waiting, row: Row, weight: int) -> Row | None:
        """Let a row wait for the instant at which it has to be judged again. Returns its present output."""
        judged = self._judge(row)
        if self._lasts:
            if not waiting.lasting:
                waiting.until = self._next_part()
            waiting.last(row, weight, judged)
        else:
            waiting.put(row, weight, self._turning(row))
        return judged

    def _next_part(self) -> int:
        found = next_part(self._parts, self._moment.now)
        assert found is not None
        return found

    def _turn_all(self, waiting: Waiting, changes: Changes) -> None:
        """Judge all rows of a member again."""
        lasting = waiting.lasting
        if lasting:
            self._states.meter.spend(len(lasting))
        for row, (weight, before) in lasting.items():
            judged = self._judge(row)
            if judged != before:
                lasting[row] = weight, judged
                self._tell(changes, before, -weight)
                self._tell(changes, judged, weight)
        waiting.until = self._next_part()

    def _turn(self, waiting: Waiting, changes: Changes) -> None:
        """Judge the due rows of a member again."""
        due = waiting.due(self._moment.now)
        if due:
            self._states.meter.spend(len(due))
        for row, weight, at in due:
            self._tell(changes, self._judged_at(row, at - 1), -weight)
            self._tell(changes, self._judge(row), weight)
            waiting.put(row, weight, self._turning(row))

    def _judged_at(self, row: Row, instant: int) -> Row | None:
        """The output of a row at an earlier instant."""
        moment = self._moment
        now, moment.now = moment.now, instant
        try:
            return self._judge(row)
        finally:
            moment.now = now

    @staticmethod
    def _tell(changes: Changes, row: Row | None, weight: int) -> None:
        if row is not None:
            add(changes, row, weight)

    # -- members ------------------------------------------------------------------------------------------------

    def admit(self, parameters: Row) -> None:
        self._inner.admit(parameters)
        waiting = Waiting()
        for row in self._states.new.keep(self._load(parameters), waiting):
            self._wait(waiting, row, 1)
        self.memory.states[parameters] = waiting
        self.seat(parameters)

    def seat(self, parameters: Row) -> None:
        """Add a member whose rows are in the memory already."""
        member = parameters[: self._width]
        self._due_times.put(member, self.memory.states[member].next())

    def rows(self, parameters: Row) -> Iterable[Row]:
        return (judged for row in self._load(parameters) if (judged := self._judge(row)) is not None)

    def dismiss(self, parameters: Row) -> None:
        self._inner.dismiss(parameters)
        del self.memory.states[parameters]
        self._due_times.put(parameters, None)

    def explain(self) -> Explanation:
        return Explanation("clocked", self._detail, True, (self._inner.explain(),))


def clocked_filter(inner: Operator, load: Loader, width: int, condition: Expression, states: States) -> Clocked:
    """FILTER with a condition on NOW()."""
    test = states.compiler(states.new).test(condition, inner.layout)
    detail = "a condition on NOW(), the rows by when it turns"
    return Clocked(inner, load, width, condition, states, inner.layout, lambda row: row if test(row) else None, detail)


def clocked_extend(
    inner: Operator, load: Loader, width: int, variable: Var, expression: Expression, states: States
) -> Clocked:
    """BIND of an expression with NOW()."""
    value = states.compiler(states.new).value(expression, inner.layout)
    layout = inner.layout.extended((variable,))
    detail = f"{shown(variable)} by NOW(), the rows by when it turns"
    return Clocked(inner, load, width, expression, states, layout, lambda row: (*row, value(row)), detail)
