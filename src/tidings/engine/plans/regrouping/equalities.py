"""Patterns that nothing but `FILTER (?a = ?b)` connects, joined by a key that equal values share.

    A . B FILTER (f(a) = g(b))  =  { A BIND (key(f(a)) AS ?k) } { B BIND (key(g(b)) AS ?k) } FILTER (f(a) = g(b))

Otherwise every row of A would meet every row of B.
"""

from tidings.engine.plans.regrouping.path_groups import connected_parts
from tidings.engine.plans.routes import has_exists
from tidings.model.terms import Var
from tidings.sparql import algebra
from tidings.sparql.algebra import Call, Expression, Extend, Filter, Join, Node, Project, mentioned, visible
from tidings.sparql.evaluate.calls import EQUALITY_KEY, is_momentary

_KEY: Var = "?:key"


def joined_by_value(node: Node, graph: str) -> Node:
    """The same pattern; the node itself, if it is no filter that connects two patterns in this way. Inside GRAPH ?g,
    that connects them already."""
    if not isinstance(node, Filter) or not isinstance(node.inner, Join | algebra.BGP) or graph[:1] == "?":
        return node
    parts = connected_parts(node.inner)
    if len(parts) != 2:
        return node
    left, right = parts
    for each in algebra.conjuncts(node.condition):
        match each:
            case algebra.Compare("=", a, b) if _reads(a, left) and _reads(b, right):
                return _keyed(node, (left, a), (right, b))
            case algebra.Compare("=", a, b) if _reads(b, left) and _reads(a, right):
                return _keyed(node, (left, b), (right, a))
    return node


def _reads(expression: Expression, part: Node) -> bool:
    """Whether an expression is about a part alone."""
    read = set(mentioned(expression))
    is_plain = not has_exists(expression) and not is_momentary(expression)
    return bool(read) and is_plain and read <= set(visible(part))


def _keyed(node: Filter, left: tuple[Node, Expression], right: tuple[Node, Expression]) -> Node:
    sides = [
        Filter(Call("BOUND", (_KEY,)), Extend(part, _KEY, Call(EQUALITY_KEY, (expression,))))
        for part, expression in (left, right)
    ]
    return Project(Filter(node.condition, Join(*sides)), tuple(visible(node)))
