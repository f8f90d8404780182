"""A change of one graph that comes as a document, as the Graph Store Protocol has it, and not as SPARQL Update.

    PUT  CLEAR GRAPH g ; INSERT DATA { GRAPH g { document } }        POST  the INSERT DATA alone

It becomes such a request, so that it waits in the queue, is one commit, and is told like any other update.
"""

from collections.abc import Callable, Iterable

from msgspec import Struct

from tidings.engine.updates.operations import PreparedUpdate
from tidings.model.terms import Quad, Term
from tidings.sparql.algebra import Clear, InsertData, Operation


class GraphChange(Struct):
    """What is to become of a graph. Labels of blank nodes mean something within the document only."""

    graph: Term
    replaces: bool
    """Whether what the graph holds goes first."""
    size: int
    """Of the document, in bytes."""
    read: Callable[[], Iterable[Quad]]
    existed: bool = False
    """Whether the graph was there when the change had its turn."""

    def request(self) -> PreparedUpdate:
        """Read the document. Raises whatever is wrong with it."""
        operations: list[Operation] = [Clear(self.graph or "DEFAULT", silent=True)] if self.replaces else []
        return PreparedUpdate((*operations, InsertData(tuple(self.read()))))
