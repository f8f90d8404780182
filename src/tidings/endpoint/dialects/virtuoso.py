"""Virtuoso 7: every triple is in a named graph. A request may have at most 10,000 lines of Virtuoso's code, and about
5,000 consecutive triples; an answer, 10,000 rows. An offset beyond these rows needs a subquery that sorts.

It stores numbers and times by value, skips literals of unknown datatypes in an operation that deletes from several
graphs, and names its blank nodes by IRIs (`nodeID://`).
"""

from tidings.endpoint.dialects.dialect import Dialect
from tidings.model.terms import Term


def address(label: str) -> Term | None:
    """`_:b10001` in an answer is `<nodeID://b10001>` in an update."""
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
