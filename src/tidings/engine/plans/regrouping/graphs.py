"""Spreads GRAPH over the parts of its pattern, so that each part has a GRAPH of its own.

    GRAPH ?g { A MINUS B }                     =  GRAPH ?g { A } MINUS { GRAPH ?g { B } }
    GRAPH ?g { A FILTER EXISTS { B } }         =  GRAPH ?g { A } FILTER EXISTS { GRAPH ?g { B } }
    GRAPH ?g { SELECT ?k … { A } GROUP BY ?k } =  SELECT ?g ?k … { GRAPH ?g { A } } GROUP BY ?g ?k
    GRAPH ?g { OPTIONAL { A } }                =  GRAPH ?g { } OPTIONAL { GRAPH ?g { A } }

The parts then have their usual delta rules, and are not evaluated graph by graph. No part may read ?g, because it is
not bound yet there. MINUS needs a variable that both sides always bind: otherwise rows that share no bound variable
would share ?g, and be excluded. LIMIT counts the rows of each graph. GRAPH stays around parts that have to keep it.
"""

from tidings.engine.plans.routes import has_exists
from tidings.sparql import algebra
from tidings.sparql.algebra import UNIT, Exists, Expression, Graph, Node, certain, every_variable, operands
from tidings.sparql.evaluate.pushing import binds_graph, needs_triples, shared_variables


def spread(node: Graph) -> Node:
    """GRAPH, spread over the parts of its pattern; the node itself if it has to stay around the whole."""
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
    """A group with the graph as one more key. Without other keys, each graph has a row, even if it has no solutions."""
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
    """An expression with GRAPH around the patterns of EXISTS. None if EXISTS stands in it anywhere but in AND, OR and
    NOT."""
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
