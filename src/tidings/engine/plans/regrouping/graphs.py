"""GRAPH around more than triple patterns, spread over the parts, each of which then says for itself where it is.

    GRAPH ?g { A MINUS B }                     =  GRAPH ?g { A } MINUS { GRAPH ?g { B } }
    GRAPH ?g { A FILTER EXISTS { B } }         =  GRAPH ?g { A } FILTER EXISTS { GRAPH ?g { B } }
    GRAPH ?g { SELECT ?k … { A } GROUP BY ?k } =  SELECT ?g ?k … { GRAPH ?g { A } } GROUP BY ?g ?k
    GRAPH ?g { OPTIONAL { A } }                =  GRAPH ?g { } OPTIONAL { GRAPH ?g { A } }

So they are kept up to date like any others, and not evaluated graph by graph. No part may read ?g, which is not bound
yet where they stand. MINUS needs a variable that both sides always bind: without, whether it takes anything away would
be another question once both have ?g. LIMIT counts in each graph. Where it has to, GRAPH stays around a part.
"""

from tidings.engine.plans.routes import has_exists
from tidings.sparql import algebra
from tidings.sparql.algebra import UNIT, Exists, Expression, Graph, Node, certain, every_variable, operands
from tidings.sparql.evaluate.pushing import binds_graph, needs_triples, shared_variables


def spread(node: Graph) -> Node:
    """The same as GRAPH around a pattern; the node itself if it has to stay around the whole of it."""
    return node if node.name in every_variable(node.inner) else _spread(node.name, node.inner)


def _spread(name: str, node: Node) -> Node:
    whole = Graph(name, node)
    is_variable = name[0] == "?"
    if binds_graph(node, name) if is_variable else needs_triples(node):
        return whole
    match node:
        case algebra.Values() | Graph():
            return algebra.Join(Graph(name, UNIT), node)
        case algebra.Minus(left, right) if not shared_variables(left, right):
            return _spread(name, left)
        case algebra.Minus(left, right) if is_variable and not certain(left) & certain(right):
            return whole
        case algebra.LeftJoin(_, _, condition) if condition is not None and has_exists(condition):
            return whole
        case algebra.Minus() | algebra.Join() | algebra.Union() | algebra.LeftJoin() | algebra.Distinct():
            return algebra.rebuilt(node, lambda inner: _spread(name, inner))
        case algebra.Filter(condition, inner):
            asked = _asked(name, condition)
            return whole if asked is None else algebra.Filter(asked, _spread(name, inner))
        case algebra.Extend(inner, variable, expression):
            asked = _asked(name, expression)
            return whole if asked is None else algebra.Extend(_spread(name, inner), variable, asked)
        case algebra.Project(inner, variables):
            return algebra.Project(_spread(name, inner), (*variables, name) if is_variable else variables)
        case algebra.Group(_, _, aggregates) if not any(has_exists(shape) for _, shape in aggregates):
            return _grouped(name, node)
        case _:
            return whole


def _grouped(name: str, node: algebra.Group) -> Node:
    """Without keys, there is a row for each graph, be it of nothing."""
    inside, keys, aggregates = _spread(name, node.inner), node.keys, node.aggregates
    if name[0] != "?":
        found = algebra.Group(inside, keys, aggregates)
        return found if keys else algebra.Join(Graph(name, UNIT), found)
    found = algebra.Group(inside, (*keys, name), aggregates)
    if keys:
        return found
    nothing = algebra.Group(algebra.Values((), ()), (), aggregates)
    return algebra.Union(found, algebra.Join(algebra.Minus(Graph(name, UNIT), inside), nothing))


def _asked(name: str, expression: Expression) -> Expression | None:
    """An expression that asks for its patterns in the graph of the row; only where EXISTS is the whole of a condition,
    or one of several, or denied."""
    match expression:
        case Exists(pattern):
            return Exists(_spread(name, pattern))
        case algebra.Not(inner):
            asked = _asked(name, inner)
            return None if asked is None else algebra.Not(asked)
        case algebra.And(left, right) | algebra.Or(left, right):
            first, second = _asked(name, left), _asked(name, right)
            return None if first is None or second is None else type(expression)(first, second)
        case _:
            return None if any(map(has_exists, operands(expression))) else expression
