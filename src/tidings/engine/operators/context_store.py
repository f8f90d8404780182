"""The surroundings of a pattern: what the other patterns of a conjunction say for the members of a family.

Values change all the time in a world that hardly does: lamps are dimmed, but not moved to another road. Once the other
patterns have been quiet for a while, everything they say about the members is put at hand, if it is not much. A changed
quad that concerns no member is then dismissed by one look-up. It is the context store of the SPS paper, kept only where
it pays, and forgotten as soon as one of the other patterns is hit or the members change.
"""

from collections.abc import Collection, Iterable
from itertools import islice
from typing import Protocol

from tidings.engine.operators.base import Route, States
from tidings.model.terms import Var
from tidings.sparql.algebra import BGP
from tidings.sparql.evaluate.layout import Layout, Plan, Row, picker

_QUIET = 8
"""Commits that the other patterns have to be left alone for."""

_MOST = 4096
"""Rows that are kept at most."""

_PATIENCE = 10_000
"""Commits to wait before trying again what was too much."""


class Membership(Protocol):
    """The parameter tuples of the subscriptions that share a plan."""

    @property
    def variables(self) -> tuple[Var, ...]: ...
    @property
    def members(self) -> Collection[Row]: ...
    @property
    def version(self) -> int:
        """Another number whenever there are other members."""

    def matching(self, columns: tuple[int, ...], values: Row) -> Iterable[Row]:
        """The tuples that have these values in these columns."""


class Surroundings:
    """Rows of the other patterns by the variables that they share with the seed, for all members."""

    __slots__ = ("_known", "_members", "_plan", "_quiet", "_target", "_version", "_width")

    def __init__(
        self, others: list[Route], shared: tuple[Var, ...], target: Layout, states: States, members: Membership | None
    ) -> None:
        self._members = members
        self._known: dict[Row, list[Row]] | None = None
        self._quiet = 0
        self._version = 0
        self._width = len(shared)
        self._plan: Plan | None = None
        if members is not None and others:
            given = Layout(members.variables, frozenset(members.variables))
            self._plan = states.plan(BGP(tuple(route.pattern for route in others)), states.new, given)
            self._target = picker([self._plan.layout.index[variable] for variable in target.variables])

    def known(self) -> dict[Row, list[Row]] | None:
        """All rows, by the shared variables in front of them; None if they are not at hand."""
        members = self._members
        if self._plan is None or members is None:
            return None
        if self._version != members.version:
            self.forget()
            self._version = members.version
        if self._known is None:
            self._quiet += 1
            if self._quiet > _QUIET:
                self._gather(self._plan, members)
        return self._known

    def _gather(self, plan: Plan, members: Membership) -> None:
        rows: list[Row] = []
        if len(members.members) <= _MOST:
            rows = list(islice(plan.run(members.matching((), ())), _MOST + 1))
        if len(members.members) > _MOST or len(rows) > _MOST:
            self._quiet = -_PATIENCE
            return
        known: dict[Row, list[Row]] = {}
        for row in map(self._target, rows):
            known.setdefault(row[: self._width], []).append(row)
        self._known = known

    def forget(self) -> None:
        """One of the other patterns was hit."""
        self._known = None
        self._quiet = min(self._quiet, 0)
