"""An SPU that evaluates its query again and compares the answers: for queries without a delta rule, and for tests.

A query that binds a language-tagged constant also has an incremental plan. It is valid as long as the store spells the
constant in the same way, and is made again when the spelling has changed.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from msgspec import Struct

from tidings.engine.operators.base import Cache, Changes, Explanation, Hits, Route
from tidings.engine.operators.stateful.memory import Memory, counts
from tidings.engine.plans.spu import Spu, Subscribers, answer_rows
from tidings.model.results import Result
from tidings.model.terms import Term, Var
from tidings.model.zset import absorb
from tidings.sparql.algebra import Dataset
from tidings.sparql.evaluate.context import Meter
from tidings.sparql.evaluate.layout import Row


class Kept(Struct, frozen=True):
    """Makes the incremental plan of a query that binds language-tagged constants."""

    plan: Callable[[Meter], Spu]
    """Makes a plan whose work the meter counts. Its routes always have the same patterns."""
    spelt: Callable[[], tuple[Term | None, ...]]
    """The present spellings of the constants in the store."""


class ReevaluatedSpu:
    """A query and its last answer: one member, which has no parameters."""

    __slots__ = (
        "__weakref__",
        "_answers",
        "_evaluate",
        "_inner",
        "_kept",
        "_memory",
        "_spelt",
        "_why",
        "caches",
        "dataset",
        "members",
        "meter",
        "routes",
    )

    def __init__(
        self,
        evaluate: Callable[[Meter], Result],
        routes: tuple[Route, ...],
        why: str,
        dataset: Dataset,
        kept: Kept | None = None,
    ) -> None:
        self.dataset = dataset
        self._evaluate = evaluate
        self.caches: Sequence[Cache] = ()
        self.meter = Meter()
        self._why = why
        self._kept = kept
        self._inner: Spu | None = None
        """The incremental plan, up to date and valid while the constants have the spelling `_spelt`."""
        self._spelt: tuple[Term | None, ...] = ()
        self.routes = routes
        self.members: dict[Row, Subscribers] = {}
        self._memory = counts()
        self._answers = self._memory.states

    def key(self, route: Route, member: Row) -> tuple[str | None, str | None, str | None]:
        s, p, o = (None if term[0] == "?" else term for term in route.pattern)
        return s, p, o

    def is_own(self, route: Route) -> bool:
        return False

    @property
    def is_clocked(self) -> bool:
        return False

    def due(self) -> int | None:
        return None

    @property
    def variables(self) -> tuple[Var, ...]:
        return ()

    def enrolled(self, member: Row, by: int) -> None:
        pass  # it has no routes of its own

    def concerned(self, hits: Hits) -> int:
        return 0

    def admit(self, member: Row) -> Iterable[Row]:
        self._answers[()] = self._evaluated()
        return self.answer(member)

    def _evaluated(self) -> Changes:
        rows = dict(Counter(answer_rows(self._evaluate(self.meter))))
        self.meter.check()
        return rows

    def seat(self, member: Row) -> None:
        pass  # its only state is the answer, which is in the memory

    def memories(self, member: Row) -> list[tuple[Memory[Any], Row]]:
        return [(self._memory, ())]

    def answer(self, member: Row) -> Iterable[Row]:
        return [row for row, count in self._answers[()].items() for _ in range(count)]

    def dismiss(self, member: Row) -> None:
        del self._answers[()]
        self._inner = None

    def advance(self, hits: Hits) -> dict[Row, Changes]:
        inner, self._inner = self._inner, None  # an aborted step would leave it in an unknown state
        spelt = self._kept.spelt() if self._kept is not None else ()
        if inner is not None and spelt == self._spelt:
            changes = inner.advance(_translated(hits, self.routes, inner.routes)).get((), {})
            self.meter.check()  # before the answer changes, so that it is always the one that was sent
            absorb(self._answers[()], changes.items())
        else:
            now = self._evaluated()
            inner = None if self._kept is None else self._begun(self._kept)
            changes = self._become(now)
        self._inner, self._spelt = inner, spelt
        return {(): changes} if changes else {}

    def _begun(self, kept: Kept) -> Spu:
        plan = kept.plan(self.meter)
        plan.admit(())
        plan.members[()] = {}
        self.meter.check()
        return plan

    def again(self) -> dict[Row, Changes]:
        """As `advance`, by evaluation, whatever the hits."""
        self._inner = None
        changes = self._become(self._evaluated())
        return {(): changes} if changes else {}

    def catch_up(self, member: Row, hits: Hits | None, present: Spu | None) -> Changes:
        if present is not None:  # its evaluation may differ from ours, and its next change is relative to it
            assert isinstance(present, ReevaluatedSpu)
            return self._become(dict(present._answers[()]))
        return {} if hits is None else self._become(self._evaluated())

    def _become(self, now: Changes) -> Changes:
        before, self._answers[()] = self._answers[()], now
        changes = dict(now)
        absorb(changes, ((row, -count) for row, count in before.items()))
        return changes

    def become(self, fresh: Spu) -> None:
        assert isinstance(fresh, ReevaluatedSpu)
        self.members, self._memory, self._answers = fresh.members, fresh._memory, fresh._answers
        self.routes, self._inner = fresh.routes, None

    def explain(self) -> Explanation:
        if self._kept is None:
            return Explanation("re-read", self._why, False)
        detail = "kept while the store spells its language-tagged constants alike"
        inner = self._inner
        return Explanation(
            "spelt", detail if inner else f"{detail}, not begun", True, (inner.explain(),) if inner else ()
        )


def _translated(hits: Hits, outer: Sequence[Route], inner: Sequence[Route]) -> Hits:
    """The hits for the routes of the incremental plan, which come first."""
    return {there: hits[here] for here, there in zip(outer, inner, strict=False) if here in hits}
