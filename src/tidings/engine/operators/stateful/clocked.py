"""FILTER and BIND that compare with NOW():  Δ = f'(ΔA) + (f' - f) of the rows of A whose time has come.

Rows for which a comparison may still turn out otherwise wait in the order of the instants at which it may. All others
are forgotten: time does not go back, and what is taken away again is judged as it would be now.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tidings.engine.due_times import DueTimes
from tidings.engine.operators.base import Changes, Explanation, Hits, Loader, Operator, States, shown
from tidings.engine.operators.stateful.memory import Memory
from tidings.engine.operators.stateful.turning import Values, atoms, next_turning
from tidings.model.terms import Var
from tidings.model.zset import add
from tidings.sparql.algebra import Expression
from tidings.sparql.evaluate.layout import Layout, Row

Judge = Callable[[Row], Row | None]
"""What becomes of a row at the present instant; None if it does not pass."""


class Waiting:
    """The rows of one member that wait."""

    __slots__ = ("due_times", "weights")

    def __init__(self) -> None:
        self.due_times: DueTimes[Row] = DueTimes()
        self.weights: Changes = {}

    def __len__(self) -> int:
        return len(self.weights)

    def put(self, row: Row, weight: int, at: int | None) -> None:
        if at is not None:
            add(self.weights, row, weight)
            self.due_times.put(row, at if row in self.weights else None)

    def due(self, now: int) -> list[tuple[Row, int, int]]:
        """The rows whose time has come, with their weights and instants; they are taken off."""
        return [(row, self.weights.pop(row), at) for row, at in self.due_times.due(now)]

    def items(self) -> Iterator[tuple[Row, int, int]]:
        return ((row, self.weights[row], at) for row, at in self.due_times.items())

    def extend(self, items: list[tuple[Row, int, int]]) -> None:
        for row, weight, at in items:
            self.put(row, weight, at)


class Clocked:
    """One condition, or one value, that depends on the moment by comparisons with NOW() alone."""

    __slots__ = (
        "_atoms", "_detail", "_due_times", "_inner", "_judge", "_load", "_moment", "_states", "_width", "layout",
        "memory",
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
        self.memory: Memory[Waiting] = Memory(Waiting, Waiting.items, Waiting.extend)
        self._due_times: DueTimes[Row] = DueTimes()
        """The members, by the first instant that each has to wait for."""

    def due(self) -> int | None:
        """When a row has to be looked at next."""
        return self._due_times.next()

    def _turning(self, row: Row) -> int | None:
        return next_turning(self._atoms, row, self._moment.now)

    def delta(self, hits: Hits) -> Changes:
        changes: Changes = {}
        members: dict[Row, Waiting] = {}
        for member, _ in list(self._due_times.due(self._moment.now)):
            members[member] = self.memory.states[member]
            self._turn(members[member], changes)
        for row, weight in self._inner.delta(hits).items():
            member = row[: self._width]
            waiting = self.memory.states.get(member)
            if waiting is not None:
                members[member] = waiting
                waiting.put(row, weight, self._turning(row))
                self._tell(changes, self._judge(row), weight)
        for member, waiting in members.items():
            self._due_times.put(member, waiting.due_times.next())
        return changes

    def _turn(self, waiting: Waiting, changes: Changes) -> None:
        """Judge the rows of a member anew whose time has come."""
        due = waiting.due(self._moment.now)
        if due:
            self._states.meter.spend(len(due))
        for row, weight, at in due:
            self._tell(changes, self._judged_at(row, at - 1), -weight)
            self._tell(changes, self._judge(row), weight)
            waiting.put(row, weight, self._turning(row))

    def _judged_at(self, row: Row, instant: int) -> Row | None:
        """As it was judged until then: since it began to wait, nothing has turned."""
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
            waiting.put(row, 1, self._turning(row))
        self.memory.states[parameters] = waiting
        self.seat(parameters)

    def seat(self, parameters: Row) -> None:
        """A member whose rows are in the memory already."""
        member = parameters[: self._width]
        self._due_times.put(member, self.memory.states[member].due_times.next())

    def rows(self, parameters: Row) -> Iterable[Row]:
        return (judged for row in self._load(parameters) if (judged := self._judge(row)) is not None)

    def dismiss(self, parameters: Row) -> None:
        self._inner.dismiss(parameters)
        del self.memory.states[parameters]
        self._due_times.put(parameters, None)

    def explain(self) -> Explanation:
        return Explanation("clocked", self._detail, True, (self._inner.explain(),))


def clocked_filter(inner: Operator, load: Loader, width: int, condition: Expression, states: States) -> Clocked:
    """σ by the clock."""
    test = states.compiler(states.new).test(condition, inner.layout)
    detail = "a condition on NOW(), the rows by when it turns"
    return Clocked(inner, load, width, condition, states, inner.layout, lambda row: row if test(row) else None, detail)


def clocked_extend(
    inner: Operator, load: Loader, width: int, variable: Var, expression: Expression, states: States
) -> Clocked:
    """BIND by the clock."""
    value = states.compiler(states.new).value(expression, inner.layout)
    layout = inner.layout.extended((variable,))
    detail = f"{shown(variable)} by NOW(), the rows by when it turns"
    return Clocked(inner, load, width, expression, states, layout, lambda row: (*row, value(row)), detail)
