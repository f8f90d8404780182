"""Property paths that are no joins or unions of triple patterns: repetition, negated sets (sections 9.3 and 18.4).

A repeated path has each pair of ends once. Zero steps lead from a term to itself, even if the graph has no such term.
A path may walk to many terms before its first pair, so walking itself checks the limits: it calls `look` with the
number of terms that it walks to next, and `look` raises the errors that end an evaluation.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from collections.abc import Set as AbstractSet
from typing import TypeAlias, assert_never

from tidings.model.terms import Term, Var
from tidings.sparql.algebra import (
    Alternative,
    Inverse,
    Negated,
    Path,
    PathPattern,
    Repeat,
    Sequence,
    may_stand_still,
)
from tidings.sparql.evaluate.context import Context
from tidings.sparql.evaluate.dataset import TripleSource
from tidings.sparql.evaluate.layout import Layout, Plan, Row
from tidings.sparql.evaluate.scan import ActiveGraph, _filled, _places

Look: TypeAlias = Callable[[int], None]
_TERMS_BETWEEN_LOOKS = 256


def _never(_: int) -> None:
    """For evaluations without limits."""


def reverse(path: Path) -> Path:
    """The same path walked from its end."""
    match path:
        case str():
            return Inverse(path)
        case Inverse(inner):
            return inner
        case Sequence(first, second):
            return Sequence(reverse(second), reverse(first))
        case Alternative(left, right):
            return Alternative(reverse(left), reverse(right))
        case Repeat(inner, least, many):
            return Repeat(reverse(inner), least, many)
        case Negated(forward, backward):
            return Negated(backward, forward)
        case _:
            assert_never(path)


def ends(path: Path, source: TripleSource, start: Term, look: Look = _never) -> Iterable[Term]:
    """The terms to which a path leads from a term, each as often as there are ways to it."""
    match path:
        case str():
            return source.objects(start, path)
        case Inverse(str() as predicate):
            return source.subjects(predicate, start)
        case Inverse(inner):
            return ends(reverse(inner), source, start, look)
        case Sequence(first, second):
            middles = ends(first, source, start, look)
            return (end for middle in middles for end in ends(second, source, middle, look))
        case Alternative(left, right):
            return [*ends(left, source, start, look), *ends(right, source, start, look)]
        case Repeat(inner, least, many):
            return closure(inner, source, start, least, many, look)
        case Negated(forward, backward):
            return _negated_ends(source, start, forward, backward)
        case _:
            assert_never(path)


def closure(
    inner: Path, source: TripleSource, start: Term, least: int, many: bool, look: Look = _never
) -> dict[Term, None]:
    """All terms that a repeated path reaches from a term, each once, nearest first."""
    reached: dict[Term, None] = {} if least else {start: None}
    frontier: Collection[Term] = (start,)
    while frontier:
        found = dict.fromkeys(
            end
            for term in watched_terms(frontier, look)
            for end in ends(inner, source, term, look)
            if end not in reached
        )
        reached.update(found)
        if not many:
            break
        frontier = found
    return reached


def watched_terms(terms: Collection[Term], look: Look) -> Iterator[Term]:
    """The same terms; before each block of them, `look` counts them and checks the time limit."""
    left = len(terms)
    for number, term in enumerate(terms):
        if not number % _TERMS_BETWEEN_LOOKS:
            look(min(left, _TERMS_BETWEEN_LOOKS))
            left -= _TERMS_BETWEEN_LOOKS
        yield term


def _negated_ends(
    source: TripleSource, start: Term, forward: tuple[Term, ...] | None, backward: tuple[Term, ...] | None
) -> Iterator[Term]:
    if forward is not None:
        for predicate, object_ in source.facts(start):
            if predicate not in forward:
                yield object_
    if backward is not None:
        for subject, predicate in source.mentions(start):
            if predicate not in backward:
                yield subject


def _starts(path: Path, source: TripleSource) -> Iterable[Term]:
    """The terms from which a path may start, each once."""
    match path:
        case str():
            return dict.fromkeys(subject for subject, _ in source.uses(path))
        case Inverse(str() as predicate):
            return dict.fromkeys(object_ for _, object_ in source.uses(predicate))
        case Sequence(first, _):
            return _starts(first, source)
        case Alternative(left, right):
            return dict.fromkeys([*_starts(left, source), *_starts(right, source)])
        case Repeat(inner, 1, _):
            return _starts(inner, source)
        case _:
            return source.nodes()


def pairs(
    path: Path, source: TripleSource, s: Term | None, o: Term | None, look: Look = _never
) -> Iterator[tuple[Term, Term]]:
    """All solutions of a path between two ends, of which either may be given."""
    if s is not None:
        for end in ends(path, source, s, look):
            if o is None or o == end:
                yield s, end
    elif o is not None:
        for start in ends(reverse(path), source, o, look):
            yield start, o
    else:
        for start in _starts(path, source):
            for end in ends(path, source, start, look):
                yield start, end


def is_node(term: Term, source: TripleSource) -> bool:
    """Whether a term is a subject or an object of a graph."""
    return next(iter(source.facts(term)), None) is not None or next(iter(source.mentions(term)), None) is not None


def walk(
    pattern: PathPattern,
    graph: ActiveGraph,
    layout: Layout,
    context: Context,
    substituted: AbstractSet[Var] = frozenset(),
) -> Plan:
    """A plan that extends rows by a path pattern; it walks from the end that a row binds."""
    # Between two variables, a path of zero steps matches only nodes of the graph (18.4), even where the row binds one.
    free = all(end[0] == "?" and end not in substituted for end in (pattern.subject, pattern.object))
    rooted = free and may_stand_still(pattern.path)
    terms = (pattern.subject, pattern.object, graph) if isinstance(graph, str) else (pattern.subject, pattern.object)
    variables = [term for term in terms if term[0] == "?"]
    after = layout.extended(variables, variables)
    columns = _places(terms, after.index)
    extra = len(after.variables) - len(layout.variables)
    known = [None if term[0] == "?" else term for term in terms]
    given = [layout.index.get(term, -1) for term in terms]
    view, path = context.view, pattern.path

    def sources(name: Term | None) -> Iterable[tuple[tuple[Term, ...], TripleSource]]:
        if not isinstance(graph, str):
            return (((), graph()),)
        names = view.names() if name is None else (name,) if view.has(name) else ()
        return [((each,), view.named(each)) for each in names]

    def run(rows: Iterable[Row]) -> Iterator[Row]:
        constants = [None if term is None else context.spelled(context.constant(term)) for term in known]
        for row in rows:
            s, o, *name = [row[at] if at >= 0 else term for at, term in zip(given, constants, strict=True)]
            for suffix, source in sources(name[0] if name else None):
                if rooted and not all(term is None or is_node(term, source) for term in (s, o)):
                    continue
                for pair in pairs(path, source, s, o, context.look):
                    filled = _filled(row, extra, columns, pair + suffix)
                    if filled is not None:
                        yield filled

    return Plan(after, run)
