"""Recovers the state from which a broker starts: the newest snapshot, and the entries after it.

A crash may tear the end of the last segment: it is cut off and reported. With any other damage, the broker refuses to
start, because starting without acknowledged commits would be worse.
"""

from collections.abc import Iterator
from pathlib import Path

from tidings.log.aside import cut_off, move_end_aside
from tidings.log.entry import START, Entry, Position
from tidings.log.errors import LogDamaged
from tidings.log.layout import segment_path, segments, sync_file
from tidings.log.reading import check_follows, next_segment
from tidings.log.scan import Scan, beginning
from tidings.log.snapshot import Snapshot, leftovers, read_snapshot


class Recovered:
    """Read the snapshot, and then all entries, once. After the last entry, `place` is where the journal goes on."""

    def __init__(self, folder: Path, snapshot: Snapshot | None) -> None:
        self.folder = folder
        self.snapshot = snapshot
        self.place = snapshot.place if snapshot else START
        self.replayed = 0
        """Bytes of log read after the snapshot."""
        self.cut = 0
        """Bytes cut from a torn end."""
        self.aside: Path | None = None
        """The file to which they were moved, if there were complete lines among them."""

    @property
    def last_commit(self) -> int:
        return self.place.commit

    @property
    def last_time(self) -> int:
        return self.place.time

    def entries(self) -> Iterator[Entry]:
        """The entries after the snapshot. At the end, it cuts off what is torn. Raises LogDamaged."""
        start = first_place(self.folder, self.place)
        while start is not None:
            following = next_segment(self.folder, start.segment)
            scan = Scan(self.folder, start)
            yield from scan
            self.replayed += scan.place.offset - start.offset
            if scan.flaw and (following is not None or not scan.flaw.torn):
                raise scan.damaged()
            if following is None:
                self._finish(scan)
                return
            check_follows(self.folder, following, scan.place)
            self.place = scan.place
            start = beginning(following, scan.place.time)

    def _finish(self, scan: Scan) -> None:
        """Make the last segment end with a complete entry, or remove it if it has none."""
        offset = scan.place.offset
        self.cut = scan.path.stat().st_size - offset
        if scan.flaw and scan.flaw.behind:
            # Zeros with complete lines behind them, which must not be deleted.
            self.aside = move_end_aside(self.folder, scan.path, offset)
        elif self.cut or not offset:
            cut_off(scan.path, offset)
        else:
            sync_file(scan.path)  # a broker that was killed may not have synced it
        if offset:
            self.place = scan.place


def recover(folder: Path) -> Recovered:
    """Begin a recovery; the folder must be locked. Raises LogDamaged."""
    for path in leftovers(folder):
        path.unlink()
    return Recovered(folder, read_snapshot(folder))


def first_place(folder: Path, place: Position) -> Position | None:
    """Where to read on after a snapshot; None if the log has no more. Raises LogDamaged if entries are missing."""
    firsts = segments(folder)
    if place.segment:
        path = segment_path(folder, place.segment)
        if place.segment not in firsts:
            raise LogDamaged(folder, path, f"missing, though the snapshot after commit {place.commit} goes on from it")
        if path.stat().st_size < place.offset:
            raise LogDamaged(folder, path, f"ends before commit {place.commit}, of which there is a snapshot")
        return place
    if not firsts:
        return None
    check_follows(folder, firsts[0], place)
    return beginning(firsts[0], place.time)
