"""Reads messages of the Subscribe language from bytes, and tolerates what different clients write.

Unknown members are ignored, because some clients send internal members. Graphs may be a text or a list, and their names
may have hyphens or underscores. `authorization` and `publisher` may stand inside the request or beside it.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from tidings.model.errors import ResultsSyntaxError
from tidings.model.formats.results.json import term_of_value
from tidings.model.publishers import publisher_name
from tidings.model.terms import Term
from tidings.protocol.echo import NO_ECHO, Alias, Echo
from tidings.protocol.errors import BadMessage
from tidings.protocol.instants import read_due
from tidings.protocol.messages import (
    ANY_GRAPHS,
    Cancel,
    DelayedUpdate,
    Graphs,
    Prepare,
    Publish,
    Query,
    Request,
    Resume,
    Subscribe,
    Unsubscribe,
    UnsubscribeByAlias,
    Update,
    UpdatePrepared,
)

_Names = str | list[str] | None


class _Resume(msgspec.Struct, frozen=True):
    spuid: str
    sequence: int


class _Members(msgspec.Struct, frozen=True, rename={
    "default_graphs": "default-graph-uri", "named_graphs": "named-graph-uri",
    "default_alike": "default_graph_uri", "named_alike": "named_graph_uri",
}):  # fmt: skip
    """All members that a request may have. Each kind of request takes those that it needs."""

    sparql: str | None = None
    alias: Alias = None
    spuid: str | None = None
    authorization: str | None = None
    default_graphs: _Names = None
    named_graphs: _Names = None
    default_alike: _Names = None
    named_alike: _Names = None
    resume: _Resume | None = None
    at: str | int | None = None
    delay: str | float | None = None
    prepared: str | None = None
    bindings: dict[str, Any] | None = None
    delayed: str | None = None
    event: Any = None
    graph: str | None = None
    matching: Any = None
    publisher: str | None = None


class _Message(msgspec.Struct, frozen=True):
    subscribe: _Members | None = None
    unsubscribe: _Members | None = None
    update: _Members | None = None
    query: _Members | None = None
    prepare: _Members | None = None
    publish: _Members | None = None
    cancel: _Members | None = None
    authorization: str | None = None
    publisher: str | None = None


_DECODER = msgspec.json.Decoder(_Message)


def decode(document: bytes | memoryview) -> Request:
    """Read the request in a message. Raises BadMessage, BadRequest; `echo_of` gives the echo for the error then."""
    message, kind, members = _only_member(document)
    if members.authorization is None and message.authorization is not None:
        members = msgspec.structs.replace(members, authorization=message.authorization)
    if members.publisher is None and message.publisher is not None:
        members = msgspec.structs.replace(members, publisher=message.publisher)
    return _KINDS[kind](members)


def echo_of(document: bytes) -> Echo:
    """The alias and the spuid of an invalid message, as far as they can be read, for the error that answers it."""
    try:
        _, _, members = _only_member(document)
    except BadMessage:
        return _echo_of_anything(document)
    return _echo(members)


def _only_member(document: bytes | memoryview) -> tuple[_Message, str, _Members]:
    try:
        message = _DECODER.decode(document)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadMessage(f"the message cannot be read: {error}") from error
    found = [(kind, members) for kind in _KINDS if (members := getattr(message, kind)) is not None]
    if len(found) != 1:
        raise BadMessage(f"a message has exactly one of the members {', '.join(_KINDS)}; this has {len(found)}")
    return message, *found[0]


def _echo_of_anything(document: bytes) -> Echo:
    try:
        message = msgspec.json.decode(document)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return NO_ECHO
    found: dict[str, Any] = {}
    for part in message.values() if isinstance(message, dict) else ():
        if isinstance(part, dict):
            found |= {name: part[name] for name in ("alias", "spuid") if isinstance(part.get(name), str | int | float)}
    return Echo(found.get("alias"), found.get("spuid"))


# -- kinds ------------------------------------------------------------------------------------------------------


def _subscribe(members: _Members) -> Subscribe | Resume:
    resume = members.resume
    if resume is None:
        return Subscribe(_subscription_text(members), _graphs(members), _echo(members), members.authorization)
    otherwise = None
    if members.sparql is not None or members.matching is not None:
        otherwise = Subscribe(_subscription_text(members), _graphs(members), _echo(members), members.authorization)
    return Resume(resume.spuid, resume.sequence, otherwise, _echo(members), members.authorization)


def _unsubscribe(members: _Members) -> Unsubscribe | UnsubscribeByAlias:
    if members.spuid:
        return Unsubscribe(members.spuid, _echo(members), members.authorization)
    if members.alias is None:
        raise BadMessage("the member spuid is missing, and the alias does not name exactly one subscription")
    return UnsubscribeByAlias(members.alias, _echo(members), members.authorization)


def _update(members: _Members) -> Update | DelayedUpdate | UpdatePrepared:
    publisher = None if members.publisher is None else publisher_name(members.publisher)
    echo, authorization = _echo(members), members.authorization
    if members.prepared is not None:
        if members.at is not None or members.delay is not None:
            raise BadMessage("a prepared update happens at once; send a delayed one as text")
        bindings = {name.lstrip("?$"): _term(name, value) for name, value in (members.bindings or {}).items()}
        return UpdatePrepared(members.prepared, bindings, publisher, echo, authorization)
    due = read_due(members.at, members.delay)
    if due is None:
        return Update(_sparql(members), _graphs(members), publisher, echo, authorization)
    return DelayedUpdate(_sparql(members), due, _graphs(members), publisher, echo, authorization)


def _query(members: _Members) -> Query:
    return Query(_sparql(members), _graphs(members), _echo(members), members.authorization)


def _prepare(members: _Members) -> Prepare:
    return Prepare(_sparql(members), _graphs(members), _echo(members), members.authorization)


def _publish(members: _Members) -> Publish:
    event = members.event
    if event is None:
        raise BadMessage("the member event is missing: an object of attributes and values, or a list of such")
    events = tuple(event) if isinstance(event, list) else (event,)
    return Publish(events, members.graph, _echo(members), members.authorization)


def _cancel(members: _Members) -> Cancel:
    if members.delayed is None:
        raise BadMessage("the member delayed is missing: it names the update to cancel")
    return Cancel(members.delayed, _echo(members), members.authorization)


_KINDS: dict[str, Callable[[_Members], Request]] = {
    "subscribe": _subscribe,
    "unsubscribe": _unsubscribe,
    "update": _update,
    "query": _query,
    "prepare": _prepare,
    "publish": _publish,
    "cancel": _cancel,
}


# -- members ----------------------------------------------------------------------------------------------------


def _subscription_text(members: _Members) -> str:
    """The query; or, with the member `matching`, the text of an approximate subscription."""
    words = members.matching
    if words is None:
        return _sparql(members)
    if members.sparql is not None:
        raise BadMessage("a subscription has sparql or matching; both in one are written as MATCHING … WHERE …")
    return f"MATCHING {words if isinstance(words, str) else msgspec.json.encode(words).decode()}"


def _sparql(members: _Members) -> str:
    if members.sparql is None:
        raise BadMessage("the member sparql is missing")
    return members.sparql


def _echo(members: _Members) -> Echo:
    if members.alias is None and members.spuid is None:
        return NO_ECHO
    return Echo(members.alias, members.spuid)


def _graphs(members: _Members) -> Graphs:
    default = members.default_alike if members.default_graphs is None else members.default_graphs
    named = members.named_alike if members.named_graphs is None else members.named_graphs
    return ANY_GRAPHS if default is named is None else Graphs(_names(default), _names(named))


def _names(names: _Names) -> tuple[str, ...]:
    if names is None:
        return ()
    return (names,) if isinstance(names, str) else tuple(names)


def _term(name: str, value: Any) -> Term:
    # JSAP says "uri", as SPARQL results do. A plain JSON string or number becomes the corresponding literal.
    try:
        return term_of_value(value if isinstance(value, dict) else {"type": "literal", "value": value})
    except ResultsSyntaxError as error:
        raise BadMessage(f"the binding of {name} is not a term: {error}") from error
