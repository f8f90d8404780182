"""BIND:  Δ = f(ΔA). If the expression has EXISTS, also f' - f of the rows that a change inside EXISTS concerns."""

from collections.abc import Sequence
from functools import partial

from tidings.engine.operators.base import Changes, Explanation, Hits, Operator, States, Unary, shown
from tidings.engine.operators.dependent.dependent import Dependent
from tidings.engine.operators.dependent.witness import Witness
from tidings.engine.operators.side import Side
from tidings.model.terms import Var
from tidings.sparql import algebra
from tidings.sparql.algebra import Expression
from tidings.sparql.evaluate.context import Context
from tidings.sparql.evaluate.layout import Plan
from tidings.sparql.evaluate.steps import extended


class Extend(Unary):
    """BIND: adds a column to each row."""

    __slots__ = ("_value", "layout")

    def __init__(self, inner: Operator, variable: Var, expression: Expression, states: States) -> None:
        super().__init__(inner)
        constant = isinstance(expression, str) and (expression[0] != "?" or expression in inner.layout.certain)
        self.layout = inner.layout.extended((variable,), (variable,) if constant else ())
        self._value = states.compiler(states.new).value(expression, inner.layout)

    def delta(self, hits: Hits) -> Changes:
        value = self._value
        return {(*row, value(row)): weight for row, weight in self._inner.delta(hits).items()}

    def explain(self) -> Explanation:
        return Explanation("extend", shown(self.layout.variables[-1]), True, (self._inner.explain(),))


def extend_exists(
    inner: Side, variable: Var, expression: Expression, witnesses: Sequence[Witness], states: States
) -> Dependent:
    """BIND of an expression with EXISTS in it."""
    after = inner.layout.extended((variable,))

    def plan(context: Context) -> Plan:
        return Plan(after, partial(extended, iter, states.compiler(context).value(expression, inner.layout)))

    detail = f"{shown(variable)}, and the rows that a change inside EXISTS concerns"
    whole = algebra.Extend(inner.node, variable, expression)
    return Dependent("extend exists", inner, witnesses, plan, whole, states, detail)
