"""Finds the triple patterns of a query, wherever they are in it: they are entered in the LUTT as routes."""

from collections.abc import Iterator

from tidings.engine.operators.base import ANY_TRIPLE, Route
from tidings.engine.operators.path import watched
from tidings.sparql import algebra
from tidings.sparql.algebra import BGP, Exists, Expression, Node, PathPattern, expressions, inputs, operands
from tidings.sparql.evaluate.pushing import binds_graph, needs_triples


def exists_patterns(expression: Expression) -> Iterator[Node]:
    if isinstance(expression, Exists):
        yield expression.pattern
    for part in operands(expression):
        yield from exists_patterns(part)


def has_exists(expression: Expression) -> bool:
    return next(exists_patterns(expression), None) is not None


def routes_in(node: Node, graph: str) -> Iterator[Route]:
    """Routes for every triple pattern of a node, however deep, those inside EXISTS included."""
    match node:
        case BGP(patterns):
            yield from (Route(pattern, graph) for pattern in patterns)
        case PathPattern():
            yield from (Route(pattern, graph) for pattern in watched(node, graph))
        case algebra.Graph(name, inner):
            if not (binds_graph(inner, name) if name[0] == "?" else needs_triples(inner)):
                yield Route(ANY_TRIPLE, name)  # it matters whether the graph exists
            yield from routes_in(inner, name)
        case _:
            for inner in inputs(node):
                yield from routes_in(inner, graph)
    for expression in expressions(node):
        for pattern in exists_patterns(expression):
            yield from routes_in(pattern, graph)
