"""The origins of commits: the log in a folder that all machines see, the /log of a broker, or a lake.

An origin returns its last commit, and every change between two commits. A mark is a commit with its time, to detect a
log that was replaced by another one, or that has lost commits: no two commits of different logs have the same time to
the microsecond. An origin has all changes of some graphs, or of all graphs; one that lacks some of them is refused.
Commits that changed nothing in these graphs have an empty delta.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

from tidings.log.entry import Entry
from tidings.log.errors import HistoryGone
from tidings.log.folder import check_format
from tidings.log.layout import segment_path, segments, sync_file
from tidings.log.reading import read
from tidings.log.seek import seek
from tidings.log.snapshot import manifests
from tidings.model.access import Graphs
from tidings.model.graph_patterns import written
from tidings.spark.errors import LogDiverged, OtherGraphs

_MOST = 1 << 62


class Mark(NamedTuple):
    """A commit, and its time in microseconds since 1970; 0 if that is unknown."""

    commit: int = 0
    time: int = 0


class Origin(Protocol):
    """A source of commits."""

    def graphs(self) -> Graphs:
        """The graphs of which it has all changes."""

    def end(self) -> Mark:
        """The last complete and durable commit."""

    def first(self) -> int:
        """The first commit that is still available; if none is, the number after the last one."""

    def commits(self, after: int, last: int) -> Iterator[Entry]:
        """All commits in (after, last], in order; fewer if the log ends before `last`."""


def origin_of(name: str, graphs: Graphs = Graphs.ALL) -> Origin:
    """The origin at a folder, at the address of a broker, or `lake:DIR` for a lake, restricted to some graphs.

    Raises OtherGraphs, here or when it is read, if the origin does not have all of these graphs."""
    if name.startswith(("http://", "https://")):
        from tidings.spark.log_source.broker_origin import BrokerOrigin  # tasks that read a folder need no client

        return BrokerOrigin(name, graphs)
    origin = _local(name)
    if not (there := origin.graphs()).covers(graphs):
        raise OtherGraphs(f"{name} has {', '.join(written(there))}, and not {', '.join(written(graphs))}")
    return origin if graphs == there else Narrowed(origin, graphs)


def graphs_at(name: str) -> Graphs:
    """The graphs of which an origin has all changes that this client may read."""
    if name.startswith(("http://", "https://")):
        from tidings.spark.log_source.broker_origin import BrokerOrigin

        return BrokerOrigin(name).graphs()
    return _local(name).graphs()


def _local(name: str) -> Origin:
    if name.startswith("lake:"):
        from tidings.spark.log_source.lake_origin import LakeOrigin

        return LakeOrigin(Path(name.removeprefix("lake:")))
    return FolderOrigin(Path(name))


def absolute(name: str) -> str:
    """The name of an origin with an absolute path, for processes in other folders."""
    if name.startswith(("http://", "https://")):
        return name
    kind, colon, folder = name.partition("lake:")
    return f"lake:{Path(folder).absolute()}" if colon and not kind else str(Path(name).absolute())


def checked(origin: Origin, start: Mark, end: Mark) -> Iterator[Entry]:
    """All commits in (start, end]. Raises LogDiverged if some are missing, or a mark is of another log."""
    commit, time = start
    # Read `start` as well, to compare its time, unless the log no longer has it.
    behind = commit - 1 if time and origin.first() <= commit else commit
    for entry in origin.commits(behind, end.commit):
        if entry.commit == start.commit:
            if entry.time != start.time:
                raise LogDiverged(_diverged(start, entry.time))
            continue
        if entry.commit != commit + 1:
            raise LogDiverged(f"commit {entry.commit} follows commit {commit}: commits are missing from the log")
        commit, time = entry.commit, entry.time
        yield entry
    if commit != end.commit:
        raise LogDiverged(f"the log ends with commit {commit}, and had commit {end.commit} before")
    if end.time and time != end.time:
        raise LogDiverged(_diverged(end, time))


def _diverged(mark: Mark, time: int) -> str:
    return f"commit {mark.commit} is of {time} µs here and was of {mark.time} µs before: this is another log"


def check_holds(origin: Origin, mark: Mark) -> None:
    """Raise LogDiverged if the commit of a mark is missing or has another time, unless the log no longer has it."""
    if not mark.commit or origin.first() > mark.commit:
        return
    entry = next(origin.commits(mark.commit - 1, mark.commit), None)
    if entry is None:
        raise LogDiverged(
            f"the log ends before commit {mark.commit}, which was read from it before: this is another log"
        )
    if entry.time != mark.time:
        raise LogDiverged(_diverged(mark, entry.time))


class Narrowed:
    """An origin, restricted to some of its graphs."""

    def __init__(self, origin: Origin, graphs: Graphs) -> None:
        self._origin = origin
        self._graphs = graphs

    def graphs(self) -> Graphs:
        return self._graphs

    def end(self) -> Mark:
        return self._origin.end()

    def first(self) -> int:
        return self._origin.first()

    def commits(self, after: int, last: int) -> Iterator[Entry]:
        for entry in self._origin.commits(after, last):
            yield entry.seen_by(self._graphs)


class FolderOrigin:
    """The data folder of a broker. The broker may be writing to it."""

    def __init__(self, folder: Path) -> None:
        check_format(folder)
        self._folder = folder

    def graphs(self) -> Graphs:
        return Graphs.ALL

    def first(self) -> int:
        firsts = segments(self._folder)
        newest = max((name.commit for name in manifests(self._folder)), default=0)
        return firsts[0] if firsts else newest + 1

    def end(self) -> Mark:
        firsts = segments(self._folder)
        if not firsts:
            return Mark()
        # Find the end by bisection; then read the last commit with its checksums, because it may be incomplete.
        place = seek(self._folder, firsts[-1], _MOST)
        try:
            # A commit that is not on disk could still be lost, and its number used for another commit.
            sync_file(segment_path(self._folder, firsts[-1]))
        except FileNotFoundError:
            return self.end()
        after = max(place.commit - 1, firsts[0] - 1)
        found = Mark()
        for entry in read(self._folder, after):
            if entry.delta:
                found = Mark(entry.commit, entry.time)
        if found.commit or not after:
            return found
        return self._before(after)

    def _before(self, after: int) -> Mark:
        """The mark of this commit, because the one after it is incomplete."""
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
