"""Snapshots: all quads and notes at a place of the log, so that a restart need not read the log from its start.

    snapshots/00000000000000001234.jsonl   {"op":KIND,"note":{…}} for each note, then {"s":…,"p":…,"o":…,"g":…}
    snapshots/00000000000000001234.json    the manifest: place, counts, checksum; written last, it makes them valid

A second snapshot after the same commit (with later notes) is named …1234-2, so that it does not replace a sound one.
"""

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import msgspec
import orjson

from tidings.log.entry import Note, Position
from tidings.log.errors import LogDamaged, LogWriteFailed
from tidings.log.layout import segment_path, snapshots_of, sync_file, sync_folder, write_whole
from tidings.log.lines import is_sealed, sealed
from tidings.model.terms import Quad, intern

KEPT = 2
"""How many snapshots are kept: if the newest is damaged, the one before it and the log lead to the same state."""
CHUNK = 1 << 20
_MANIFEST = re.compile(r"(\d{20})(?:-(\d+))?\.json")
_OURS = re.compile(r"\d{20}(-\d+)?\.jsonl?(\.tmp)?")


class Manifest(msgspec.Struct, frozen=True):
    """The place, the size and the checksum of a snapshot."""

    place: Position
    quads: int
    notes: int
    bytes: int
    data_crc: int


class Snapshot(NamedTuple):
    """A sound snapshot. The quads are read from disk lazily, once."""

    commit: int
    time: int
    place: Position
    quads: Iterator[Quad]
    notes: tuple[Note, ...]
    size: int
    """How many quads there are."""


class Name(NamedTuple):
    """The name of a snapshot. Later snapshots have greater names."""

    commit: int
    edition: int

    def path(self, folder: Path, ending: str) -> Path:
        edition = f"-{self.edition}" if self.edition > 1 else ""
        return snapshots_of(folder) / f"{self.commit:020}{edition}{ending}"


class _QuadLine(msgspec.Struct, gc=False):
    s: str
    p: str
    o: str
    g: str


class _NoteLine(msgspec.Struct):
    op: str
    note: dict[str, Any]


_read_quads = msgspec.json.Decoder(_QuadLine).decode_lines
_read_note = msgspec.json.Decoder(_NoteLine).decode
_read_manifest = msgspec.json.Decoder(Manifest).decode


def manifests(folder: Path) -> list[Name]:
    """The snapshots that exist, oldest first."""
    try:
        names = os.listdir(snapshots_of(folder))
    except FileNotFoundError:
        return []
    return sorted(Name(int(match[1]), int(match[2] or 1)) for match in map(_MANIFEST.fullmatch, names) if match)


# -- writing ----------------------------------------------------------------------------------------------------


def write_snapshot(folder: Path, place: Position, quads: Iterable[Quad], notes: Iterable[Note]) -> Name:
    """Write all quads and notes at a durable place of the log; keep the newest two snapshots. Raises LogWriteFailed.

    It usually runs in a fork, which has the quads of the moment of the fork.
    """
    taken = {name.edition for name in manifests(folder) if name.commit == place.commit}
    name = Name(place.commit, max(taken, default=0) + 1)
    partial = name.path(folder, ".jsonl.tmp")
    try:
        if place.segment:
            # Otherwise a power cut could lose the end of the log, but not a snapshot with commits of it.
            sync_file(segment_path(folder, place.segment))
        manifest = _write_data(partial, place, quads, notes)
        partial.replace(name.path(folder, ".jsonl"))
        sync_folder(snapshots_of(folder))
        write_manifest(folder, name, manifest)
        for old in manifests(folder)[:-KEPT]:
            remove_snapshot(folder, old)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise LogWriteFailed(error) from error
    return name


