"""Property paths: their syntax, and their translation into patterns (sections 9.1 and 18.2.2.4)."""

from typing import Literal

from tidings.model.terms import RDF_TYPE, Term
from tidings.sparql.algebra import (
    BGP,
    Alternative,
    Inverse,
    Negated,
    Node,
    Path,
    PathPattern,
    Repeat,
    Sequence,
    Union,
    balanced,
    join,
)
from tidings.sparql.parser.cursor import Cursor

_REPEATS: dict[str, tuple[Literal[0, 1], bool]] = {"*": (0, True), "+": (1, True), "?": (0, False)}
_OPERATORS = frozenset({"/", "|", *_REPEATS})


def at_path_operator(token: str) -> bool:
    return token in _OPERATORS


def path(c: Cursor) -> Path:
    """PathAlternative."""
    parts = [_sequence(c)]
    while c.accept("|"):
        parts.append(_sequence(c))
    return balanced(parts, Alternative)


def _sequence(c: Cursor) -> Path:
    steps = [_step(c)]
    while c.accept("/"):
        steps.append(_step(c))
    return balanced(steps, Sequence)


def _step(c: Cursor) -> Path:
    if c.accept("^"):
        return Inverse(_repeated(c))
    return _repeated(c)


def _repeated(c: Cursor) -> Path:
    inner = _primary(c)
    repeat = _REPEATS.get(c.toks[c.i])
    if repeat is None:
        return inner
    c.i += 1
    return Repeat(inner, *repeat)


def _primary(c: Cursor) -> Path:
    if c.accept("("):
        inner = path(c)
        c.expect(")")
        return inner
    if c.accept("!"):
        return _negated(c)
    return _predicate(c)


def _predicate(c: Cursor) -> Term:
    if c.accept("a"):
        return RDF_TYPE
    if not c.at_iri():
        c.fail("a property path")
    return c.iri()


def _negated(c: Cursor) -> Negated:
    forward: list[Term] = []
    backward: list[Term] = []

    def one() -> None:
        side = backward if c.accept("^") else forward
        side.append(_predicate(c))

    if not c.accept("("):
        one()
    elif not c.accept(")"):
        one()
        while c.accept("|"):
            one()
        c.expect(")")
    walks_forward = bool(forward) or not backward
    return Negated(tuple(forward) if walks_forward else None, tuple(backward) if backward else None)


def pattern_of(c: Cursor, subject: str, walked: Path, object_: str) -> Node:
    """The pattern of a path: triple patterns, joins and unions for everything but repetitions and negated sets."""
    match walked:
        case str():
            return BGP(((subject, walked, object_),))
        case Inverse(inner):
            return pattern_of(c, object_, inner, subject)
        case Sequence(first, second):
            middle = c.new_variable()
            return merged(pattern_of(c, subject, first, middle), pattern_of(c, middle, second, object_))
        case Alternative(left, right):
            return Union(pattern_of(c, subject, left, object_), pattern_of(c, subject, right, object_))
        case _:
            return PathPattern(subject, walked, object_)


def merged(left: Node, right: Node) -> Node:
    """A join; two basic graph patterns become one."""
    if isinstance(left, BGP) and isinstance(right, BGP):
        return BGP(left.patterns + right.patterns) if left.patterns else right
    return join(left, right)
