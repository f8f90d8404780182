"""Triple patterns: each extends the rows found so far by one look-up a row, or by one scan."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from tidings.model.terms import Term, Var
from tidings.sparql.algebra import TriplePattern
from tidings.sparql.evaluate.context import Context
from tidings.sparql.evaluate.dataset import TripleSource, match
from tidings.sparql.evaluate.layout import Layout, Plan, Row

ActiveGraph: TypeAlias = Callable[[], TripleSource] | Var
"""Where patterns look: one graph, found when the plan runs, or every named graph, bound to a variable."""


def scan(pattern: TriplePattern, graph: ActiveGraph, layout: Layout, context: Context) -> Plan:
    """One triple pattern, by the fastest way its shape allows."""
    if isinstance(graph, str):
        return _scan_graphs(pattern, graph, layout, context)
    s, p, o = pattern
    if p[0] != "?":
        new_s, new_o = _is_new(s, layout), _is_new(o, layout)
        if not new_s and not new_o:
            if _is_sure(s, layout) and _is_sure(o, layout):
                return _check(pattern, graph, layout, context)
        elif not new_s and _is_sure(s, layout):
            return _follow(pattern, graph, layout, context)
        elif not new_o and _is_sure(o, layout):
            return _trace(pattern, graph, layout, context)
        elif new_s and new_o and s != o:
            return _range(pattern, graph, layout)
    return _scan_any(pattern, graph, layout, context)


def _is_new(term: str, layout: Layout) -> bool:
    return term[0] == "?" and term not in layout.index


def _is_sure(term: str, layout: Layout) -> bool:
    """Whether its value is known in every row."""
    return term[0] != "?" or term in layout.certain


def _check(pattern: TriplePattern, graph: Callable[[], TripleSource], layout: Layout, context: Context) -> Plan:
    """(s p o): keep the rows for which the triple is there."""
    s, p, o = pattern
    s_at, o_at = layout.index.get(s, -1), layout.index.get(o, -1)

    def run(rows: Iterable[Row]) -> Iterator[Row]:
        holds = graph().holds
        constant_s, constant_o = context.constant(s), context.constant(o)
        for row in rows:
            subject = constant_s if s_at < 0 else row[s_at]
            object_ = constant_o if o_at < 0 else row[o_at]
            if holds(subject, p, object_):  # type: ignore[arg-type]  # both columns are certain
                yield row

    return Plan(layout, run)


def _follow(pattern: TriplePattern, graph: Callable[[], TripleSource], layout: Layout, context: Context) -> Plan:
    """(s p ?): from a subject to its objects."""
    s, p, o = pattern
    at = layout.index.get(s, -1)

    def run(rows: Iterable[Row]) -> Iterator[Row]:
        objects = graph().objects
        constant = context.constant(s) if at < 0 else ""
        for row in rows:
            for found in objects(constant if at < 0 else row[at], p):  # type: ignore[arg-type]
                yield (*row, found)

    return Plan(layout.extended((o,), (o,)), run)


def _trace(pattern: TriplePattern, graph: Callable[[], TripleSource], layout: Layout, context: Context) -> Plan:
    """(? p o): from an object back to its subjects."""
    s, p, o = pattern
    at = layout.index.get(o, -1)

    def run(rows: Iterable[Row]) -> Iterator[Row]:
        subjects = graph().subjects
        constant = context.constant(o) if at < 0 else ""
        for row in rows:
            for found in subjects(p, constant if at < 0 else row[at]):  # type: ignore[arg-type]
                yield (*row, found)

    return Plan(layout.extended((s,), (s,)), run)


def _range(pattern: TriplePattern, graph: Callable[[], TripleSource], layout: Layout) -> Plan:
    """(? p ?): every use of a predicate."""
    s, p, o = pattern

    def run(rows: Iterable[Row]) -> Iterator[Row]:
        uses = graph().uses
        for row in rows:
            for pair in uses(p):
                yield row + pair

    return Plan(layout.extended((s, o), (s, o)), run)


Columns: TypeAlias = list[tuple[int, int]]


def _columns(terms: Iterable[str], layout: Layout) -> Columns:
    """Position in the pattern and column in the row, for every variable."""
    return [(position, layout.index[term]) for position, term in enumerate(terms) if term[0] == "?"]


def _filled(row: Row, extra: int, columns: Columns, found: tuple[Term, ...]) -> Row | None:
    """The row with what was found put into its columns; None if they disagree."""
    cells = [*row, *[None] * extra]
    for position, column in columns:
        value = found[position]
        cell = cells[column]
        if cell is None:
            cells[column] = value
        elif cell != value:
            return None
    return tuple(cells)


def _scan_any(pattern: TriplePattern, graph: Callable[[], TripleSource], layout: Layout, context: Context) -> Plan:
    """Any shape: variables that may be unbound, in the predicate, or twice in one pattern."""
    after = layout.extended([term for term in pattern if term[0] == "?"], [t for t in pattern if t[0] == "?"])
    columns = _columns(pattern, after)
    extra = len(after.variables) - len(layout.variables)
    known = [None if term[0] == "?" else term for term in pattern]
    given = [layout.index.get(term, -1) for term in pattern]

    def run(rows: Iterable[Row]) -> Iterator[Row]:
        source = graph()
        constants = [None if term is None else context.constant(term) for term in known]
        for row in rows:
            s, p, o = [row[at] if at >= 0 else term for at, term in zip(given, constants, strict=True)]
            for found in match(source, s, p, o):
                filled = _filled(row, extra, columns, found)
                if filled is not None:
                    yield filled

    return Plan(after, run)


def _scan_graphs(pattern: TriplePattern, graph: Var, layout: Layout, context: Context) -> Plan:
    """Any shape, in every named graph, with the graph's name in a column of its own."""
    quad = (*pattern, graph)
    variables = [term for term in quad if term[0] == "?"]
    after = layout.extended(variables, variables)
    columns = _columns(quad, after)
    extra = len(after.variables) - len(layout.variables)
    known = [None if term[0] == "?" else term for term in quad]
    given = [layout.index.get(term, -1) for term in quad]
    view = context.view

    def run(rows: Iterable[Row]) -> Iterator[Row]:
        constants = [None if term is None else context.constant(term) for term in known]
        for row in rows:
            s, p, o, g = [row[at] if at >= 0 else term for at, term in zip(given, constants, strict=True)]
            for name in view.graphs_with(s, p, o) if g is None else (g,):
                for found in match(view.named(name), s, p, o):
                    filled = _filled(row, extra, columns, (*found, name))
                    if filled is not None:
                        yield filled

    return Plan(after, run)
