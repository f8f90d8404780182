"""GRAPH ?name around a pattern that has to be evaluated in each graph separately.

eval(D(G), Graph(?name, P)) = ∪ over the named graphs n of eval(D(n), P) ⋈ {?name -> n}        (18.6)
"""

from collections.abc import Iterable, Iterator

from tidings.model.terms import Term, Var
from tidings.sparql.evaluate.context import Context
from tidings.sparql.evaluate.dataset import TripleSource
from tidings.sparql.evaluate.layout import ONE, Layout, Plan, Row


class _Naming:
    """Joins rows of a layout with {?name -> n}. If the name of the graph is a constant, the rows stay as they are."""

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
    """A plan that runs `inner` once for each named graph, after it has put that graph into `source`.

    If a row already has the name, which happens only inside EXISTS, the plan looks only into that graph.
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
    """The same from one empty row. The input rows have one column, the names of the graphs to look into."""
    view = context.view
    naming = _Naming(name, inner.layout)

    def run(rows: Iterable[Row]) -> Iterator[Row]:
        for (graph,) in rows:
            if graph is not None and view.has(graph):
                source[0] = view.named(graph)
                yield from naming.named(inner.run(ONE), graph)

    return Plan(naming.layout, run)
