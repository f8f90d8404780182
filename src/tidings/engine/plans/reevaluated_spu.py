"""Evaluates its query anew and compares: the reference, and the way of whatever depends on the moment."""

from collections import Counter
from collections.abc import Callable, Iterable

from tidings.engine.operators.base import Changes, Explanation, Hits, Route
from tidings.engine.plans.spu import Subscribers, answer_rows
from tidings.model.results import Result
from tidings.model.terms import Var
from tidings.model.zset import absorb
from tidings.sparql.algebra import Dataset
from tidings.sparql.evaluate.layout import Row


class ReevaluatedSpu:
    """A query and its last answer: one member, which has no parameters."""

    __slots__ = ("__weakref__", "_answer", "_evaluate", "_why", "dataset", "members", "routes")

    def __init__(self, evaluate: Callable[[], Result], routes: tuple[Route, ...], why: str, dataset: Dataset) -> None:
        self.dataset = dataset
        self._evaluate = evaluate
        self._why = why
        self.routes = routes
        self.members: dict[Row, Subscribers] = {}
        self._answer: Counter[Row] = Counter()

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
        self._answer = Counter(answer_rows(self._evaluate()))
        return list(self._answer.elements())

    def answer(self, member: Row) -> Iterable[Row]:
        return list(self._answer.elements())

    def dismiss(self, member: Row) -> None:
        self._answer.clear()

    def advance(self, hits: Hits) -> dict[Row, Changes]:
        before, self._answer = self._answer, Counter(answer_rows(self._evaluate()))
        changes: Changes = dict(self._answer)
        absorb(changes, ((row, -count) for row, count in before.items()))
        return {(): changes} if changes else {}

    def explain(self) -> Explanation:
        return Explanation("re-read", self._why, False)
