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
    """The end of a commit, and when that was, in microseconds since 1970; 0 if it is not known."""

    commit: int = 0
    time: int = 0


class Origin(Protocol):
    """Something that has commits."""

    def graphs(self) -> Graphs:
        """Of which graphs it can show all changes."""

    def end(self) -> Mark:
        """The last commit that is whole and durable."""

    def first(self) -> int:
        """The first commit that is still there; one more than the last, if there is none."""

    def commits(self, after: int, last: int) -> Iterator[Entry]:
        """Every commit of a number in (after, last], in order; fewer if there are no more."""


def origin_of(name: str, graphs: Graphs = Graphs.ALL) -> Origin:
    """The origin that a folder or an address stands for, with what it has of some graphs; `lake:DIR` is a lake.

    One that does not have all of these raises OtherGraphs, here or when it is read."""
    if name.startswith(("http://", "https://")):
        from tidings.spark.log_source.broker_origin import BrokerOrigin  # tasks that read a folder need no client

        return BrokerOrigin(name, graphs)
    origin = _local(name)
    if not (there := origin.graphs()).covers(graphs):
        raise OtherGraphs(f"{name} has {', '.join(written(there))}, and not {', '.join(written(graphs))}")
    return origin if graphs == there else Narrowed(origin, graphs)


def graphs_at(name: str) -> Graphs:
    """Of which graphs an origin can show all changes, to whoever asks here."""
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
    """The same origin for processes that are elsewhere."""
    if name.startswith(("http://", "https://")):
        return name
    kind, colon, folder = name.partition("lake:")
    return f"lake:{Path(folder).absolute()}" if colon and not kind else str(Path(name).absolute())


def checked(origin: Origin, start: Mark, end: Mark) -> Iterator[Entry]:
    """The commits in (start, end]: all of them, of the log that both marks are of. Raises LogDiverged."""
    commit, time = start
    # One more in front, to see that it is the one that we left off at, unless it is history that is gone.
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
    """Raise LogDiverged unless this is a log that a mark is of, as far as it can be told."""
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
    """An origin, as if it had some of its graphs only."""

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
    """The data folder of a broker, which may be writing to it."""

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
        if found.commit or not after:
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
