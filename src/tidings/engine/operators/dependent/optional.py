"""OPTIONAL: a row of A with its rows of B, or alone if there are none."""

from tidings.engine.operators.base import Operator, States
from tidings.engine.operators.dependent import Dependent
from tidings.engine.operators.witness import Witness
from tidings.sparql.algebra import Expression, Node
from tidings.sparql.evaluate.context import Context
from tidings.sparql.evaluate.layout import Plan
from tidings.sparql.rewrite import rewrite


def optional(
    left: Operator, nodes: tuple[Node, Node], condition: Expression | None, witness: Witness, states: States
) -> Dependent:
    """A ⟕ B, of an operator for A, and a witness of B."""
    a, b = nodes

    def plan(context: Context) -> Plan:
        ordered = rewrite(b, context.view, left.layout.certain)
        return states.compiler(context).left_join(Plan(left.layout, iter), ordered, condition)

    return Dependent("optional", left, a, witness, (plan(states.new), plan(states.old)), states)
