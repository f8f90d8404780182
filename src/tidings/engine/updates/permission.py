"""Decides whether an update may write its graphs, by the text of the request and not by the content of the graphs.

A request that names a graph, or whose templates yield a quad in it, is refused as a whole if its sender may not write
that graph, even if nothing would change there. Otherwise the answer would reveal what the graph has.
"""

from collections.abc import Iterable

from tidings.model.access import Graphs, Rights
from tidings.model.errors import GraphNotWritable
from tidings.model.terms import DEFAULT_GRAPH, Term
from tidings.sparql.algebra import GraphTarget

_NAMED = Graphs(prefixes=("",))
_WANTED = {"ALL": _NAMED | Graphs(names=frozenset((DEFAULT_GRAPH,))), "NAMED": _NAMED}


def check_graphs(graphs: Iterable[Term], rights: Rights) -> None:
    """Raises GraphNotWritable for the first of these that may not be written."""
    write = rights.write
    if write.everything:
        return
    for graph in dict.fromkeys(graphs):
        if not write.has(graph):
            raise GraphNotWritable(graph)


def check_target(target: GraphTarget, rights: Rights) -> None:
    """CLEAR and DROP of ALL or NAMED need the right to write all graphs, whichever graphs there are."""
    match target:
        case "ALL" | "NAMED":
            if not rights.write.covers(_WANTED[target]):
                raise GraphNotWritable(None)
        case "DEFAULT":
            check_graphs((DEFAULT_GRAPH,), rights)
        case graph:
            check_graphs((graph,), rights)
