"""The inbox as data: a graph for each notification, and one for the container, which lists them.

    GRAPH <inbox/>    { <inbox/> ldp:contains <inbox/7f…> . <inbox/7f…> dcterms:created "2026-…" }
    GRAPH <inbox/7f…> { the notification }

Both change in one commit, so a subscriber to the container hears only of notifications that exist. In the graph, names
are below the broker's base; in answers, they are the addresses by which the client reaches the broker.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from uuid import uuid4

from msgspec import Struct

from tidings.model.errors import BadRequest
from tidings.model.iris import resolve
from tidings.model.terms import RDF_TYPE, XSD, Term, Triple

PATH = "/inbox/"
LDP = "http://www.w3.org/ns/ldp#"
CONTAINS: Term = f"<{LDP}contains>"
INBOX: Term = f"<{LDP}inbox>"
CONSTRAINED_BY = f"{LDP}constrainedBy"
CREATED: Term = "<http://purl.org/dc/terms/created>"
PAGE = 1_000
_ID = re.compile(r"[0-9a-f]{32}")
_CURSOR = re.compile(r"([0-9TZ:.+-]{10,40}),([0-9a-f]{32})")


class Page(Struct, frozen=True):
    """Notifications, the latest first, by their ids; and where the next page goes on."""

    ids: tuple[str, ...]
    after: str | None = None


class Inbox:
    """The names, and the SPARQL, of the inbox below a base."""

    def __init__(self, base: str) -> None:
        self.iri = resolve(base, PATH)

    def fresh(self) -> str:
        """The id of a new notification."""
        return uuid4().hex

    def name(self, number: str) -> Term:
        """The graph of a notification, which is its IRI."""
        return f"<{self.iri}{number}>"

    def insert(self, number: str, triples: Sequence[Triple], created: str) -> str:
        """The update that keeps a notification."""
        name, container = self.name(number), f"<{self.iri}>"
        listed = f'{container} {CONTAINS} {name} . {name} {CREATED} "{created}"^^<{XSD}dateTime>'
        said = " . ".join(f"{s} {p} {o}" for s, p, o in triples)
        return f"INSERT DATA {{ GRAPH {container} {{ {listed} }} GRAPH {name} {{ {said} }} }}"

    def remove(self, number: str) -> str:
        name, container = self.name(number), f"<{self.iri}>"
        return (
            f"DROP SILENT GRAPH {name} ; DELETE WHERE {{ GRAPH {container} {{ {name} {CREATED} ?t }} }} ; "
            f"DELETE DATA {{ GRAPH {container} {{ {container} {CONTAINS} {name} }} }}"
        )

    def page(self, after: str | None) -> str:
        """The query for a page, and for one more. Raises BadRequest."""
        container = f"<{self.iri}>"
        later = "" if after is None else self._later(after)
        listed = f"GRAPH {container} {{ {container} {CONTAINS} ?n . ?n {CREATED} ?t{later} }}"
        return f"SELECT ?n ?t {{ {listed} }} ORDER BY DESC(?t) ?n LIMIT {PAGE + 1}"

    def _later(self, cursor: str) -> str:
        """Raises BadRequest."""
        found = _CURSOR.fullmatch(cursor)
        if found is None:
            raise BadRequest("before is not where a page of this inbox ends")
        time = f'"{found[1]}"^^<{XSD}dateTime>'
        return f' FILTER(?t < {time} || (?t = {time} && STR(?n) > "{self.iri}{found[2]}"))'

    def is_id(self, number: str) -> bool:
        return _ID.fullmatch(number) is not None

    def id_of(self, iri: str) -> str:
        return iri.removeprefix(self.iri)

    def reached(self, triples: Iterable[Triple], address: str) -> Iterator[Triple]:
        """The triples with the address by which a client reaches the inbox."""
        names, addresses = f"<{self.iri}", f"<{address}"

        def told(term: Term) -> Term:
            return addresses + term[len(names) :] if term.startswith(names) else term

        return ((told(s), told(p), told(o)) for s, p, o in triples)


def listing(address: str, ids: Iterable[str]) -> Iterator[Triple]:
    """The description of an inbox for consumers, with the address by which they reach it."""
    yield f"<{address}>", RDF_TYPE, f"<{LDP}Container>"
    for number in ids:
        yield f"<{address}>", CONTAINS, f"<{address}{number}>"
