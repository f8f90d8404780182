"""Section 18.4 word for word: the pairs of terms that a property path connects, as often as there are ways."""

from collections.abc import Iterable
from typing import assert_never

from tidings.model.terms import Term, Triple
from tidings.sparql.algebra import Alternative, Inverse, Negated, Path, Repeat, Sequence


def pairs(path: Path, graph: list[Triple], s: Term | None, o: Term | None) -> list[tuple[Term, Term]]:
    """Every way from a start to an end, either of which may be fixed."""
    found: Iterable[tuple[Term, Term]]
    match path:
        case str():
            found = [(a, b) for a, p, b in graph if p == path]
        case Inverse(inner):
            found = [(b, a) for a, b in pairs(inner, graph, o, s)]
        case Sequence(first, second):
            rest = pairs(second, graph, None, o)
            found = [(a, d) for a, b in pairs(first, graph, s, None) for c, d in rest if b == c]
        case Alternative(left, right):
            found = pairs(left, graph, s, o) + pairs(right, graph, s, o)
        case Repeat(inner, 0, False):
            found = dict.fromkeys([*_zero_length(graph, s, o), *pairs(inner, graph, s, o)])
        case Repeat(inner, least, _):
            found = _repeated(inner, graph, s, o, least)
        case Negated(forward, backward):
            found = [(a, b) for a, p, b in graph if forward is not None and p not in forward]
            found += [(b, a) for a, p, b in graph if backward is not None and p not in backward]
        case _:
            assert_never(path)
    return [(a, b) for a, b in found if (s is None or a == s) and (o is None or b == o)]


def _zero_length(graph: list[Triple], s: Term | None, o: Term | None) -> list[tuple[Term, Term]]:
    if s is None and o is None:
        return [(node, node) for node in dict.fromkeys(term for a, _, b in graph for term in (a, b))]
    return [(end, end) for end in (s, o) if end is not None]


def _repeated(inner: Path, graph: list[Triple], s: Term | None, o: Term | None, least: int) -> list[tuple[Term, Term]]:
    if s is None and o is not None:
        return [(a, b) for b, a in _repeated(Inverse(inner), graph, o, None, least)]
    starts = [a for a, _ in _zero_length(graph, None, None)] if s is None else [s]
    return [(start, end) for start in starts for end in _reached(inner, graph, start, least)]


def _reached(inner: Path, graph: list[Triple], start: Term, least: int) -> dict[Term, None]:
    """The function ALP of the recommendation."""
    reached: dict[Term, None] = {}
    pending = [end for _, end in pairs(inner, graph, start, None)] if least else [start]
    while pending:
        term = pending.pop()
        if term not in reached:
            reached[term] = None
            pending.extend(end for _, end in pairs(inner, graph, term, None))
    return reached
