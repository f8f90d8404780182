"""Finds literals that an endpoint does not spell as they were published: `01` as `1`, `xsd:int` as `xsd:integer`.

The values are equal, so these are no differences: the broker shows the published spelling, and reports their number.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from tidings.model.terms import XSD, Quad, Term, fold, is_tagged, lexical_form, split_literal
from tidings.model.zset import ZSet
from tidings.sparql.values.compare import equals
from tidings.sparql.values.decode import decode
from tidings.sparql.values.kinds import Number
from tidings.sparql.values.numerics import INTEGER_BOUNDS

_WHOLE = frozenset(f"{XSD}{name}" for name in INTEGER_BOUNDS)


@dataclass(frozen=True, slots=True)
class Compared:
    """Quads that really differ, and the number of literals that are only spelled differently."""

    differences: ZSet[Quad]
    rewritten: int = 0
    example: tuple[Term, Term] | None = None
    """One of these literals: as published, and as the endpoint spells it."""


def compared(ours: set[Quad], theirs: set[Quad]) -> Compared:
    """The quads of the endpoint minus those of the broker. Equal values are no difference."""
    weights: dict[Quad, int] = {}
    example = None
    rewritten = 0
    here, there = _literals(ours), _literals(theirs)
    for quad in ours - theirs:
        other = _same_value(quad, there)
        if other is None:
            weights[quad] = -1
        else:
            rewritten, example = rewritten + 1, (quad[2], other)
    for quad in theirs - ours:
        if _same_value(quad, here) is None:
            weights[quad] = 1
    return Compared(ZSet.owning(weights), rewritten, example)


_Places = dict[tuple[Term, Term, Term], list[Term]]


def _literals(quads: Iterable[Quad]) -> _Places:
    places: _Places = {}
    for s, p, o, g in quads:
        if o[0] == '"':
            places.setdefault((s, p, g), []).append(o)
    return places


def _same_value(quad: Quad, places: _Places) -> Term | None:
    """A literal of the same subject, predicate and graph with the same value; None if there is none."""
    s, p, o, g = quad
    if o[0] != '"':
        return None
    return next((other for other in places.get((s, p, g), ()) if are_same(o, other)), None)


def are_same(left: Term, right: Term) -> bool:
    """Whether two terms are the same, or have the same value."""
    if is_tagged(left) and is_tagged(right):
        return fold(left) == fold(right)
    return left == right or equals(left, right) is True or equals(_unbounded(left), _unbounded(right)) is True


def _unbounded(term: Term) -> Term:
    """A whole number as xsd:integer, even beyond its datatype (`"200"^^xsd:byte`): some stores have no other."""
    if term[0] != '"':
        return term
    _, datatype, _ = split_literal(term)
    whole = f'"{lexical_form(term)}"^^<{XSD}integer>'
    return whole if datatype in _WHOLE and isinstance(decode(whole), Number) else term
