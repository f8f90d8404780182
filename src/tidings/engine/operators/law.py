"""The law: no operator spends more on a delta than it would on evaluating its pattern again.

Work is counted, not timed. The cost of an evaluation is known from the last one; before the first, an operator may
spend a fixed amount. An operator that has spent its budget on a delta stops, and evaluates its pattern, before and
after the commit. It keeps this answer, so that each of the next commits costs one evaluation, until it tries its delta
rule again: after one commit, then after two, four, eight.
"""

from collections.abc import Callable, Iterable
from typing import ParamSpec

from tidings.engine.operators.base import Aligned, Changes, States
from tidings.engine.operators.members import Members
from tidings.model.zset import absorb
from tidings.sparql.algebra import Node
from tidings.sparql.evaluate.layout import ONE, Layout, Row

P = ParamSpec("P")

UNNOTICED = 16_384
"""The work that a delta may always take."""

OF_A_MEMBER = 16
"""The work that a delta may always take for each member in addition."""

OF_A_CHANGE = 64
"""The work that each changed row adds to the budget of a delta."""

LONGEST_WAIT = 1024
"""After at most this many commits, a delta rule is tried again."""


class Law:
    """The budget of one operator's deltas, and the evaluation that replaces a delta which exceeds it."""

    __slots__ = ("_answer", "_cost", "_failures", "_members", "_new", "_old", "_states", "_waits", "times")

    def __init__(self, node: Node, layout: Layout, states: States, members: Members | None) -> None:
        given = None if members is None else Layout(members.variables, frozenset(members.variables))
        self._states = states
        self._members = members
        self._new = Aligned(lambda: states.plan(node, states.new, given), layout, states.epoch)
        self._old = Aligned(lambda: states.plan(node, states.old, given), layout, states.epoch)
        self._cost = 0
        self._failures = 0
        self._waits = 0
        self._answer: tuple[int, Changes] | None = None
        """The version of the members and their last answer, while the next commits are evaluated, too."""
        self.times = 0
        """How often the pattern was evaluated in place of a delta."""

    def within(self, size: int, work: Callable[P, Changes], *args: P.args, **kwargs: P.kwargs) -> Changes | None:
        """The changes that `work` finds for `size` changed rows. None if that exceeds the budget, or if the delta rule
        is not to be tried at this commit."""
        if self._waits:
            self._waits -= 1
            return None
        meter = self._states.meter
        known = UNNOTICED if self._members is None else UNNOTICED + OF_A_MEMBER * len(self._members.tuples)
        changes = meter.limited(max(self._cost, known) + OF_A_CHANGE * size, work, *args, **kwargs)
        if changes is None:
            self._failures += 1
            self._waits = min(2**self._failures, LONGEST_WAIT) - 1
            return None
        self._failures = 0
        self._answer = None
        return changes

    def did_without(self) -> None:
        """Called if the changes of a commit took no look-ups. The last answer is out of date then."""
        self._answer = None

    def again(self) -> Changes:
        """The changes, by evaluating the pattern. Raises Overrun."""
        self.times += 1
        rows, version = self._given()
        answer, cost = self._evaluated(self._new, rows)
        self._cost = max(cost, 1)
        changes = dict(answer)
        if self._answer is None or self._answer[0] != version:
            before, _ = self._evaluated(self._old, rows)
        else:
            before = self._answer[1]
        absorb(changes, ((row, -count) for row, count in before.items()))
        self._answer = (version, answer) if self._waits else None
        return changes

    def _evaluated(self, plan: Aligned, rows: tuple[Row, ...]) -> tuple[Changes, int]:
        """The rows of a plan with their counts, and the work that they took."""
        return self._states.meter.apart(lambda: _counted(plan.run(rows)))

    def _given(self) -> tuple[tuple[Row, ...], int]:
        members = self._members
        return (ONE, 0) if members is None else (tuple(members.tuples), members.version)

    def shown(self) -> str:
        """For EXPLAIN."""
        return f", evaluated again {self.times:,} time(s)" if self.times else ""


def _counted(rows: Iterable[Row]) -> Changes:
    answer: Changes = {}
    absorb(answer, ((row, 1) for row in rows))
    return answer