def _write_data(path: Path, place: Position, quads: Iterable[Quad], notes: Iterable[Note]) -> Manifest:
    counts = {"quads": 0, "notes": 0}
    crc = size = synced = 0
    with path.open("wb", buffering=CHUNK) as file:
        for kind, line in _lines(quads, notes):
            counts[kind] += 1
            crc = crc32(line, crc)
            size += file.write(line)
            if size - synced > CHUNK:
                # Sync in small portions: some file systems let a sync of the log wait for all data of this file, too.
                os.fdatasync(file.fileno())
                synced = size
        file.flush()
        os.fsync(file.fileno())
    return Manifest(place, counts["quads"], counts["notes"], size, crc)


def _lines(quads: Iterable[Quad], notes: Iterable[Note]) -> Iterator[tuple[str, bytes]]:
    dumps, newline = orjson.dumps, orjson.OPT_APPEND_NEWLINE
    for note in notes:
        yield "notes", dumps({"op": note.kind, "note": note.content}, option=newline)
    for s, p, o, g in quads:
        yield "quads", dumps({"s": s, "p": p, "o": o, "g": g}, option=newline)


def write_manifest(folder: Path, name: Name, manifest: Manifest) -> None:
    write_whole(name.path(folder, ".json"), sealed(msgspec.json.encode(manifest)))


def remove_snapshot(folder: Path, name: Name) -> None:
    """Remove a snapshot: the manifest first, because data without a manifest are ignored."""
    name.path(folder, ".json").unlink(missing_ok=True)
    name.path(folder, ".jsonl").unlink(missing_ok=True)


def leftovers(folder: Path) -> list[Path]:
    """Files that interrupted snapshots have left."""
    names = manifests(folder)
    kept = {name.path(folder, ending) for name in names for ending in (".json", ".jsonl")}
    files = snapshots_of(folder).glob("*.json*")
    return sorted(path for path in files if path not in kept and _OURS.fullmatch(path.name))


# -- reading ----------------------------------------------------------------------------------------------------


def read_snapshot(folder: Path, name: Name | None = None) -> Snapshot | None:
    """The newest snapshot, or that of this name; None if there is none. Raises LogDamaged before the first quad."""
    if name is None:
        names = manifests(folder)
        if not names:
            return None
        name = names[-1]
    manifest = read_manifest(folder, name)
    path = name.path(folder, ".jsonl")
    _check(folder, path, manifest)
    with path.open("rb") as file:
        notes = tuple(Note(line.op, line.note) for line in (_read_note(next(file)) for _ in range(manifest.notes)))
        offset = file.tell()
    place = manifest.place
    return Snapshot(place.commit, place.time, place, _quads(path, offset), notes, manifest.quads)


def read_manifest(folder: Path, name: Name) -> Manifest:
    path = name.path(folder, ".json")
    text = path.read_bytes()
    try:
        if not is_sealed(text.removesuffix(b"\n")):
            raise LogDamaged(folder, path, "the checksum of the manifest is wrong")
        manifest = _read_manifest(text)
    except msgspec.DecodeError as error:
        raise LogDamaged(folder, path, f"not a manifest: {error}") from error
    if manifest.place.commit != name.commit:
        raise LogDamaged(folder, path, f"the snapshot after commit {manifest.place.commit} has another's name")
    return manifest


def _check(folder: Path, path: Path, manifest: Manifest) -> None:
    """Check the checksum of the whole file, which takes a fraction of the time of decoding it."""
    crc = size = 0
    try:
        with path.open("rb") as file:
            while chunk := file.read(CHUNK):
                crc, size = crc32(chunk, crc), size + len(chunk)
    except FileNotFoundError:
        raise LogDamaged(folder, path, "the data of the snapshot is missing") from None
    if size != manifest.bytes:
        raise LogDamaged(folder, path, f"{size:,} bytes, not {manifest.bytes:,}")
    if crc != manifest.data_crc:
        raise LogDamaged(folder, path, "the checksum of the snapshot is wrong")


def _quads(path: Path, offset: int) -> Iterator[Quad]:
    with path.open("rb") as file:
        file.seek(offset)
        while lines := file.readlines(CHUNK):
            for line in _read_quads(b"".join(lines)):
                yield intern(line.s), intern(line.p), intern(line.o), intern(line.g)
