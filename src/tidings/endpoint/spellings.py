"""Literals that an endpoint spells otherwise than they were published: `01` as `1`, `xsd:int` as `xsd:integer`.

The value is the same, so that is no difference: the broker shows what was published, and reports how many there are.
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
    """Quads that really differ, and how many literals are only spelled otherwise."""

    differences: ZSet[Quad]
    rewritten: int = 0
    example: tuple[Term, Term] | None = None
    """One of those: as it was published, and as the endpoint has it."""


def compared(ours: set[Quad], theirs: set[Quad]) -> Compared:
    """Theirs less ours."""
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
    """A literal in the same place that has the same value."""
    s, p, o, g = quad
    if o[0] != '"':
        return None
    return next((other for other in places.get((s, p, g), ()) if are_same(o, other)), None)


def are_same(left: Term, right: Term) -> bool:
    """Whether two terms are one, or have one value."""
    if is_tagged(left) and is_tagged(right):
        return fold(left) == fold(right)
    return left == right or equals(left, right) is True or equals(_unbounded(left), _unbounded(right)) is True


def _unbounded(term: Term) -> Term:
    """A whole number that is none of its datatype (`"200"^^xsd:byte`) as one: some stores know one kind only."""
    if term[0] != '"':
        return term
    _, datatype, _ = split_literal(term)
    whole = f'"{lexical_form(term)}"^^<{XSD}integer>'
    return whole if datatype in _WHOLE and isinstance(decode(whole), Number) else term
