"""Where pyoxigraph 0.5 is known to leave the recommendation, found in the algebra of a query: each with its clause."""

import re
from collections.abc import Iterator

from tidings.sparql.algebra import (
    BGP,
    Aggregate,
    Alternative,
    Exists,
    Expression,
    Graph,
    Group,
    Inverse,
    Join,
    Negated,
    Node,
    Path,
    PathPattern,
    Project,
    Repeat,
    Sequence,
    Service,
    Slice,
    Union,
    Values,
    every_variable,
    expressions,
    inputs,
    operands,
)

COUNT_ERROR = "18.5.1.2: COUNT leaves errors out; pyoxigraph makes an error of COUNT(error)"
BOTH_WAYS = "18.2.2.3: a negated set that walks both ways is a union; pyoxigraph gives each pair once"
ALTERNATIVE = "18.4: an alternative path is a union; pyoxigraph gives each pair once"
ZERO_LENGTH = "18.4: zero steps lead from any term to itself; pyoxigraph wants the term in the graph"
MERGE = "13.2.1: FROM graphs are merged, so a triple of two of them is there once; pyoxigraph matches it twice"
GRAPH_OF_NOTHING = (
    "18.6: GRAPH ?g goes through all named graphs; pyoxigraph only if a triple pattern asks for it, in no sub-SELECT"
)

EARLY_NAME = "18.6: the name of GRAPH ?g is joined to what was found inside; pyoxigraph lets the inside see it"

DUPLICATES = frozenset({BOTH_WAYS, ALTERNATIVE, MERGE})
"""Faults that change no more than how often a row is there."""

_ALTERNATIVE = re.compile(r" \| ")
_MERGE = re.compile(r"\b(?:FROM|USING) <[^>]*> (?:.* )?(?:FROM|USING) <")
_NEGATED = re.compile(r"!\([^)]*\)")


def faults(text: str, node: Node) -> set[str]:
    """Why pyoxigraph may be wrong about a query; nothing if it must be right."""
    found = set(_faults(node, in_exists=False))
    if _ALTERNATIVE.search(_NEGATED.sub("", text)):
        found.add(ALTERNATIVE)
    if _MERGE.search(text):
        found.add(MERGE)
    if found and any(isinstance(part, Group | Slice) for part in _nodes(node)):
        found.add(COUNT_ERROR)  # duplicates count where rows are counted
    return found


def _faults(node: Node, *, in_exists: bool) -> Iterator[str]:
    match node:
        case PathPattern(subject, path, object_):
            if any(isinstance(part, Negated) and None not in (part.forward, part.backward) for part in steps(path)):
                yield BOTH_WAYS
            fixed = in_exists or subject[0] != "?" or object_[0] != "?"
            if fixed and any(isinstance(part, Repeat) and part.least == 0 for part in steps(path)):
                yield ZERO_LENGTH
        case Group(_, _, aggregates):
            if any(a.function == "COUNT" and a.argument and not isinstance(a.argument, str) for _, a in aggregates):
                yield COUNT_ERROR
        case Graph(name, inner) if name[0] == "?" and not _touches(inner):
            yield GRAPH_OF_NOTHING
        case Graph(name, inner) if name[0] == "?" and name in set(every_variable(inner)):
            yield EARLY_NAME
    for inner in inputs(node):
        yield from _faults(inner, in_exists=in_exists)
    for expression in expressions(node):
        for pattern in exists_patterns(expression):
            yield from _faults(pattern, in_exists=True)


def _touches(node: Node) -> bool:
    """Whether every solution of a pattern comes from at least one triple of the active graph, in no sub-SELECT."""
    match node:
        case BGP(patterns):
            return bool(patterns)
        case PathPattern():
            return True
        case Join(left, right):
            return _touches(left) or _touches(right)
        case Union(left, right):
            return _touches(left) and _touches(right)
        case Values() | Graph() | Group() | Project() | Service():
            return False
        case _:
            return _touches(inputs(node)[0])


def _nodes(node: Node) -> Iterator[Node]:
    yield node
    for inner in inputs(node):
        yield from _nodes(inner)


def steps(path: Path) -> Iterator[Path]:
    """A path and all paths within it."""
    yield path
    match path:
        case Inverse(inner) | Repeat(inner):
            yield from steps(inner)
        case Sequence(left, right) | Alternative(left, right):
            yield from steps(left)
            yield from steps(right)


def exists_patterns(expression: Expression) -> Iterator[Node]:
    """The patterns of EXISTS within an expression."""
    if isinstance(expression, Exists):
        yield expression.pattern
    elif not isinstance(expression, Aggregate):
        for part in operands(expression):
            yield from exists_patterns(part)
