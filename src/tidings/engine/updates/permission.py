"""What an update may write: which graphs, decided by what the request says and never by what they hold.

A request that names a graph, or whose templates yield a quad in it, is refused if its sender may not write that graph,
whether or not anything would change there: else the answer would tell what the graph holds. Nothing of it is done.
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
    """CLEAR and DROP of ALL and of NAMED are for those who may write all of them, whichever there are."""
    match target:
        case "ALL" | "NAMED":
            if not rights.write.covers(_WANTED[target]):
                raise GraphNotWritable(None)
        case "DEFAULT":
            check_graphs((DEFAULT_GRAPH,), rights)
        case graph:
            check_graphs((graph,), rights)
