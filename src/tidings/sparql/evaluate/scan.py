"""Triple patterns: each extends the rows so far, by one look-up for each row."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeAlias

from tidings.model.terms import Term, Var
from tidings.sparql.algebra import TriplePattern
from tidings.sparql.evaluate.context import Context
from tidings.sparql.evaluate.dataset import TripleSource, match
from tidings.sparql.evaluate.layout import Columns, Layout, Plan, Row, Step

ActiveGraph: TypeAlias = Callable[[], TripleSource] | Var
"""The graph that patterns match: a function that returns it when the plan runs, or a variable for all named graphs."""


def scan(pattern: TriplePattern, graph: ActiveGraph, layout: Layout, context: Context) -> Plan:
    """A plan that extends rows of a layout by one triple pattern."""
    columns = Columns(layout)
    run = scan_into(columns, pattern, graph, context)
    return Plan(columns.layout(), run)


def scan_into(columns: Columns, pattern: TriplePattern, graph: ActiveGraph, context: Context) -> Step:
    """The fastest step for the shape of a triple pattern. It adds the variables of the pattern to the columns."""
    if isinstance(graph, str):
        return _scan_graphs(pattern, graph, columns, context)
    s, p, o = pattern
    if p[0] != "?":
        new_s, new_o = _is_new(s, columns), _is_new(o, columns)
        if not new_s and not new_o:
            if _is_sure(s, columns) and _is_sure(o, columns):
                return _check(pattern, graph, columns, context)
        elif not new_s and _is_sure(s, columns):
            return _follow(pattern, graph, columns, context)
        elif not new_o and _is_sure(o, columns):
            return _trace(pattern, graph, columns, context)
        elif new_s and new_o and s != o:
            return _range(pattern, graph, columns)
    return _scan_any(pattern, graph, columns, context)


def _is_new(term: str, columns: Columns) -> bool:
    return term[0] == "?" and term not in columns.index


def _is_sure(term: str, columns: Columns) -> bool:
    """Whether a term is a constant, or a variable that every row binds."""
    return term[0] != "?" or term in columns.certain


def _check(pattern: TriplePattern, graph: Callable[[], TripleSource], columns: Columns, context: Context) -> Step:
    """(s p o): keep the rows for which the triple is there."""
    s, p, o = pattern
    s_at, o_at = columns.index.get(s, -1), columns.index.get(o, -1)

    def run(rows: Iterable[Row]) -> Iterator[Row]:
        holds = graph().holds
        constant_s, constant_o = context.constant(s), context.constant(o)
        for row in rows:
            subject = constant_s if s_at < 0 else row[s_at]
            object_ = constant_o if o_at < 0 else row[o_at]
            if holds(subject, p, object_):  # type: ignore[arg-type]  # both columns are certain
                yield row

    return run


def _follow(pattern: TriplePattern, graph: Callable[[], TripleSource], columns: Columns, context: Context) -> Step:
    """(s p ?): from a subject to its objects."""
    s, p, o = pattern
    at = columns.index.get(s, -1)
    columns.add((o,))

    def run(rows: Iterable[Row]) -> Iterator[Row]:
        objects = graph().objects
        constant = context.constant(s) if at < 0 else ""
        for row in rows:
            for found in objects(constant if at < 0 else row[at], p):  # type: ignore[arg-type]
                yield (*row, found)

    return run


def _trace(pattern: TriplePattern, graph: Callable[[], TripleSource], columns: Columns, context: Context) -> Step:
    """(? p o): from an object back to its subjects."""
    s, p, o = pattern
    at = columns.index.get(o, -1)
    columns.add((s,))

    def run(rows: Iterable[Row]) -> Iterator[Row]:
        subjects = graph().subjects
        constant = context.constant(o) if at < 0 else ""
        for row in rows:
            for found in subjects(p, constant if at < 0 else row[at]):  # type: ignore[arg-type]
                yield (*row, found)

    return run


def _range(pattern: TriplePattern, graph: Callable[[], TripleSource], columns: Columns) -> Step:
    """(? p ?): every use of a predicate."""
    s, p, o = pattern
    columns.add((s, o))

    def run(rows: Iterable[Row]) -> Iterator[Row]:
        uses = graph().uses
        for row in rows:
            for pair in uses(p):
                yield row + pair

    return run


Places: TypeAlias = list[tuple[int, int]]


def _places(terms: Iterable[str], index: Mapping[Var, int]) -> Places:
    """Position in the pattern and column in the row, for every variable."""
    return [(position, index[term]) for position, term in enumerate(terms) if term[0] == "?"]


def _is_twice(terms: tuple[str, ...]) -> bool:
    """Whether a variable occurs twice: a step may then look at many triples that match no row."""
    variables = [term for term in terms if term[0] == "?"]
    return len(set(variables)) < len(variables)


def _filled(row: Row, extra: int, places: Places, found: tuple[Term, ...]) -> Row | None:
    """The row with the found terms in their columns; None if they differ from terms that the row has."""
    cells = [*row, *[None] * extra]
    for position, column in places:
        value = found[position]
        cell = cells[column]
        if cell is None:
            cells[column] = value
        elif cell != value:
            return None
    return tuple(cells)


def _scan_any(pattern: TriplePattern, graph: Callable[[], TripleSource], columns: Columns, context: Context) -> Step:
    """Any shape: variables that may be unbound, in the predicate, or twice in one pattern."""
    known = [None if term[0] == "?" else term for term in pattern]
    given = [columns.index.get(term, -1) for term in pattern]
    before = len(columns.index)
    columns.add(term for term in pattern if term[0] == "?")
    places = _places(pattern, columns.index)
    extra = len(columns.index) - before
    twice = _is_twice(pattern)

    def run(rows: Iterable[Row]) -> Iterator[Row]:
        source = graph()
        constants = [None if term is None else context.constant(term) for term in known]
        for row in rows:
            s, p, o = [row[at] if at >= 0 else term for at, term in zip(given, constants, strict=True)]
            triples = match(source, s, p, o)
            for found in context.timed(iter(triples)) if twice else triples:
                filled = _filled(row, extra, places, found)
                if filled is not None:
                    yield filled

    return run


def _scan_graphs(pattern: TriplePattern, graph: Var, columns: Columns, context: Context) -> Step:
    """Any shape, in every named graph, with the graph's name in a column of its own."""
    quad = (*pattern, graph)
    known = [None if term[0] == "?" else term for term in quad]
    given = [columns.index.get(term, -1) for term in quad]
    before = len(columns.index)
    columns.add(term for term in quad if term[0] == "?")
    places = _places(quad, columns.index)
    extra = len(columns.index) - before
    twice = _is_twice(quad)
    view = context.view

    def run(rows: Iterable[Row]) -> Iterator[Row]:
        constants = [None if term is None else context.constant(term) for term in known]
        for row in rows:
            s, p, o, g = [row[at] if at >= 0 else term for at, term in zip(given, constants, strict=True)]
            for name in context.timed(iter(view.graphs_with(s, p, o))) if g is None else (g,):
                triples = match(view.named(name), s, p, o)
                for found in context.timed(iter(triples)) if twice else triples:
                    filled = _filled(row, extra, places, (*found, name))
                    if filled is not None:
                        yield filled

    return run
