"""MINUS: the rows of A that no row of B excludes."""

from tidings.engine.operators.base import Operator, States
from tidings.engine.operators.dependent import Dependent
from tidings.engine.operators.witness import Witness
from tidings.sparql.algebra import Node
from tidings.sparql.evaluate.context import Context
from tidings.sparql.evaluate.layout import Plan


def minus(left: Operator, nodes: tuple[Node, Node], witness: Witness, states: States) -> Dependent:
    """A - B, of an operator for A, and a witness of B."""

    def plan(context: Context) -> Plan:
        return states.compiler(context).minus(Plan(left.layout, iter), *nodes)

    return Dependent("minus", left, nodes[0], witness, (plan(states.new), plan(states.old)), states)
