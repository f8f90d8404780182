"""Virtuoso 7: every triple is in a named graph; requests may have 10,000 lines of its code and some
5,000 triples in a row, answers 10,000 rows, and an
offset beyond those wants a subquery that sorts.

It keeps numbers and times by value, forgets literals of unknown datatypes in an operation that deletes from several
graphs, and calls its blank nodes by IRIs of its own (`nodeID://`).
"""

from tidings.endpoint.dialects.dialect import Dialect
from tidings.model.terms import Term


def address(label: str) -> Term | None:
    """What answers call `_:b10001` is `<nodeID://b10001>`."""
    return f"<nodeID://{label}>"


_OWN = (
    "<http://www.openlinksw.com/",
    "<http://localuriqaserver/",
    "<http://www.w3.org/2002/07/owl#",
    "<http://www.w3.org/ns/ldp#",
    "<virtrdf",
)

VIRTUOSO = Dialect(
    "virtuoso",
    signature="virtuoso",
    request_bytes=200_000,
    request_quads=4_000,
    rows=10_000,
    sorts_apart=True,
    asked=50,
    bare=False,
    one_graph=True,
    default_graph="<urn:tidings:default>",
    ignored=_OWN,
    digests=False,
    address=address,
)
