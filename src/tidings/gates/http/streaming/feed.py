"""The feed of commits, `GET /log`: the log from a commit on, as JSON lines or as RDF Patch.

    the log on disk, in slices, in a thread  ->  with `follow`, every later commit as soon as it is durable

A follower that reads too slowly falls back to reading the log from disk, so little waits for it in memory.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Iterable, Iterator
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from tidings.broker.broker import Broker
from tidings.broker.errors import NoLog
from tidings.broker.lake.lake import AT_A_TIME
from tidings.gates.asking import Guard, Leave
from tidings.gates.http.limits import share_of
from tidings.gates.http.results import chosen
from tidings.gates.http.routing import accept_of, while_present, whole
from tidings.gates.http.security.identification import asker_of, shown_by
from tidings.gates.http.streaming.streams import StreamResponse, Streams
from tidings.log.errors import HistoryGone
from tidings.log.journal import Journal
from tidings.log.reading import read
from tidings.model.access import Graphs, Rights
from tidings.model.errors import BadRequest, GraphNotReadable
from tidings.model.graph_patterns import read_graphs
from tidings.protocol.commit_feed import FeedFormat
from tidings.protocol.entries import Entry

SLICE = 1 << 16
"""How many bytes are read and sent at a time."""
BACKLOG = 1 << 20
"""How many bytes of commits may wait in memory for a follower, before it has to read them from the log."""
EACH = 100
"""How many bytes a commit counts of which the reader may see nothing."""
LARGE = 10_000
"""Commits of more quads are always read from the log."""
MOST = 1 << 62
DEFAULT_LIMIT = 10_000
_READERS = 2
_LAG = 0.05
"""Seconds between two checks whether the log has a commit yet."""


class Feeds:
    """Answers `GET /log`."""

    def __init__(self, broker: Broker, streams: Streams, guard: Guard, *, ping: float) -> None:
        self._broker = broker
        self._streams = streams
        self._guard = guard
        self._ping = ping
        self._readers = asyncio.Semaphore(_READERS)

    async def log(self, request: Request) -> Response:
        disk = self._broker.disk
        if disk is None:
            raise NoLog
        given = request.query_params
        format_ = chosen(tuple(FeedFormat), accept_of(request), given.get("format"))
        follow = _truth(given.get("follow"))
        first = max(1, whole(given.get("from"), "from", 1, MOST))
        limit = whole(given.get("limit"), "limit", MOST if follow else DEFAULT_LIMIT, MOST)
        asker = asker_of(request.scope)
        asked = _graphs(given.getlist("graphs"), asker.rights)
        self._streams.admit()
        feed = Feed(self._broker, disk.folder, disk.journal, format_, self._readers, self._ping, asker.rights, asked)
        feed.client = share_of(request.scope)
        if request.method == "HEAD":
            return Response(headers={"content-type": format_.media.types[0]})
        pieces = feed.follow(first, limit) if follow else feed.up_to_now(first, limit)
        self._streams.feeds += 1
        self._streams.add(feed)
        feed.leave = self._guard.attend(shown_by(request.scope), asker, feed.changed)
        try:
            begun = await while_present(request, _begin(pieces))  # so that an error can still set the status
        except BaseException:
            self._gone(feed)
            raise
        feed.response = StreamResponse(begun, format_.media.types[0], lambda: self._gone(feed))
        return feed.response

    def _gone(self, feed: "Feed") -> None:
        if feed.leave is not None:
            feed.leave()
        self._streams.feeds -= 1
        self._streams.discard(feed)


class Feed:
    """One reader of the log."""

    def __init__(
        self,
        broker: Broker,
        folder: Path,
        journal: Journal,
        format_: FeedFormat,
        readers: asyncio.Semaphore,
        ping: float,
        rights: Rights,
        asked: Graphs | None = None,
    ) -> None:
        self._broker = broker
        self._asked = asked
        """The graphs of which the reader wants all changes; None for all graphs that it may read."""
        self._shown = rights.read if asked is None else asked
        self._bare = bool(self._shown) and (asked is not None or format_ is FeedFormat.RDF_PATCH)
        """Whether the feed has also commits of which the reader may see nothing, so that no number is missing."""
        self.leave: Leave | None = None
        """To be called at the end, so that the guard no longer reports changes of rights."""
        self._folder = folder
        self._journal = journal
        self._text = format_.text
        self._heartbeat = format_.heartbeat
        self._readers = readers
        self._ping = ping
        self._fresh: deque[tuple[int, bytes]] = deque()
        """Commits that came while the log was being read or the client was busy."""
        self._size = 0
        """How many bytes these have."""
        self._behind = 0
        """The last commit that has to be read from the log."""
        self._news = asyncio.Event()
        self._ended = False
        self._cut = False
        """Whether the reader's rights have changed, so that the feed has to end."""
        self.response: StreamResponse | None = None
        self.client: str | None = None
        """The client against whose share of the history lake its questions count."""

    def end(self) -> None:
        self._ended = True
        self._news.set()
        if self.response is not None:
            self.response.hurry()

    def changed(self, rights: Rights, _: str) -> None:
        """The guard calls it when the reader's rights change: the feed ends, and the reader has to reconnect."""
        if rights.read != self._shown if self._asked is None else not rights.read.covers(self._asked):
            self._cut = True
            self.end()

    async def up_to_now(self, first: int, limit: int) -> AsyncGenerator[bytes, None]:
        """The commits until now."""
        await self._broker.commit_log.written()
        async for piece in self._logged(first, min(first + limit - 1, self._journal.durable.commit)):
            yield piece

    async def follow(self, first: int, limit: int) -> AsyncGenerator[bytes, None]:
        """Commits without an end, or up to the limit, each exactly once."""
        last = first + limit - 1
        self._behind = self._broker.last_commit
        self._broker.follow(self._take, Rights(read=self._shown))
        try:
            if first > self._behind:
                yield self._heartbeat  # so that the client knows that the feed is alive
            while first <= last and not self._ended:
                if self._fresh and self._fresh[0][0] <= first:
                    sequence, piece = self._fresh.popleft()
                    self._size -= len(piece) + EACH
                    if sequence == first:
                        first += 1
                        if piece:
                            yield piece
                elif first <= min(self._behind, durable := self._journal.durable.commit):
                    until = min(last, self._behind, durable)
                    async for piece in self._logged(first, until):
                        yield piece
                    first = until + 1
                elif await self._is_quiet(_LAG if first <= self._behind else self._ping) and first > self._behind:
                    yield self._heartbeat
        finally:
            self._broker.unfollow(self._take)

    async def _logged(self, first: int, last: int) -> AsyncGenerator[bytes, None]:
        """Commits from the log. If it has to break off within a commit, the reader sees that by the lines that are
        missing."""
        if first > last:
            return
        lines = self._lines(first, last)
        while not self._cut:
            try:
                async with self._readers:
                    piece = await asyncio.to_thread(_slice, lines)
            except HistoryGone as gone:
                if gone.after != first - 1:  # the segment was pruned while it was being read
                    raise
                until = min(last, gone.first - 1)
                async for piece in self._of_lake(first, until, gone):
                    yield piece
                first = until + 1
                lines = self._lines(first, last)
                continue
            if not piece:
                return
            yield piece

    async def _of_lake(self, first: int, last: int, gone: HistoryGone) -> AsyncGenerator[bytes, None]:
        """Commits that the log no longer has, from the history lake. Raises HistoryGone if it has not got them."""
        lake = self._broker.queries.lake
        if lake is None or not await lake.has(first, last, self._asked):
            raise gone
        for begin in range(first, last + 1, AT_A_TIME):
            until = min(begin + AT_A_TIME - 1, last)
            entries = await lake.commits(begin - 1, until, self._shown, every=self._bare, client=self.client)
            if self._cut:
                return
            yield await asyncio.to_thread(self._all_written, entries)

    def _all_written(self, commits: list[Entry]) -> bytes:
        return b"".join(line for each in commits for line in self._written(each.seen_by(self._shown)))

    def _take(self, commit: Entry) -> None:
        """The broker calls it with each durable commit. If too much waits already, the feed reads it from the log."""
        if self._size > BACKLOG or len(commit.delta) > LARGE:
            self._behind = commit.commit
        else:
            piece = b"".join(self._written(commit))
            self._size += len(piece) + EACH
            self._fresh.append((commit.commit, piece))
        self._news.set()

    def _lines(self, first: int, last: int) -> Iterator[bytes]:
        if first > last:
            return
        for entry in read(self._folder, first - 1):
            if entry.commit > last:
                return
            if entry.delta:
                yield from self._written(entry.seen_by(self._shown))

    def _written(self, commit: Entry) -> Iterator[bytes]:
        """A commit as bytes, with the quads that the reader may see."""
        return self._text(commit) if commit.delta or self._bare else iter(())

    async def _is_quiet(self, seconds: float) -> bool:
        """Wait for the next commit. Returns True if there is none within so many seconds."""
        self._news.clear()
        try:
            async with asyncio.timeout(seconds):
                await self._news.wait()
        except TimeoutError:
            return True
        return False


def _slice(lines: Iterable[bytes]) -> bytes:
    """Runs in a thread: the next lines, about `SLICE` bytes of them."""
    parts: list[bytes] = []
    size = 0
    for line in lines:
        parts.append(line)
        size += len(line)
        if size > SLICE:
            break
    return b"".join(parts)


async def _begin(pieces: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    """The same pieces, after waiting for the first one."""
    first = await anext(pieces, b"")

    async def all_of_them() -> AsyncGenerator[bytes, None]:
        try:
            yield first
            async for piece in pieces:
                yield piece
        finally:
            await pieces.aclose()

    return all_of_them()


def _graphs(patterns: list[str], rights: Rights) -> Graphs | None:
    """The graphs that a request names; None if it names none. Raises BadRequest, GraphNotReadable."""
    if not patterns:
        return None
    asked = read_graphs(patterns)
    if not rights.read.covers(asked):
        raise GraphNotReadable(f"you may not read all of {', '.join(patterns)[:500]}")
    return asked


def _truth(value: str | None) -> bool:
    if value not in {None, "", "true", "false", "1", "0"}:
        raise BadRequest(f"follow is {value!r}, and can be true or false")
    return value in {"", "true", "1"}
