"""A change of one graph that comes as a document, by the Graph Store Protocol.

    PUT  CLEAR GRAPH g ; INSERT DATA { GRAPH g { document } }        POST  the INSERT DATA alone

It becomes such a request, so it waits in the queue, makes one commit, and causes notifications like any other update.
"""

from collections.abc import Callable, Iterable

from msgspec import Struct

from tidings.engine.updates.operations import PreparedUpdate
from tidings.model.terms import Quad, Term
from tidings.sparql.algebra import Clear, InsertData, Operation


class GraphChange(Struct):
    """A document that replaces a graph or is added to it. Labels of blank nodes are local to the document."""

    graph: Term
    replaces: bool
    """Whether the document replaces the content of the graph."""
    size: int
    """The size of the document, in bytes."""
    read: Callable[[], Iterable[Quad]]
    existed: bool = False
    """Whether the graph existed when the update had its turn in the queue."""

    def request(self) -> PreparedUpdate:
        """Parse the document. Raises what is wrong with it."""
        operations: list[Operation] = [Clear(self.graph or "DEFAULT", silent=True)] if self.replaces else []
        return PreparedUpdate((*operations, InsertData(tuple(self.read()))))
