"""Evaluates its query anew and compares: the reference, and the way of whatever depends on the moment."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tidings.engine.operators.base import Cache, Changes, Explanation, Hits, Route
from tidings.engine.operators.stateful.memory import Memory, counts
from tidings.engine.plans.spu import Spu, Subscribers, answer_rows
from tidings.model.results import Result
from tidings.model.terms import Var
from tidings.model.zset import absorb
from tidings.sparql.algebra import Dataset
from tidings.sparql.evaluate.context import Meter
from tidings.sparql.evaluate.layout import Row


class ReevaluatedSpu:
    """A query and its last answer: one member, which has no parameters."""

    __slots__ = (
        "__weakref__",
        "_answers",
        "_evaluate",
        "_memory",
        "_why",
        "caches",
        "dataset",
        "members",
        "meter",
        "routes",
    )

    def __init__(
        self, evaluate: Callable[[Meter], Result], routes: tuple[Route, ...], why: str, dataset: Dataset
    ) -> None:
        self.dataset = dataset
        self._evaluate = evaluate
        self.caches: Sequence[Cache] = ()
        self.meter = Meter()
        self._why = why
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
        pass  # there is nothing but its answer

    def memories(self, member: Row) -> list[tuple[Memory[Any], Row]]:
        return [(self._memory, ())]

    def answer(self, member: Row) -> Iterable[Row]:
        return [row for row, count in self._answers[()].items() for _ in range(count)]

    def dismiss(self, member: Row) -> None:
        del self._answers[()]

    def advance(self, hits: Hits) -> dict[Row, Changes]:
        changes = self._become(self._evaluated())
        return {(): changes} if changes else {}

    def catch_up(self, member: Row, hits: Hits | None, present: Spu | None) -> Changes:
        if present is not None:  # it may have come out otherwise there, and that is what the next change is to
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
        self.routes = fresh.routes

    def explain(self) -> Explanation:
        return Explanation("re-read", self._why, False)
