"""Reads the log from a commit on, also while a broker is writing it.

It opens only segments that may have the commits. The broker may be writing the end of the last segment: a reader stops
before an incomplete entry, and finds it when it reads again.
"""

from collections.abc import Iterator
from pathlib import Path

from tidings.log.entry import Entry, Position
from tidings.log.errors import HistoryGone, LogDamaged
from tidings.log.layout import segment_path, segments
from tidings.log.scan import Scan, beginning
from tidings.log.seek import seek
from tidings.log.snapshot import manifests


def read(folder: Path, after: int = 0) -> Iterator[Entry]:
    """All entries after commit `after`, in order. Raises HistoryGone at once, LogDamaged while reading."""
    firsts = segments(folder)
    if not firsts:
        newest = max((name.commit for name in manifests(folder)), default=0)
        if newest > after:
            raise HistoryGone(after, newest + 1)
        return iter(())
    if firsts[0] > after + 1:
        raise HistoryGone(after, firsts[0])
    first = max(first for first in firsts if first <= after + 1)
    return _entries(folder, after, seek(folder, first, after))


def _entries(folder: Path, after: int, start: Position) -> Iterator[Entry]:
    again: Position | None = None
    while True:
        following = next_segment(folder, start.segment)
        scan = Scan(folder, start)
        try:
            for entry in scan:
                if entry.commit > after:
                    yield entry
        except FileNotFoundError:
            firsts = segments(folder)
            if firsts and firsts[0] > start.segment:
                raise HistoryGone(start.commit, firsts[0]) from None
            return  # a write that failed created the segment, and removed it
        end = scan.place
        if following is None:
            wrong = scan.flaw is not None and not scan.flaw.torn
            if wrong and again == end:
                raise scan.damaged()
            if not wrong and next_segment(folder, end.segment) is None:
                return
            # The broker finished the segment after the scan, or it rewrote its end during the scan: scan again from the
            # last complete entry on.
            start = again = end
            continue
        if scan.flaw:
            raise scan.damaged()
        check_follows(folder, following, end)
        start = beginning(following, end.time)


def next_segment(folder: Path, segment: int) -> int | None:
    """The next segment, if any. If there is one, this segment is finished."""
    return next((first for first in segments(folder) if first > segment), None)


def check_follows(folder: Path, first: int, end: Position) -> None:
    """Raise LogDamaged unless this segment begins with the commit after that place."""
    if first != end.commit + 1:
        path = segment_path(folder, first)
        raise LogDamaged(folder, path, f"commits {end.commit + 1} to {first - 1}, which should precede it, are missing")
