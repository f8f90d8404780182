"""FILTER, without and with EXISTS:  Δ = σ'(ΔA) + (σ' - σ) of the rows of A that a change inside EXISTS concerns."""

from collections.abc import Iterator, Sequence
from functools import partial

from tidings.engine.operators.base import Changes, Explanation, Hits, Operator, States, Unary
from tidings.engine.operators.dependent.dependent import Dependent, DependentOnKept
from tidings.engine.operators.dependent.witness import Witness
from tidings.engine.operators.side import Kept, Side
from tidings.model.terms import Var
from tidings.sparql import algebra
from tidings.sparql.algebra import Expression, Node
from tidings.sparql.evaluate.context import Context
from tidings.sparql.evaluate.layout import Plan, Row
from tidings.sparql.evaluate.steps import filtered


class Filter(Unary):
    """σ without EXISTS: the changed rows that pass."""

    __slots__ = ("_test", "layout")

    def __init__(self, inner: Operator, condition: Expression, states: States) -> None:
        super().__init__(inner)
        self.layout = inner.layout
        self._test = states.compiler(states.new).test(condition, inner.layout)

    def delta(self, hits: Hits) -> Changes:
        test = self._test
        return {row: weight for row, weight in self._inner.delta(hits).items() if test(row)}

    def explain(self) -> Explanation:
        return Explanation("filter", "tests the changed rows", True, (self._inner.explain(),))


def filter_exists(inner: Side, condition: Expression, witnesses: Sequence[Witness], states: States) -> Dependent:
    """σ with EXISTS: Δ = σ'(ΔA) + (σ' - σ) of those rows of A that a change inside EXISTS concerns."""

    def plan(context: Context) -> Plan:
        return Plan(inner.layout, partial(filtered, iter, states.compiler(context).test(condition, inner.layout)))

    detail = "tests the changed rows, and those that a change inside EXISTS concerns"
    whole = algebra.Filter(condition, inner.node)
    return Dependent("filter exists", inner, witnesses, plan, whole, states, detail)


def exists_kept(
    left: Side, right: Side, key: Var, condition: Expression, whole: Node, states: States, *, wanted: bool
) -> DependentOnKept:
    """σ with EXISTS, or with NOT EXISTS if not `wanted`, where both sides share only a key, and the rows of the right
    side are kept by it."""
    kept = Kept(left.layout, right, states)
    test = states.compiler(states.new).test(condition, kept.layout)

    def become(row: Row) -> Iterator[tuple[Row, int]]:
        if any(test(together) for together, _ in kept.matches(row)) is wanted:
            yield row, 1

    return DependentOnKept("filter exists", left, right, (key,), kept, become, left.layout, whole, states)
