"""GRAPH ?name around what has to be evaluated in each graph on its own.

eval(D(G), Graph(?name, P)) = ∪ over the named graphs n of eval(D(n), P) ⋈ {?name -> n}        (18.6)
"""

from collections.abc import Iterable, Iterator

from tidings.model.terms import Term, Var
from tidings.sparql.evaluate.context import Context
from tidings.sparql.evaluate.dataset import TripleSource
from tidings.sparql.evaluate.layout import ONE, Layout, Plan, Row


class _Naming:
    """Rows of a layout joined with {?name -> n}; those of a graph whose name is a constant stay as they are."""

    __slots__ = ("_at", "_is_new", "layout")

    def __init__(self, name: str, inner: Layout) -> None:
        self.layout = inner.extended((name,), (name,)) if name[0] == "?" else inner
        self._at = self.layout.index.get(name)
        self._is_new = len(self.layout.variables) > len(inner.variables)

    def named(self, rows: Iterable[Row], graph: Term) -> Iterable[Row]:
        at = self._at
        if at is None:
            return rows
        if self._is_new:
            return ((*row, graph) for row in rows)
        return ((*row[:at], graph, *row[at + 1 :]) for row in rows if row[at] is None or row[at] == graph)


def graph_by_graph(name: Var, inner: Plan, source: list[TripleSource], given: Layout, context: Context) -> Plan:
    """Rows of a layout through a plan that looks into the `source`, with each named graph in turn there.

    A row that has the name already, as only rows inside EXISTS may, asks for that graph alone.
    """
    view = context.view
    naming = _Naming(name, inner.layout)
    asked = given.index.get(name)

    def names(row: Row) -> Iterable[Term]:
        wanted = None if asked is None else row[asked]
        if wanted is None:
            return view.names()
        return (wanted,) if view.has(wanted) else ()

    def run(rows: Iterable[Row]) -> Iterator[Row]:
        for row in rows:
            for graph in context.timed(iter(names(row))):
                source[0] = view.named(graph)
                yield from naming.named(inner.run((row,)), graph)

    return Plan(naming.layout, run)


def in_these(name: str, inner: Plan, source: list[TripleSource], context: Context) -> Plan:
    """The same from nothing, in those graphs alone whose names the rows are."""
    view = context.view
    naming = _Naming(name, inner.layout)

    def run(rows: Iterable[Row]) -> Iterator[Row]:
        for (graph,) in rows:
            if graph is not None and view.has(graph):
                source[0] = view.named(graph)
                yield from naming.named(inner.run(ONE), graph)

    return Plan(naming.layout, run)
