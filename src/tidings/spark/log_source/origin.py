"""Where commits come from: the log in a folder that all machines see, or the /log of a broker.

Both tell what is the last commit, and every change between two commits. A mark is a commit with its time, so that a
log that was replaced by another, or took back what it had, is found out: time never repeats itself to the microsecond.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

import httpx
import msgspec

from tidings.log.entry import Entry, published_by
from tidings.log.errors import HistoryGone
from tidings.log.folder import check_format
from tidings.log.layout import segment_path, segments, sync_file
from tidings.log.lines import WEIGHTS, Line
from tidings.log.reading import read
from tidings.log.seek import seek
from tidings.log.snapshot import manifests
from tidings.model.terms import Quad
from tidings.model.zset import ZSet
from tidings.spark.errors import FeedFailed, LogDiverged

_MOST = 1 << 62
_TIMEOUT = httpx.Timeout(60.0, connect=10.0)
_PIECE = 1 << 16


class Mark(NamedTuple):
    """The end of a commit, and when that was, in microseconds since 1970; 0 if it is not known."""

    seq: int = 0
    time: int = 0


class Origin(Protocol):
    """Something that has commits."""

    def end(self) -> Mark:
        """The last commit that is whole and durable."""

    def first(self) -> int:
        """The first commit that is still there; one more than the last, if there is none."""

    def commits(self, after: int, last: int) -> Iterator[Entry]:
        """Every commit of a number in (after, last], in order; fewer if there are no more."""


def origin_of(name: str) -> Origin:
    """The origin that a folder or an address stands for; `lake:DIR` is a lake."""
    if name.startswith("lake:"):
        from tidings.spark.log_source.lake_origin import LakeOrigin

        return LakeOrigin(Path(name.removeprefix("lake:")))
    return BrokerOrigin(name) if name.startswith(("http://", "https://")) else FolderOrigin(Path(name))


def absolute(name: str) -> str:
    """The same origin for processes that are elsewhere."""
    if name.startswith(("http://", "https://")):
        return name
    kind, colon, folder = name.partition("lake:")
    return f"lake:{Path(folder).absolute()}" if colon and not kind else str(Path(name).absolute())


def checked(origin: Origin, start: Mark, end: Mark) -> Iterator[Entry]:
    """The commits in (start, end]: all of them, of the log that both marks are of. Raises LogDiverged."""
    seq, time = start
    # One more in front, to see that it is the one that we left off at, unless it is history that is gone.
    behind = seq - 1 if time and origin.first() <= seq else seq
    for entry in origin.commits(behind, end.seq):
        if entry.commit == start.seq:
            if entry.time != start.time:
                raise LogDiverged(_diverged(start, entry.time))
            continue
        if entry.commit != seq + 1:
            raise LogDiverged(f"commit {entry.commit} follows commit {seq}: commits are missing from the log")
        seq, time = entry.commit, entry.time
        yield entry
    if seq != end.seq:
        raise LogDiverged(f"the log ends with commit {seq}, and had commit {end.seq} before")
    if end.time and time != end.time:
        raise LogDiverged(_diverged(end, time))


def _diverged(mark: Mark, time: int) -> str:
    return f"commit {mark.seq} is of {time} µs here and was of {mark.time} µs before: this is another log"


def check_holds(origin: Origin, mark: Mark) -> None:
    """Raise LogDiverged unless this is a log that a mark is of, as far as it can be told."""
    if not mark.seq or origin.first() > mark.seq:
        return
    entry = next(origin.commits(mark.seq - 1, mark.seq), None)
    if entry is None:
        raise LogDiverged(f"the log ends before commit {mark.seq}, which was read from it before: this is another log")
    if entry.time != mark.time:
        raise LogDiverged(_diverged(mark, entry.time))


class FolderOrigin:
    """The data folder of a broker, which may be writing to it."""

    def __init__(self, folder: Path) -> None:
        check_format(folder)
        self._folder = folder

    def first(self) -> int:
        firsts = segments(self._folder)
        newest = max((name.commit for name in manifests(self._folder)), default=0)
        return firsts[0] if firsts else newest + 1

    def end(self) -> Mark:
        firsts = segments(self._folder)
        if not firsts:
            return Mark()
        # By bisection; then the last commit is read again, with its checksums, for it may be torn.
        place = seek(self._folder, firsts[-1], _MOST)
        try:
            # What the disk does not have could still be lost, and its number be given to another commit.
            sync_file(segment_path(self._folder, firsts[-1]))
        except FileNotFoundError:
            return self.end()
        after = max(place.commit - 1, firsts[0] - 1)
        found = Mark()
        for entry in read(self._folder, after):
            if entry.delta:
                found = Mark(entry.commit, entry.time)
        if found.seq or not after:
            return found
        return self._before(after)

    def _before(self, after: int) -> Mark:
        """The commit of this number: the one behind it was torn."""
        try:
            entry = next(self.commits(after - 1, after), None)
        except HistoryGone:
            entry = None
        return Mark(entry.commit, entry.time) if entry else Mark(after)

    def commits(self, after: int, last: int) -> Iterator[Entry]:
        for entry in read(self._folder, after):
            if entry.commit > last:
                return
            if entry.delta:
                yield entry


class BrokerOrigin:
    """A running broker, by its /log."""

    def __init__(self, address: str) -> None:
        self._address = address.rstrip("/").removesuffix("/log")

    def first(self) -> int:
        try:
            entry = next(self.commits(0, 1), None)
        except HistoryGone as gone:
            return gone.first
        return entry.commit if entry else 1

    def end(self) -> Mark:
        answer = self._get("/status")
        log = answer.get("log") if isinstance(answer, dict) else None
        if not isinstance(log, dict) or not isinstance(log.get("sequence"), int):
            raise FeedFailed(f"{self._address} keeps no log: what is published there is in memory only")
        seq: int = log["sequence"]
        entry = next(self.commits(seq - 1, seq), None) if seq and self.first() <= seq else None
        return Mark(entry.commit, entry.time) if entry else Mark(seq, 0)

    def _get(self, path: str) -> object:
        try:
            answer = httpx.get(self._address + path, timeout=_TIMEOUT)
            self._check(answer, 0)
            return answer.json()
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            raise FeedFailed(f"{self._address}{path} cannot be read: {error or type(error).__name__}") from error

    def commits(self, after: int, last: int) -> Iterator[Entry]:
        if last <= after:
            return
        given = {"from": f"{after + 1}", "limit": f"{last - after}", "format": "json"}
        try:
            with httpx.stream("GET", f"{self._address}/log", params=given, timeout=_TIMEOUT) as answer:
                if answer.status_code != 200:
                    answer.read()
                self._check(answer, after)
                yield from _entries(_lines(answer.iter_bytes(_PIECE)))
        except (httpx.HTTPError, httpx.InvalidURL, msgspec.DecodeError, KeyError) as error:
            raise FeedFailed(f"{self._address}/log cannot be read: {error or type(error).__name__}") from error

    def _check(self, answer: httpx.Response, after: int) -> None:
        if answer.status_code == 200:
            return
        try:
            told = msgspec.json.decode(answer.content, type=dict)
        except msgspec.DecodeError:
            told = {}
        description = told.get("error_description", f"status {answer.status_code}")
        if told.get("error") == "history_gone":
            numbers = [int(word.rstrip(".")) for word in str(description).split() if word.rstrip(".").isdigit()]
            raise HistoryGone(after, numbers[-1] if numbers else after + 2)
        raise FeedFailed(f"{self._address} answers: {description}")


class _FeedLine(Line, gc=False):
    """A line of /log, which also says who published the commit, if that is known."""

    by: str | None = None


_read_line = msgspec.json.Decoder(_FeedLine).decode


def _lines(pieces: Iterator[bytes]) -> Iterator[_FeedLine]:
    rest = b""
    for piece in pieces:
        *texts, rest = (rest + piece).split(b"\n")
        for text in texts:
            if text:
                yield _read_line(text)
    if rest:
        raise FeedFailed("the answer of the broker broke off within a line")


def _entries(lines: Iterator[_FeedLine]) -> Iterator[Entry]:
    delta: dict[Quad, int] = {}
    seq, left = 0, 0
    for line in lines:
        if delta and (line.seq != seq or line.left != left - 1):
            raise FeedFailed(f"commit {seq} comes without its last {left} changes")
        delta[line.s, line.p, line.o, line.g] = WEIGHTS[line.op]
        seq, left = line.seq, line.left
        if not left:
            notes = () if line.by is None else (published_by(line.by),)
            yield Entry(seq, line.time, ZSet.owning(delta), notes)
            delta = {}
    if delta:
        raise FeedFailed(f"commit {seq} comes without its last {left} changes")
