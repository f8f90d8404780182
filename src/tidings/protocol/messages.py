"""Requests of the Subscribe language: a message is one JSON object, whose one member says what is asked for.

    {"subscribe": {"sparql": …, "alias": …, "default-graph-uri": …, "resume": {"spuid": …, "sequence": …}}}
    {"unsubscribe": {"spuid": …}}
    {"update": {"sparql": …, "at" | "delay": …, "publisher": …}}            {"cancel": {"delayed": …}}
    {"query": {"sparql": …}}
    {"prepare": {"sparql": …}}  then  {"update": {"prepared": …, "bindings": {…}}}

Here each is a value of its own; `message_reading` makes them of bytes.
"""

from typing import TypeAlias

from msgspec import Struct

from tidings.model.iris import resolve
from tidings.model.terms import Term
from tidings.protocol.echo import NO_ECHO, Echo
from tidings.protocol.instants import Due
from tidings.protocol.sparql_http import graph
from tidings.sparql.algebra import Dataset


class Graphs(Struct, frozen=True):
    """The dataset of a request by the names, perhaps relative, that its client gave."""

    default: tuple[str, ...] = ()
    named: tuple[str, ...] = ()

    def dataset(self, base: str) -> Dataset | None:
        """None leaves it to the request's text. Raises BadRequest."""
        if not self.default and not self.named:
            return None
        return Dataset(
            tuple(dict.fromkeys(graph(name, "default-graph-uri", base) for name in self.default)),
            tuple(dict.fromkeys(graph(name, "named-graph-uri", base) for name in self.named)),
        )


ANY_GRAPHS = Graphs()


class Subscribe(Struct, frozen=True):
    sparql: str
    graphs: Graphs = ANY_GRAPHS
    echo: Echo = NO_ECHO
    authorization: str | None = None


class Resume(Struct, frozen=True):
    """Go on with a subscription after the notification of a number."""

    spuid: str
    sequence: int
    otherwise: Subscribe | None = None
    """What to begin with if the subscription is gone."""
    echo: Echo = NO_ECHO
    authorization: str | None = None


class Unsubscribe(Struct, frozen=True):
    spuid: str
    echo: Echo = NO_ECHO
    authorization: str | None = None


class UnsubscribeByAlias(Struct, frozen=True):
    """End the one subscription of the connection that has an alias."""

    alias: str | int | float
    echo: Echo = NO_ECHO
    authorization: str | None = None


class Update(Struct, frozen=True):
    sparql: str
    graphs: Graphs = ANY_GRAPHS
    publisher: str | None = None
    echo: Echo = NO_ECHO
    authorization: str | None = None


class DelayedUpdate(Struct, frozen=True):
    sparql: str
    due: Due
    graphs: Graphs = ANY_GRAPHS
    publisher: str | None = None
    echo: Echo = NO_ECHO
    authorization: str | None = None


class UpdatePrepared(Struct, frozen=True):
    """An update whose text was sent before: its name, and terms for its variables."""

    prepared: str
    bindings: dict[str, Term] = {}
    """Their IRIs may be relative."""
    publisher: str | None = None
    echo: Echo = NO_ECHO
    authorization: str | None = None

    def bound(self, base: str) -> dict[str, Term]:
        """The bindings, with IRIs that are absolute."""
        return {
            name: f"<{resolve(base, term[1:-1])}>" if term[0] == "<" else term for name, term in self.bindings.items()
        }


class Query(Struct, frozen=True):
    sparql: str
    graphs: Graphs = ANY_GRAPHS
    echo: Echo = NO_ECHO
    authorization: str | None = None


class Prepare(Struct, frozen=True):
    """Keep the text of an update for `UpdatePrepared`."""

    sparql: str
    graphs: Graphs = ANY_GRAPHS
    echo: Echo = NO_ECHO
    authorization: str | None = None


class Cancel(Struct, frozen=True):
    """Call a delayed update off."""

    delayed: str
    echo: Echo = NO_ECHO
    authorization: str | None = None


Request: TypeAlias = (
    Subscribe
    | Resume
    | Unsubscribe
    | UnsubscribeByAlias
    | Update
    | DelayedUpdate
    | UpdatePrepared
    | Query
    | Prepare
    | Cancel
)
