"""Reads the log from a commit on, also while a broker is writing it.

Only segments that may hold what is asked for are opened. The end of the last segment may be in the making: a reader
stops before what is not whole yet, and finds it when it reads again.
"""

from collections.abc import Iterator
from pathlib import Path

from tidings.log.entry import Entry, Place
from tidings.log.errors import HistoryGone, LogDamaged
from tidings.log.layout import segment_path, segments
from tidings.log.scan import Scan, beginning
from tidings.log.seek import seek
from tidings.log.snapshot import manifests


def read(folder: Path, after: int = 0) -> Iterator[Entry]:
    """Every entry of a later number, in order. Raises HistoryGone at once, LogDamaged on the way."""
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


def _entries(folder: Path, after: int, start: Place) -> Iterator[Entry]:
    again: Place | None = None
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
            return  # begun by a write that failed, and taken back
        end = scan.place
        if following is None:
            wrong = scan.flaw is not None and not scan.flaw.torn
            if wrong and again == end:
                raise scan.damaged()
            if not wrong and next_segment(folder, end.segment) is None:
                return
            # The segment was finished between the scan and this look, or what a broker took back and wrote anew was
            # read half old, half new: look again from the last whole entry on.
            start = again = end
            continue
        if scan.flaw:
            raise scan.damaged()
        check_follows(folder, following, end)
        start = beginning(following, end.time)


def next_segment(folder: Path, segment: int) -> int | None:
    """The segment after this one. Where there is one, this one is finished."""
    return next((first for first in segments(folder) if first > segment), None)


def check_follows(folder: Path, first: int, end: Place) -> None:
    """Raise LogDamaged unless this segment begins with the commit after that place."""
    if first != end.commit + 1:
        path = segment_path(folder, first)
        raise LogDamaged(folder, path, f"commits {end.commit + 1} to {first - 1}, which should precede it, are missing")
