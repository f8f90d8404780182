"""Reads the subscriptions that a job is to have, from a file of requests or from a broker.

A line of the file is a request: {"spuid": …, "query": …, "from": COMMIT, "default": […], "named": […], "graphs": […]};
only the query is required. `graphs` are those that the subscriber may see. A later line with the same spuid replaces
it. Removing the line, or a later one with "ended": true, ends the subscription.
"""

from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Annotated, Any, Protocol

import msgspec

from tidings.client.errors import CannotConnect, ConnectionLost, NoAnswer, NotUnderstood, Refused
from tidings.client.http import HttpClient
from tidings.client.login.environment import shown_at, trusted
from tidings.model.errors import BadRequest
from tidings.model.graph_patterns import ALL, read_graphs
from tidings.spark.errors import FeedFailed
from tidings.spark.streaming.errors import StreamUnusable
from tidings.spark.streaming.unit import Member


class SubscriptionRequest(msgspec.Struct, frozen=True, rename={"begins": "from"}):
    """A request: a line of the file."""

    query: str = ""
    spuid: str = ""
    begins: Annotated[int, msgspec.Meta(ge=0)] | None = None
    """The commit after which it begins; None for the last one."""
    default: tuple[str, ...] | None = None
    named: tuple[str, ...] | None = None
    graphs: tuple[str, ...] = (ALL,)
    ended: bool = False

    @property
    def member(self) -> Member:
        """The member for this request. Raises BadRequest if graphs are not written correctly."""
        default, named = (None if each is None else tuple(map(_bracketed, each)) for each in (self.default, self.named))
        return Member(self.spuid or self._digest(), self.query, default, named, read_graphs(self.graphs))

    def _digest(self) -> str:
        """A spuid for a request without one: a digest, the same in each run for the same query, dataset and graphs."""
        asked = (self.query, self.default, self.named)
        question = msgspec.json.encode(asked if self.graphs == (ALL,) else (*asked, self.graphs))
        return f"sepa://spuid/{blake2b(question, digest_size=16).hexdigest()}"


def _bracketed(iri: str) -> str:
    return iri if iri.startswith("<") else f"<{iri}>"


class RequestSource(Protocol):
    """A source of requests for subscriptions."""

    def read(self) -> dict[str, SubscriptionRequest] | None:
        """All requests by spuid; None if nothing has changed since the last call."""


def request_source(name: str) -> RequestSource:
    return BrokerRequests(name) if name.startswith(("http://", "https://")) else FileRequests(Path(name))


class FileRequests:
    """The requests in a file, which may change."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: tuple[int, int] | None = None

    def read(self) -> dict[str, SubscriptionRequest] | None:
        try:
            about = self._path.stat()
            if (about.st_mtime_ns, about.st_size) == self._seen:
                return None
            text = self._path.read_bytes()
        except OSError as error:
            raise StreamUnusable(f"{self._path} cannot be read: {error.strerror}") from error
        self._seen = about.st_mtime_ns, about.st_size
        # The last line may be incomplete, because another process is appending to the file.
        return self._folded(text if text.endswith(b"\n") else text[: text.rfind(b"\n") + 1] or text)

    def _folded(self, text: bytes) -> dict[str, SubscriptionRequest]:
        found: dict[str, SubscriptionRequest] = {}
        for number, request in self._requests(text):
            try:
                spuid = request.member.spuid
            except BadRequest as error:
                raise StreamUnusable(f"{self._path}, line {number}: {error}") from error
            if request.ended:
                found.pop(spuid, None)
                continue
            before = found.get(spuid)
            if before is not None and before != request and not (before.spuid and request.spuid):
                what = f"another request has the spuid {spuid} already: give each a spuid of its own"
                raise StreamUnusable(f"{self._path}, line {number}: {what}")
            found[spuid] = request
        return found

    def _requests(self, text: bytes) -> Iterator[tuple[int, SubscriptionRequest]]:
        for number, line in enumerate(text.splitlines(), 1):
            if line.strip():
                try:
                    request = msgspec.json.decode(line, type=SubscriptionRequest)
                except msgspec.DecodeError as error:
                    raise StreamUnusable(f"{self._path}, line {number}: {error}") from error
                if not request.query and not request.ended:
                    raise StreamUnusable(f"{self._path}, line {number}: a subscription has a query")
                yield number, request


class _Shown(msgspec.Struct, rename={"default": "default-graph-uri", "named": "named-graph-uri"}):
    """A subscription as a broker shows it."""

    spuid: str
    sparql: str
    default: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    graphs: tuple[str, ...] = (ALL,)

    @property
    def request(self) -> SubscriptionRequest:
        """The request. If a subscription names graphs of one kind only, it has none of the other kind; if it names none
        at all, it has the whole dataset."""
        default, named = (self.default, self.named) if self.default or self.named else (None, None)
        return SubscriptionRequest(self.sparql, self.spuid, None, default, named, self.graphs)


class _Page(msgspec.Struct):
    version: str
    subscriptions: list[_Shown]
    after: str | None = None
    ended: list[str] | None = None
    """The subscriptions that ended since the requested version; None if this is the whole list."""


class BrokerRequests:
    """The subscriptions of a running broker. After the first call, it requests only the changes."""

    def __init__(self, address: str) -> None:
        self._address = address.rstrip("/")
        self._version = ""
        self._seen: dict[str, SubscriptionRequest] | None = None

    def read(self) -> dict[str, SubscriptionRequest] | None:
        try:
            with HttpClient(self._address, trust=trusted(), credentials=shown_at(self._address)) as client:
                first, *rest = _pages(client, self._version)
        except (CannotConnect, ConnectionLost, NoAnswer, NotUnderstood, Refused, msgspec.ValidationError) as error:
            raise FeedFailed(f"{self._address}/subscriptions cannot be read: {error}") from error
        found = dict(self._seen or {}) if first.ended is not None else {}
        for spuid in first.ended or ():
            found.pop(spuid, None)
        for page in (first, *rest):
            found |= {each.spuid: each.request for each in page.subscriptions}
        self._version = first.version  # the next call gets the changes while these pages were read
        if found == self._seen:
            return None
        self._seen = found
        return dict(found)


def _pages(client: HttpClient, version: str) -> Iterator[_Page]:
    """The changes since a version; all subscriptions if it is empty, or the broker does not know it."""
    given: dict[str, Any] = {"limit": "1000"} | ({"since": version} if version else {})
    while True:
        page = msgspec.convert(client.json("/subscriptions", params=given), _Page)
        yield page
        if page.after is None:
            return
        given = {"limit": "1000", "after": page.after}
