"""BIND:  Δ = f(ΔA), one row at a time."""

from tidings.engine.operators.base import Changes, Explanation, Hits, Operator, States, Unary, shown
from tidings.model.terms import Var
from tidings.sparql.algebra import Expression


class Extend(Unary):
    """BIND: a column more."""

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
