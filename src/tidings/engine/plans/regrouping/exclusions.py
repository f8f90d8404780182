"""MINUS: the variables of its right side that can exclude rows, which are those that both sides have."""

from functools import reduce

from tidings.model.terms import Var
from tidings.sparql.algebra import Call, Expression, Filter, Node, Or, Project, certain


def excluding(right: Node, shared: list[Var]) -> Node:
    """The right side of MINUS, projected to the shared variables, without rows that bind none of them."""
    shown = Project(right, tuple(shared))
    if certain(right).intersection(shared):
        return shown
    bound: list[Expression] = [Call("BOUND", (variable,)) for variable in shared]
    return Filter(reduce(Or, bound), shown)
