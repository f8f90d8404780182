"""Decides which queries can be kept up to date by deltas, and says why the others cannot."""

from collections.abc import Iterable, Iterator

from tidings.engine.plans.regrouping.by_the_clock import goes_by_the_clock
from tidings.engine.plans.routes import exists_patterns
from tidings.model.terms import fold, is_tagged
from tidings.sparql import algebra
from tidings.sparql.algebra import Describe, Expression, Node, Query, every_expression
from tidings.sparql.evaluate.calls import is_momentary, names_blanks

SPELT = "binds a language-tagged constant, which is spelt as the store spells it: evaluated in full after a hit"

DEEPEST = 32
"""The greatest depth of a query that is kept up to date: each of n nested OPTIONALs has a plan of those below it."""


def _depth(pattern: Node) -> int:
    """The number of operators on the longest way from the root to a leaf."""
    depth, level = 0, [pattern]
    while level:
        depth += 1
        level = [inner for node in level for inner in algebra.inputs(node)]
    return depth


def _nodes(node: Node) -> Iterator[Node]:
    """Every node of a pattern, those inside EXISTS included."""
    yield node
    for inner in algebra.inputs(node):
        yield from _nodes(inner)
    for expression in algebra.expressions(node):
        for pattern in exists_patterns(expression):
            yield from _nodes(pattern)


def _spells(pattern: Node) -> bool:
    """Whether a VALUES has a language-tagged literal."""
    found = (node for node in _nodes(pattern) if isinstance(node, algebra.Values))
    return any(cell is not None and is_tagged(cell) for node in found for row in node.rows for cell in row)


def spelt_constants(query: Query) -> Iterator[str]:
    """The language-tagged constants that a query may give to a variable, in the spelling of the store."""
    for node in _nodes(query.pattern):
        terms: Iterable[str | None] = ()
        match node:
            case algebra.Values(_, rows):
                terms = (cell for row in rows for cell in row)
            case algebra.Extend(_, _, expression):
                terms = _parts(expression)
            case algebra.PathPattern(subject, _, object_):
                terms = (subject, object_)
        yield from (term for term in terms if term is not None and is_tagged(term))


def bindable(query: Query) -> Iterator[int]:
    """The numbers of the constants that a BIND, a SELECT expression or zero steps of a path may give to a variable."""
    for node in _nodes(query.pattern):
        terms: Iterable[str] = ()
        match node:
            case algebra.Extend(_, _, expression):
                terms = _parts(expression)
            case algebra.PathPattern(subject, path, object_) if algebra.may_stand_still(path):
                terms = (subject, object_)
        yield from (int(term[2:]) for term in terms if term[:2] == "$x")


def _parts(expression: Expression) -> Iterator[str]:
    if isinstance(expression, str):
        yield expression
    for part in algebra.operands(expression):
        yield from _parts(part)


def is_momentary_query(query: Query) -> bool:
    return any(map(is_momentary, every_expression(query.pattern)))


def why_not_maintained(query: Query, naive: bool, is_clock_kept: bool) -> str:
    """The reason why a query has to be evaluated in full; empty if it can be maintained."""
    if naive:
        return "naive: evaluated in full after every commit"
    if is_momentary_query(query) and not (is_clock_kept and goes_by_the_clock(query)):
        return "depends on the moment (NOW, RAND, UUID): evaluated in full after every commit"
    if _spells(query.pattern):
        return SPELT
    return _why_not(query)


def is_kept_while_spelt(query: Query) -> bool:
    """Whether a query that binds language-tagged constants can be maintained until the spelling of one changes. Not if
    it spells a literal in two ways itself: the first one found decides, and the order depends on the plan."""
    constants = set(spelt_constants(query))
    is_one = len({fold(constant) for constant in constants}) == len(constants)
    return is_one and not isinstance(query, Describe) and not is_momentary_query(query) and not _why_not(query)


def _why_not(query: Query) -> str:
    """The reason why a query cannot be maintained, apart from the terms that it binds."""
    if any(map(names_blanks, every_expression(query.pattern))):
        return "BNODE: evaluated in full after a hit"
    if _depth(query.pattern) > DEEPEST:
        return f"more than {DEEPEST} operators on top of each other: evaluated in full after a hit"
    return ""
