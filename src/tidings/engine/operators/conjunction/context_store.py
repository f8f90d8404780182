"""The context store of the SPS paper: caches the rows of a conjunction's other patterns for all members of a plan.

Some values change often, the data around them hardly ever: lamps are dimmed, but not moved to another road. Once the
other patterns have not been hit for a while, the context store fetches all their rows for the members, if they are not
too many. One look-up in it then rejects a changed quad that concerns no member. The context store is emptied as soon as
one of the other patterns is hit or the members change.
"""

from itertools import islice

from tidings.engine.operators.base import Route, States
from tidings.engine.operators.members import Members
from tidings.model.terms import Var
from tidings.sparql.algebra import BGP
from tidings.sparql.evaluate.layout import Layout, Plan, Row, picker

QUIET_COMMITS = 8
"""The rows are fetched when this many commits have not hit the other patterns."""

MOST_ROWS = 4096
"""The most rows that are stored."""

MOST_WORK = 4 * MOST_ROWS
"""The most rows that are looked up to find them."""

COMMITS_TO_RETRY = 10_000
"""If the rows were too many, or took too much work, the next attempt is this many commits later."""


class ContextStore:
    """Rows of the other patterns by the variables that they share with the seed, for all members."""

    __slots__ = ("_members", "_meter", "_plan", "_rows", "_target", "_version", "_width", "quiet_commits")

    def __init__(
        self, others: list[Route], shared: tuple[Var, ...], target: Layout, states: States, members: Members | None
    ) -> None:
        self._members = members
        self._meter = states.meter
        self._rows: dict[Row, list[Row]] | None = None
        self.quiet_commits = 0
        """How many commits have not hit the other patterns; negative while it waits for its next attempt."""
        self._version = 0
        self._width = len(shared)
        self._plan: Plan | None = None
        if members is not None and others:
            given = Layout(members.variables, frozenset(members.variables))
            self._plan = states.plan(BGP(tuple(route.pattern for route in others)), states.new, given)
            self._target = picker([self._plan.layout.index[variable] for variable in target.variables])

    def rows(self) -> dict[Row, list[Row]] | None:
        """All rows by the shared variables, which are their first columns; None if they are not stored."""
        members = self._members
        if self._plan is None or members is None:
            return None
        if self._version != members.version:
            self.invalidate()
            self._version = members.version
        if self._rows is None:
            self.quiet_commits += 1
            if self.quiet_commits > QUIET_COMMITS:
                self._fill(self._plan, members)
        return self._rows

    def _fill(self, plan: Plan, members: Members) -> None:
        rows: list[Row] | None = None
        if len(members.tuples) <= MOST_ROWS:
            rows = self._meter.limited(MOST_WORK, self._found, plan, members)
        if rows is None or len(rows) > MOST_ROWS:
            self.quiet_commits = -COMMITS_TO_RETRY
            return
        by_shared: dict[Row, list[Row]] = {}
        for row in map(self._target, rows):
            by_shared.setdefault(row[: self._width], []).append(row)
        self._rows = by_shared

    def _found(self, plan: Plan, members: Members) -> list[Row]:
        return list(islice(plan.run(members.matching((), ())), MOST_ROWS + 1))

    def invalidate(self) -> None:
        """Drop the rows: one of the other patterns was hit, or the members have changed."""
        self._rows = None
        self.quiet_commits = min(self.quiet_commits, 0)
