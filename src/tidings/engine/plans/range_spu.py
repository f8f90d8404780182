"""An SPU whose members differ in the threshold of a range filter: a plan without the filter, and sorted thresholds."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tidings.engine.operators.base import Cache, Changes, Explanation, Hits, Route
from tidings.engine.operators.stateful.memory import Memory
from tidings.engine.operators.thresholds import Range, Thresholds
from tidings.engine.plans.incremental_spu import IncrementalSpu
from tidings.engine.plans.spu import Spu, Subscribers
from tidings.model.terms import Term, Var
from tidings.model.zset import add
from tidings.sparql.evaluate.context import Meter
from tidings.sparql.evaluate.layout import Row


class RangeSpu:
    """An SPU whose members differ in a threshold as well, which is the last of their parameters."""

    __slots__ = (
        "__weakref__",
        "_column",
        "_condition",
        "_inner",
        "_pick",
        "_sizes",
        "_thresholds",
        "dataset",
        "members",
        "routes",
    )

    def __init__(self, inner: IncrementalSpu, condition: Range, column: int, pick: Callable[[Row], Row]) -> None:
        self._inner = inner
        self._condition = condition
        self._column = column
        self._pick = pick
        self._thresholds: dict[Row, Thresholds] = {}
        self._sizes: dict[Row, int] = {}
        self.dataset = inner.dataset
        self.routes = inner.routes
        self.members: dict[Row, Subscribers] = {}

    @property
    def caches(self) -> Sequence[Cache]:
        return self._inner.caches

    @property
    def is_clocked(self) -> bool:
        return self._inner.is_clocked

    def due(self) -> int | None:
        return self._inner.due()

    @property
    def meter(self) -> Meter:
        return self._inner.meter

    @property
    def variables(self) -> tuple[Var, ...]:
        return (*self._inner.variables, "?$threshold")

    def key(self, route: Route, member: Row) -> tuple[str | None, str | None, str | None]:
        return self._inner.key(route, member)

    def is_own(self, route: Route) -> bool:
        return self._inner.is_own(route)

    def enrolled(self, member: Row, by: int) -> None:
        add(self._sizes, member[:-1], by)

    def concerned(self, hits: Hits) -> int:
        return sum(self._sizes[shared] for shared in self._inner.matched(hits))

    def admit(self, member: Row) -> Iterable[Row]:
        shared = member[:-1]
        if shared not in self._thresholds:
            self._inner.admit(shared)
            self._enter(shared)
        self._thresholds[shared].add(member[-1] or "")
        return self.answer(member)

    def _enter(self, shared: Row) -> None:
        self._inner.members[shared] = {}
        self._thresholds[shared] = Thresholds(self._condition)

    def seat(self, member: Row) -> None:
        shared = member[:-1]
        if shared not in self._thresholds:
            self._inner.seat(shared)
            self._enter(shared)
        self._thresholds[shared].add(member[-1] or "")

    def memories(self, member: Row) -> list[tuple[Memory[Any], Row]]:
        return self._inner.memories(member[:-1])

    def answer(self, member: Row) -> Iterable[Row]:
        threshold, column, holds = member[-1] or "", self._column, self._condition.holds
        rows = self._inner.answer(member[:-1])
        return [self._pick(row) for row in rows if (value := row[column]) is not None and holds(value, threshold)]

    def dismiss(self, member: Row) -> None:
        shared, threshold = member[:-1], member[-1] or ""
        self._thresholds[shared].remove(threshold)
        if not self._thresholds[shared]:
            del self._thresholds[shared], self._inner.members[shared]
            self._inner.dismiss(shared)

    def advance(self, hits: Hits) -> dict[Row, Changes]:
        column, pick = self._column, self._pick
        told: dict[Row, Changes] = {}
        for shared, changes in self._inner.advance(hits).items():
            by_row: dict[Row, list[tuple[Term, int]]] = {}
            for row, weight in changes.items():
                value = row[column]
                if value is not None:
                    by_row.setdefault(pick(row), []).append((value, weight))
            for shown, values in by_row.items():
                for threshold, weight in self._thresholds[shared].crossed(values):
                    told.setdefault((*shared, threshold), {})[shown] = weight
        return told

    def catch_up(self, member: Row, hits: Hits | None, present: Spu | None) -> Changes:
        return self.advance(hits or {}).get(member, {}) if hits or self.is_clocked else {}

    def become(self, fresh: Spu) -> None:
        assert isinstance(fresh, RangeSpu)
        self._inner, self._thresholds = fresh._inner, fresh._thresholds
        self.members, self.routes = fresh.members, fresh.routes

    def explain(self) -> Explanation:
        detail = f"{self._condition.variable} {self._condition.operator} threshold, by a sorted index"
        return Explanation("range", detail, True, (self._inner.explain(),))
