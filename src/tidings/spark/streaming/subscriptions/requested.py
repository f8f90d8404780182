"""Who wants to be told what: a file of subscriptions, or the subscriptions of a broker.

A line of the file is a subscription: {"spuid": …, "query": …, "from": COMMIT, "default": […], "named": […]}; only the
query has to be there. A line that is taken out, or a later one with "ended": true, ends it.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Protocol
from zlib import crc32

import httpx
import msgspec

from tidings.spark.errors import FeedFailed
from tidings.spark.streaming.errors import StreamUnusable
from tidings.spark.streaming.unit import Member


class Wish(msgspec.Struct, frozen=True, rename={"begins": "from"}):
    """A line of the file."""

    query: str = ""
    spuid: str = ""
    begins: Annotated[int, msgspec.Meta(ge=0)] | None = None
    """The commit to begin after; None for the last there is."""
    default: tuple[str, ...] | None = None
    named: tuple[str, ...] | None = None
    ended: bool = False

    @property
    def member(self) -> Member:
        graphs = (None if each is None else tuple(map(_bracketed, each)) for each in (self.default, self.named))
        return Member(self.spuid or f"sepa://spuid/{crc32(self.query.encode()):08x}", self.query, *graphs)


def _bracketed(iri: str) -> str:
    return iri if iri.startswith("<") else f"<{iri}>"


class Wanted(Protocol):
    """Somewhere that says who wants what."""

    def read(self) -> dict[str, Wish] | None:
        """Everybody who is there, by spuid; None if nobody came or went since the last time."""


def wanted_of(name: str) -> Wanted:
    return WantedByBroker(name) if name.startswith(("http://", "https://")) else WantedInFile(Path(name))


class WantedInFile:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: tuple[int, int] | None = None

    def read(self) -> dict[str, Wish] | None:
        try:
            about = self._path.stat()
            if (about.st_mtime_ns, about.st_size) == self._seen:
                return None
            text = self._path.read_bytes()
        except OSError as error:
            raise StreamUnusable(f"{self._path} cannot be read: {error.strerror}") from error
        self._seen = about.st_mtime_ns, about.st_size
        # Whoever appends may be in the middle of a line.
        return _folded(self._wishes(text if text.endswith(b"\n") else text[: text.rfind(b"\n") + 1] or text))

    def _wishes(self, text: bytes) -> Iterator[Wish]:
        for number, line in enumerate(text.splitlines(), 1):
            if line.strip():
                try:
                    wish = msgspec.json.decode(line, type=Wish)
                except msgspec.DecodeError as error:
                    raise StreamUnusable(f"{self._path}, line {number}: {error}") from error
                if not wish.query and not wish.ended:
                    raise StreamUnusable(f"{self._path}, line {number}: a subscription has a query")
                yield wish


def _folded(wishes: Iterator[Wish]) -> dict[str, Wish]:
    found: dict[str, Wish] = {}
    for wish in wishes:
        spuid = wish.member.spuid
        if wish.ended:
            found.pop(spuid, None)
        else:
            found[spuid] = wish
    return found


class _Shown(msgspec.Struct, rename={"default": "default-graph-uri", "named": "named-graph-uri"}):
    """A subscription as a broker shows it."""

    spuid: str
    sparql: str
    default: tuple[str, ...] = ()
    named: tuple[str, ...] = ()

    @property
    def wish(self) -> Wish:
        """Whoever names graphs of one kind has none of the other; whoever names none has them all."""
        graphs = (self.default, self.named) if self.default or self.named else (None, None)
        return Wish(self.sparql, self.spuid, None, *graphs)


class _Page(msgspec.Struct):
    subscriptions: list[_Shown]
    after: str | None = None


class WantedByBroker:
    """The subscriptions of a running broker."""

    def __init__(self, address: str) -> None:
        self._address = address.rstrip("/")
        self._seen: dict[str, Wish] | None = None

    def read(self) -> dict[str, Wish] | None:
        found: dict[str, Wish] = {}
        after: str | None = None
        while True:
            page = self._page(after)
            for each in page.subscriptions:
                found[each.spuid] = each.wish
            after = page.after
            if after is None:
                break
        if found == self._seen:
            return None
        self._seen = found
        return found

    def _page(self, after: str | None) -> _Page:
        given = {"limit": "1000"} | ({"after": after} if after else {})
        try:
            answer = httpx.get(f"{self._address}/subscriptions", params=given, timeout=30.0)
            answer.raise_for_status()
            return msgspec.json.decode(answer.content, type=_Page)
        except (httpx.HTTPError, httpx.InvalidURL, msgspec.DecodeError) as error:
            raise FeedFailed(f"{self._address}/subscriptions cannot be read: {error}") from error
