"""GRAPH ?name around what has to be evaluated in each graph on its own.

eval(D(G), Graph(?name, P)) = ∪ over the named graphs n of eval(D(n), P) ⋈ {?name -> n}        (18.6)
"""

from collections.abc import Iterable, Iterator

from tidings.model.terms import Term, Var
from tidings.sparql.evaluate.context import Context
from tidings.sparql.evaluate.dataset import TripleSource
from tidings.sparql.evaluate.layout import Layout, Plan, Row


def graph_by_graph(name: Var, inner: Plan, source: list[TripleSource], given: Layout, context: Context) -> Plan:
    """Rows of a layout through a plan that looks into the `source`, with each named graph in turn there.

    A row that has the name already, as only rows inside EXISTS may, asks for that graph alone.
    """
    view = context.view
    after = inner.layout.extended((name,), (name,))
    at = after.index[name]
    bound = at < len(inner.layout.variables)
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
                for found in inner.run((row,)):
                    if not bound:
                        yield (*found, graph)
                    elif found[at] is None:
                        yield (*found[:at], graph, *found[at + 1 :])
                    elif found[at] == graph:
                        yield found

    return Plan(after, run)
