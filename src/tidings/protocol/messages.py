"""Requests of the Subscribe language: a message is a JSON object with one member, which names the kind of request.

    {"subscribe": {"sparql": …, "alias": …, "default-graph-uri": …, "resume": {"spuid": …, "sequence": …}}}
    {"unsubscribe": {"spuid": …}}
    {"update": {"sparql": …, "at" | "delay": …, "publisher": …}}            {"cancel": {"delayed": …}}
    {"query": {"sparql": …}}
    {"publish": {"event": {…}, "graph": …}}
    {"prepare": {"sparql": …}}  then  {"update": {"prepared": …, "bindings": {…}}}

Each kind is a value here. Clients write messages with `encode_request`; gates read them with `message_reading`.
"""

from typing import Any, TypeAlias, assert_never

import msgspec
from msgspec import Struct

from tidings.model.formats.results.json import term_value
from tidings.model.iris import resolve
from tidings.model.terms import Term
from tidings.protocol.echo import NO_ECHO, Echo
from tidings.protocol.instants import At, Due
from tidings.protocol.sparql_http import graph
from tidings.sparql.algebra import Dataset


class Graphs(Struct, frozen=True):
    """The graphs of a request, as the client names them; the names may be relative."""

    default: tuple[str, ...] = ()
    named: tuple[str, ...] = ()

    def dataset(self, base: str) -> Dataset | None:
        """The dataset with absolute names; None if the text of the request decides. Raises BadRequest."""
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
    """Resume a subscription after the notification with this sequence."""

    spuid: str
    sequence: int
    otherwise: Subscribe | None = None
    """The subscription to begin if there is no such subscription any more."""
    echo: Echo = NO_ECHO
    authorization: str | None = None


class Unsubscribe(Struct, frozen=True):
    spuid: str
    echo: Echo = NO_ECHO
    authorization: str | None = None


class UnsubscribeByAlias(Struct, frozen=True):
    """End the subscription of this connection that has this alias."""

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
    """Carry out a prepared update: its name, and terms for its variables."""

    prepared: str
    bindings: dict[str, Term] = {}
    """The terms by variable; IRIs may be relative."""
    publisher: str | None = None
    echo: Echo = NO_ECHO
    authorization: str | None = None

    def bound(self, base: str) -> dict[str, Term]:
        """The bindings with absolute IRIs."""
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


class Publish(Struct, frozen=True):
    """Publish events: the broker matches them with approximate subscriptions, and does not store them."""

    events: tuple[Any, ...]
    """The events as JSON."""
    graph: str | None = None
    """The name of their graph, perhaps relative; None is the default graph."""
    echo: Echo = NO_ECHO
    authorization: str | None = None


class Cancel(Struct, frozen=True):
    """Cancel a delayed update."""

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
    | Publish
    | Cancel
)


def encode_request(request: Request) -> bytes:
    """The message for a request."""
    kind, content = _members(request)
    echo = request.echo
    common = {"alias": echo.alias, "spuid": echo.spuid, "authorization": request.authorization}
    return msgspec.json.encode({kind: {name: value for name, value in (common | content).items() if value is not None}})


def _members(request: Request) -> tuple[str, dict[str, Any]]:
    match request:
        case Subscribe(sparql, graphs):
            return "subscribe", {"sparql": sparql, **_graphs(graphs)}
        case Resume(spuid, sequence, otherwise):
            anew = {} if otherwise is None else {"sparql": otherwise.sparql, **_graphs(otherwise.graphs)}
            return "subscribe", {**anew, "resume": {"spuid": spuid, "sequence": sequence}}
        case Unsubscribe(spuid):
            return "unsubscribe", {"spuid": spuid}
        case UnsubscribeByAlias(alias):
            return "unsubscribe", {"alias": alias}
        case Update(sparql, graphs, publisher):
            return "update", {"sparql": sparql, **_graphs(graphs), "publisher": publisher}
        case DelayedUpdate(sparql, due, graphs, publisher):
            when = {"at": due.micros} if isinstance(due, At) else {"delay": due.seconds}
            return "update", {"sparql": sparql, **_graphs(graphs), **when, "publisher": publisher}
        case UpdatePrepared(prepared, bindings, publisher):
            values = {name: term_value(term) for name, term in bindings.items()}
            return "update", {"prepared": prepared, "bindings": values, "publisher": publisher}
        case Query(sparql, graphs):
            return "query", {"sparql": sparql, **_graphs(graphs)}
        case Prepare(sparql, graphs):
            return "prepare", {"sparql": sparql, **_graphs(graphs)}
        case Publish(events, graph_name):
            return "publish", {"event": events[0] if len(events) == 1 else events, "graph": graph_name}
        case Cancel(delayed):
            return "cancel", {"delayed": delayed}
        case _:
            assert_never(request)


def _graphs(graphs: Graphs) -> dict[str, tuple[str, ...]]:
    given = {"default-graph-uri": graphs.default, "named-graph-uri": graphs.named}
    return {name: names for name, names in given.items() if names}
