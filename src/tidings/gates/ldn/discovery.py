"""Finds the inbox of a resource: in a `Link` header, or in the triples of the resource (LDN, Discovery).

Link: </inbox/>; rel="http://www.w3.org/ns/ldp#inbox"        <resource> ldp:inbox <inbox>
"""

import re
from collections.abc import Iterable, Sequence

from msgspec import Struct

from tidings.gates.ldn.contexts import Contexts
from tidings.gates.ldn.errors import NoInbox
from tidings.gates.ldn.inbox import INBOX, LDP
from tidings.gates.ldn.notifications import FORMATS, with_contexts
from tidings.model.errors import TidingsError
from tidings.model.formats.media import by_media_type
from tidings.model.formats.rdf import RdfFormat, parse_rdf
from tidings.model.iris import resolve

DISCOVERING = "application/ld+json, text/turtle;q=0.9, */*;q=0.1"
"""What a resource is asked for whose inbox is looked for."""
_LINK = re.compile(r"<([^>]*)>((?:\s*;\s*[^,;=]+(?:=(?:\"[^\"]*\"|[^,;\"]*))?)*)")
_REL = re.compile(r";\s*rel\s*=\s*(?:\"([^\"]*)\"|([^,;\s]*))", re.IGNORECASE)


class Resource(Struct, frozen=True):
    """What was found at an address, after all redirects."""

    url: str
    links: Sequence[str]
    """Values of `Link` headers."""
    media_type: str
    body: bytes


def inbox_of(resource: Resource) -> str:
    """The address of its inbox. Raises NoInbox."""
    for target, relations in _links(resource.links):
        if f"{LDP}inbox" in relations:
            return resolve(resource.url, target)
    try:
        return _told(resource)
    except NoInbox:
        raise
    except TidingsError as error:
        raise NoInbox(f"{resource.url} names no inbox in a Link header, and cannot be read: {error}") from error


def _links(headers: Iterable[str]) -> Iterable[tuple[str, list[str]]]:
    """Targets with their relations (RFC 8288, section 3)."""
    for header in headers:
        for match in _LINK.finditer(header):
            relation = _REL.search(match[2])
            yield match[1], [] if relation is None else (relation[1] or relation[2] or "").split()


def _told(resource: Resource) -> str:
    """What the body says."""
    format_ = by_media_type(FORMATS, resource.media_type)
    body = with_contexts(resource.body, Contexts()) if format_ is RdfFormat.JSON_LD else resource.body
    for s, p, o, _ in parse_rdf(body, format_, resource.url):
        if s == f"<{resource.url}>" and p == INBOX and o[0] == "<":
            return o[1:-1]
    raise NoInbox(f"{resource.url} names no inbox")
