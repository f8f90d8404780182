"""Finds the rows on the left side of EXISTS, OPTIONAL or MINUS that a change on the right side concerns."""

from collections.abc import Callable, Iterable
from itertools import product
from typing import Protocol, TypeAlias

from tidings.engine.operators.base import Aligned, Changes, Explanation, Hits, Operator, Route, States, is_hit, shown
from tidings.engine.operators.members import LookedUp
from tidings.engine.operators.side import Filed, Side
from tidings.model.terms import Var
from tidings.model.zset import absorb
from tidings.sparql.algebra import Node
from tidings.sparql.evaluate.joins import MOST_LACKING, agree, excludes
from tidings.sparql.evaluate.layout import EMPTY, ONE, Layout, Row, picker
from tidings.sparql.evaluate.pushing import pushable

Turned: TypeAlias = Callable[[], bool]
"""Whether there are solutions now and were none before, or the reverse."""


def leading_back(right: Layout, left: Layout, sure: frozenset[Var]) -> tuple[Var, ...]:
    """The variables, all of them `sure`, by which changed rows of the right lead to rows of the left: those that the
    left always binds or, if there are none, up to MOST_LACKING that its rows may lack."""
    both = [variable for variable in right.variables if variable in left.index and variable in sure]
    return tuple(v for v in both if v in left.certain) or tuple(both[:MOST_LACKING])


def meeting(right: Layout, left: Layout) -> tuple[Var, ...]:
    """The same where the rows of both sides are kept: variables that the right always binds or, if none of these leads
    to the left, any others."""
    return leading_back(right, left, right.certain) or leading_back(right, left, frozenset(right.variables))


class Witness:
    """Watches a pattern on the right side of EXISTS, OPTIONAL or MINUS. It reports the bindings of the shared variables
    for which the pattern has changed."""

    __slots__ = ("_coarse", "_operator", "_pick", "_turned", "shared", "with_left")

    def __init__(
        self,
        operator: Operator | None,
        shared: tuple[Var, ...],
        coarse: tuple[Route, ...],
        *,
        with_left: bool = False,
        turned: Turned | None = None,
    ) -> None:
        self._turned = turned
        """For EXISTS that is the same for all rows: whether it has become true or false."""
        self.with_left = with_left
        """Whether the pattern includes the left side. Then it shows no change for rows that the same commit removes."""
        self.shared = shared if operator is not None else ()
        self._operator = operator
        self._coarse = coarse
        self._pick = picker([] if operator is None else [operator.layout.index[v] for v in shared])

    def admit(self, parameters: Row) -> None:
        if self._operator is not None:
            self._operator.admit(parameters)

    def dismiss(self, parameters: Row) -> None:
        if self._operator is not None:
            self._operator.dismiss(parameters)

    def changed(self, hits: Hits) -> Iterable[Row]:
        """The changed bindings, each once; the empty row means that any row may be concerned."""
        if self._operator is None:
            return ((),) if is_hit(self._coarse, hits) and self._turns() else ()
        seen = dict.fromkeys(self._pick(row) for row in self._operator.delta(hits))
        return seen if seen and self._turns() else ()

    def _turns(self) -> bool:
        return self._turned is None or self._turned()

    def explain(self) -> Explanation:
        if self._operator is None:
            return Explanation("witness", "any change here re-tests every row", False)
        names = ", ".join(map(shown, self.shared))
        how = f"changes lead to rows by {names or 'nothing'}" if self._turned is None else "all rows, when it turns"
        return Explanation("witness", how, True, (self._operator.explain(),))


def turning(asked: Node, states: States) -> Turned:
    """A test for a pattern without variables of the rows outside: whether it has solutions now and had none before, or
    the reverse."""
    now = Aligned(lambda: states.plan(asked, states.new), EMPTY, states.epoch)
    before = Aligned(lambda: states.plan(asked, states.old), EMPTY, states.epoch)
    return lambda: next(iter(now.run(ONE)), None) != next(iter(before.run(ONE)), None)


class RowsConcerned(Protocol):
    """Finds the rows of the left side, before the commit, that agree with the bindings that a witness reports."""

    def by(self, bindings: Iterable[Row]) -> Changes: ...

    def absorb(self, changes: Changes) -> None:
        """Apply the changes of the left side, after the last call of `by` at this commit."""

    def forget(self) -> None:
        """Drop kept rows, because they may be wrong."""

    def explain(self) -> str: ...


def rows_concerned(
    left: Side, shared: tuple[Var, ...], states: States, *, lacking: bool = False, overlapping: bool = False
) -> RowsConcerned:
    """Looks the rows up if they can be evaluated from the shared variables. Keeps them otherwise: if the left side has
    an aggregate, or if its rows or the bindings (`lacking`) may lack a shared variable. With `overlapping`, a binding
    concerns only rows that have one of its values."""
    if not lacking and left.layout.certain.issuperset(shared) and pushable(left.node, set(shared)):
        return _LookedUp(left, shared, states)
    return _Kept(left, shared, states, overlapping)


class _LookedUp:
    __slots__ = ("_looked_up", "_side")

    def __init__(self, left: Side, shared: tuple[Var, ...], states: States) -> None:
        self._side = left
        self._looked_up = LookedUp(
            lambda given: states.plan(left.node, states.old, given),
            Layout(shared, frozenset(shared)), left.layout, left.members, states.epoch, everybody=not shared,
        )  # fmt: skip

    def by(self, bindings: Iterable[Row]) -> Changes:
        rows = list(bindings)
        found: Changes = {}
        if rows:
            absorb(found, ((row, 1) for row in self._looked_up.run(rows)))
        return self._side.of_members(found)  # rows of no member need no test

    def absorb(self, changes: Changes) -> None:
        pass

    def forget(self) -> None:
        pass

    def explain(self) -> str:
        return ""


class _Kept:
    """All rows of the left, by the shared variables. A row or binding that lacks one agrees with every value of it."""

    __slots__ = ("_may_lack", "_overlapping", "_rows", "_shared", "_side")

    def __init__(self, left: Side, shared: tuple[Var, ...], states: States, overlapping: bool) -> None:
        self._overlapping = overlapping
        self._side = left
        self._shared = shared
        self._may_lack = [variable not in left.layout.certain for variable in shared]
        self._rows = Filed(picker([left.layout.index[variable] for variable in shared]), left, states)

    def by(self, bindings: Iterable[Row]) -> Changes:
        known = list(bindings)
        found: Changes = {}
        if known:
            self._rows.begin()
        buckets = self._rows.buckets
        if buckets is not None:
            for key in dict.fromkeys(key for binding in known for key in self._keys(binding, buckets)):
                found.update(buckets.get(key, {}))
        return found

    def _keys(self, binding: Row, known: Iterable[Row]) -> Iterable[Row]:
        """The keys of the rows that a binding concerns: its own, and those that lack a variable that rows may lack."""
        keys: Iterable[Row]
        if None in binding:
            keys = [key for key in known if agree(binding, key)]
        else:
            cells = zip(binding, self._may_lack, strict=True)
            keys = product(*[(cell, None) if lacks else (cell,) for cell, lacks in cells])
        return [key for key in keys if excludes(key, binding)] if self._overlapping else keys

    def absorb(self, changes: Changes) -> None:
        self._rows.absorb(self._side.of_members(changes))

    def forget(self) -> None:
        self._rows.forget()

    def explain(self) -> str:
        return f", rows of A kept by {', '.join(map(shown, self._shared)) or 'nothing'}"
