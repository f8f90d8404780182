"""Repairs a damaged log: keeps the longest sound prefix, and moves the rest to DIR/damaged.

    kept = the newest sound snapshot + the entries after it, up to the first damage

Nothing is deleted. A restart does not need the history before the snapshot: a damaged segment of it is moved together
with all older ones, so that the log has no hole. Damage before the snapshot within its own segment stays, and is
reported.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from tidings.log.aside import move_aside, move_end_aside
from tidings.log.entry import START, Position
from tidings.log.errors import FolderUnusable, LogDamaged
from tidings.log.layout import segment_path, segments
from tidings.log.recovery import first_place
from tidings.log.scan import Scan, beginning
from tidings.log.snapshot import Manifest, Name, manifests, read_manifest, read_snapshot, write_manifest

_SEQ = re.compile(rb'^\{"seq":(\d{1,19}),', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Report:
    """What a repair found, kept and moved. A dry run makes the same report, and changes nothing."""

    snapshot: int | None
    """The commit of the snapshot that is kept."""
    entries: int
    """How many entries after it are kept."""
    last_commit: int
    """The last commit that is kept."""
    lost_commit: int | None
    """The last commit that can be recognised in the lost part; None if none is lost."""
    findings: tuple[str, ...]
    moved: tuple[str, ...]

    def lines(self) -> Iterator[str]:
        """The report for people."""
        yield from self.findings or ("no damage found",)
        base = f"the snapshot after commit {self.snapshot} and " if self.snapshot is not None else ""
        yield f"kept: {base}{self.entries:,} entries of the log, up to commit {self.last_commit}"
        if self.lost_commit is not None:
            yield f"lost: commits {self.last_commit + 1} to {self.lost_commit}"
        yield from (f"put aside in damaged/: {name}" for name in self.moved)


@dataclass(slots=True)
class _Plan:
    """The files to move; a dry run stops with it."""

    folder: Path
    place: Position = START
    entries: int = 0
    findings: list[str] = field(default_factory=list)
    moves: list[tuple[Path, int]] = field(default_factory=list)
    """Files, and the offset from which on they are moved."""
    rebase: tuple[Name, Manifest] | None = None

    def found(self, path: Path, what: str) -> None:
        self.findings.append(f"{path.relative_to(self.folder)}: {what}")


def repair(folder: Path, *, dry_run: bool = False) -> Report:
    """Repair the log, so that `recover` works; the folder must be locked. Raises FolderUnusable."""
    plan = _Plan(folder)
    base = _choose_snapshot(plan)
    if base:
        plan.place = base[1].place
    _follow(plan, base)
    report = _report(plan, base)
    if not dry_run:
        try:
            _carry_out(plan)
        except OSError as error:
            raise FolderUnusable(f"{folder} cannot be repaired: {error.strerror}; nothing is deleted") from error
    return report


def _choose_snapshot(plan: _Plan) -> tuple[Name, Manifest] | None:
    """Find the newest sound snapshot; plan to move the damaged ones."""
    base = None
    for name in manifests(plan.folder):
        try:
            read_snapshot(plan.folder, name)
        except LogDamaged as error:
            plan.found(error.file, error.what)
            paths = (name.path(plan.folder, ending) for ending in (".json", ".jsonl"))
            plan.moves += [(path, 0) for path in paths if path.exists()]
        else:
            base = name, read_manifest(plan.folder, name)
    return base


def _follow(plan: _Plan, base: tuple[Name, Manifest] | None) -> None:
    """Read from the snapshot on as far as the log is sound; plan to move the rest."""
    firsts = segments(plan.folder)
    try:
        start = first_place(plan.folder, plan.place)
    except LogDamaged as error:
        plan.found(error.file, error.what)
        plan.moves += [(segment_path(plan.folder, first), 0) for first in firsts]
        if base and base[1].place.segment:
            place = Position(plan.place.commit, plan.place.time)
            plan.rebase = base[0], Manifest(place, *_counts(base[1]))
        return
    if start is None:
        return
    _check_history(plan, start, firsts)
    rest = [first for first in firsts if first >= start.segment]
    for number, first in enumerate(rest, 1):
        here = start if first == start.segment else beginning(first, plan.place.time)
        if here.commit != plan.place.commit:
            plan.found(segment_path(plan.folder, first), f"commits {plan.place.commit + 1} to {first - 1} are missing")
            plan.moves += [(segment_path(plan.folder, behind), 0) for behind in rest[number - 1 :]]
            return
        scan = Scan(plan.folder, here)
        plan.entries += sum(1 for _ in scan)
        if scan.place.offset:
            plan.place = scan.place
        if scan.flaw:
            plan.findings.append(_located(scan))
            plan.moves.append((scan.path, scan.place.offset))
            plan.moves += [(segment_path(plan.folder, behind), 0) for behind in rest[number:]]
            return


def _check_history(plan: _Plan, start: Position, firsts: list[int]) -> None:
    """Check the history before the snapshot; plan to move the newest damaged segment in it, and all older ones."""
    older = [first for first in firsts if first < start.segment]
    bad = None
    for first, following in pairwise([*older, start.segment]):
        scan = Scan(plan.folder, beginning(first))
        for _ in scan:
            pass
        if scan.flaw or scan.place.commit + 1 != following:
            bad = first
            plan.findings.append(_located(scan) if scan.flaw else f"commits before {following} are missing")
    if bad is not None:
        plan.moves += [(segment_path(plan.folder, first), 0) for first in older if first <= bad]
    scan = Scan(plan.folder, beginning(start.segment))
    if start.offset and not any(scan.place.offset >= start.offset for _ in scan):
        assert scan.flaw
        plan.findings.append(f"{_located(scan)}; it is before the snapshot and stays: a restart does not need it")


def _located(scan: Scan) -> str:
    error = scan.damaged()
    return f"{error.file.relative_to(error.folder)}, line {error.line}: {error.what}"


def _counts(manifest: Manifest) -> tuple[int, int, int, int]:
    return manifest.quads, manifest.notes, manifest.bytes, manifest.data_crc


def _report(plan: _Plan, base: tuple[Name, Manifest] | None) -> Report:
    names = (f"{path.name} from byte {offset:,}" if offset else path.name for path, offset in plan.moves)
    last = max((_last_commit(path, offset) for path, offset in plan.moves), default=0)
    return Report(
        snapshot=base[0].commit if base else None,
        entries=plan.entries,
        last_commit=plan.place.commit,
        lost_commit=last if last > plan.place.commit else None,
        findings=tuple(plan.findings),
        moved=tuple(names),
    )


def _last_commit(path: Path, offset: int) -> int:
    """The highest commit number that can be read at the start of a line."""
    with path.open("rb") as file:
        file.seek(offset)
        return max((int(match[1]) for match in _SEQ.finditer(file.read())), default=0)


def _carry_out(plan: _Plan) -> None:
    for path, offset in plan.moves:
        move_end_aside(plan.folder, path, offset) if offset else move_aside(plan.folder, path)
    if plan.rebase:
        # The last step: if the repair is interrupted before it, the snapshot's segment is missing, and another repair
        # does the same again.
        write_manifest(plan.folder, *plan.rebase)
