"""GRAPH ?g around MINUS and EXISTS, spread over their parts, each of which then says for itself in which graph it is.

    GRAPH ?g { A MINUS B }             =  GRAPH ?g { A } MINUS { GRAPH ?g { B } }
    GRAPH ?g { A FILTER EXISTS { B } } =  GRAPH ?g { A } FILTER EXISTS { GRAPH ?g { B } }

So they are kept up to date like any others, and not evaluated graph by graph. Every part must have triples of the
graph, and none may read ?g, which is not bound yet where they stand. MINUS needs a variable that both sides always
bind: without, whether it takes anything away would be another question once both have ?g.
"""

from tidings.engine.plans.routes import has_exists
from tidings.model.terms import Var
from tidings.sparql import algebra
from tidings.sparql.algebra import Exists, Expression, Graph, Node, certain, every_variable, operands
from tidings.sparql.evaluate.pushing import binds_graph, shared_variables


def spread(name: Var, inner: Node) -> Node | None:
    """The same as GRAPH with a variable around a pattern; None if it has to stay around the whole of it."""
    return None if name in every_variable(inner) else _spread(name, inner)


def _spread(name: Var, node: Node) -> Node | None:
    if binds_graph(node, name):
        return Graph(name, node)
    match node:
        case algebra.Minus(left, right) if not shared_variables(left, right):
            return _spread(name, left)
        case algebra.Minus(left, right):
            both = _both(name, left, right) if certain(left) & certain(right) else None
            return None if both is None else algebra.Minus(*both)
        case algebra.Join(left, right):
            both = _both(name, left, right)
            return None if both is None else algebra.Join(*both)
        case algebra.Union(left, right):
            both = _both(name, left, right)
            return None if both is None else algebra.Union(*both)
        case algebra.LeftJoin(left, right, condition):
            both = _both(name, left, right)
            if both is None or (condition is not None and has_exists(condition)):
                return None
            return algebra.LeftJoin(*both, condition)
        case algebra.Filter(condition, inner):
            below, asked = _spread(name, inner), _asked(name, condition)
            return None if below is None or asked is None else algebra.Filter(asked, below)
        case algebra.Extend(inner, variable, expression):
            below, asked = _spread(name, inner), _asked(name, expression)
            return None if below is None or asked is None else algebra.Extend(below, variable, asked)
        case _:
            return None


def _both(name: Var, left: Node, right: Node) -> tuple[Node, Node] | None:
    first, second = _spread(name, left), _spread(name, right)
    return None if first is None or second is None else (first, second)


def _asked(name: Var, expression: Expression) -> Expression | None:
    """An expression that asks for its patterns in the graph of the row; only where EXISTS is the whole of a condition,
    or one of several, or denied."""
    match expression:
        case Exists(pattern):
            inside = _spread(name, pattern)
            return None if inside is None else Exists(inside)
        case algebra.Not(inner):
            asked = _asked(name, inner)
            return None if asked is None else algebra.Not(asked)
        case algebra.And(left, right) | algebra.Or(left, right):
            first, second = _asked(name, left), _asked(name, right)
            return None if first is None or second is None else type(expression)(first, second)
        case _:
            return None if any(map(has_exists, operands(expression))) else expression
