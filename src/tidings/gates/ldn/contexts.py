"""Contexts that JSON-LD documents refer to by their address.

    {"@context": "https://www.w3.org/ns/activitystreams"}  ->  {"@context": {… the terms …}}

The context of ActivityStreams 2.0, which most notifications use, is built in: its terms, and which of them stand for
IRIs or have a datatype. Other contexts are fetched if the settings allow clients to have documents fetched, and refused
otherwise. References within contexts are followed as well, up to a depth.
"""

import re
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, TypeAlias

from tidings.gates.ldn.errors import ContextNotAllowed

Fetch: TypeAlias = Callable[[str], Any]
"""The JSON document at an address. Raises what speaks against it; takes its time."""

ACTIVITY_STREAMS = "https://www.w3.org/ns/activitystreams"
AS = f"{ACTIVITY_STREAMS}#"
_ADDRESSES = frozenset(
    {ACTIVITY_STREAMS, AS, "http://www.w3.org/ns/activitystreams", "http://www.w3.org/ns/activitystreams#"}
)
_XSD = "http://www.w3.org/2001/XMLSchema#"
_DEEPEST = 8
_MOST_KEPT = 100

_words = re.compile(r"\w+").findall
_TYPES = _words(
    """
    Accept Activity Add Announce Application Arrive Article Audio Block Collection CollectionPage Create Delete
    Dislike Document Event Flag Follow Group Ignore Image IntransitiveActivity Invite Join Leave Like Link
    Listen Mention Move Note Object Offer OrderedCollection OrderedCollectionPage Organization Page Person Place
    Profile Question Read Reject Relationship Remove Service TentativeAccept TentativeReject Tombstone Travel
    Undo Update Video View
    """
)
_LINKS = _words(
    """
    actor anyOf attachment attributedTo audience bcc bto cc context current describes first followers following
    formerType generator href icon image inReplyTo instrument last liked likes location next object oneOf origin
    outbox partOf prev preview relationship replies result shares streams subject tag target to url
    """
)
_TEXTS = _words(
    """
    content hreflang mediaType name preferredUsername rel summary
    """
)
_NUMBERS = {
    "accuracy": "float", "altitude": "float", "latitude": "float", "longitude": "float", "radius": "float",
    "height": "nonNegativeInteger", "width": "nonNegativeInteger", "totalItems": "nonNegativeInteger",
    "startIndex": "nonNegativeInteger", "duration": "duration", "deleted": "dateTime", "endTime": "dateTime",
    "published": "dateTime", "startTime": "dateTime", "updated": "dateTime", "closed": "dateTime",
}  # fmt: skip


def _activity_streams() -> dict[str, Any]:
    terms: dict[str, Any] = {"as": AS, "ldp": "http://www.w3.org/ns/ldp#", "xsd": _XSD, "id": "@id", "type": "@type"}
    terms |= {name: f"as:{name}" for name in (*_TYPES, *_TEXTS)}
    terms |= {name: {"@id": f"as:{name}", "@type": "@id"} for name in _LINKS}
    terms |= {name: {"@id": f"as:{name}", "@type": f"xsd:{datatype}"} for name, datatype in _NUMBERS.items()}
    terms |= {f"{name}Map": {"@id": f"as:{name}", "@container": "@language"} for name in ("content", "name", "summary")}
    terms["inbox"] = {"@id": "ldp:inbox", "@type": "@id"}
    terms["items"] = {"@id": "as:items", "@type": "@id"}
    terms["orderedItems"] = {"@id": "as:items", "@type": "@id", "@container": "@list"}
    return terms


class Contexts:
    """What may be referred to. Without `fetch`, that is ActivityStreams alone."""

    def __init__(self, fetch: Fetch | None = None) -> None:
        self._fetch = fetch
        self._known: dict[str, Any] = dict.fromkeys(_ADDRESSES, _activity_streams())
        self._fetched: OrderedDict[str, Any] = OrderedDict()

    @property
    def fetches(self) -> bool:
        return self._fetch is not None

    def inlined(self, document: Any) -> Any:
        """The document with its contexts in place. Raises ContextNotAllowed, and what `fetch` raises."""
        return self._inlined(document, 0)

    def _inlined(self, value: Any, depth: int) -> Any:
        match value:
            case dict():
                if "@import" in value:
                    raise ContextNotAllowed("a context that imports another one is not taken")
                return {
                    name: self._context(each, depth) if name == "@context" else self._inlined(each, depth)
                    for name, each in value.items()
                }
            case list():
                return [self._inlined(each, depth) for each in value]
            case _:
                return value

    def _context(self, value: Any, depth: int) -> Any:
        if depth > _DEEPEST:
            raise ContextNotAllowed("contexts refer to contexts that refer to contexts, and so on")
        match value:
            case str():
                return self._inlined(self._found(value), depth + 1)
            case list():
                return [self._context(each, depth) for each in value]
            case _:
                return self._inlined(value, depth + 1)

    def _found(self, address: str) -> Any:
        if address in self._known:
            return self._known[address]
        if address in self._fetched:
            self._fetched.move_to_end(address)
            return self._fetched[address]
        if self._fetch is None:
            raise ContextNotAllowed(f"the context {address!r} would have to be fetched; write it into the document")
        document = self._fetch(address)
        if not isinstance(document, dict) or "@context" not in document:
            raise ContextNotAllowed(f"what is at {address!r} is no context")
        self._fetched[address] = document["@context"]
        while len(self._fetched) > _MOST_KEPT:
            self._fetched.popitem(last=False)
        return self._fetched[address]
