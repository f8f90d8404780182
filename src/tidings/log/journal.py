"""Writes the log. Appending is cheap and happens on the event loop; writing waits for the disk in another thread.

    append … append --> take --> write      one write makes all that was appended meanwhile durable
                          \\--> discard     a write failed: back to the last durable entry, and on from there

Only the last segment can be torn by a crash: a segment is synced, whatever the durability, before the next is begun.
"""

import os
from pathlib import Path
from typing import Literal

import msgspec

from tidings.log.entry import Entry, Place
from tidings.log.errors import LogBroken, LogWriteFailed
from tidings.log.layout import log_of, segment_path, sync_folder
from tidings.log.lines import encode, seed

Durability = Literal["none", "os", "fsync"]
"""What a write waits for: the operating system to have the bytes, or the disk."""


class Settings(msgspec.Struct, frozen=True):
    segment_bytes: int = 64 << 20
    segment_seconds: float = 24 * 3600
    durability: Durability = "fsync"


class Part(msgspec.Struct, frozen=True):
    """Bytes for the end of one segment."""

    segment: int
    data: bytes


class Batch(msgspec.Struct, frozen=True):
    """What is written at once. It may cross from one segment into the next."""

    start: Place
    parts: tuple[Part, ...]
    end: Place


class Journal:
    """The writing end of a log: `place` is the end of what was appended, `durable` of what was written."""

    def __init__(self, folder: Path, place: Place, settings: Settings | None = None) -> None:
        self.folder = folder
        self._settings = settings or Settings()
        self._oldest = int(self._settings.segment_seconds * 1_000_000)
        self.broken = False
        self.durable = place
        self.written = 0
        """Bytes made durable since this journal was opened."""
        self._file: int | None = None
        self._begun: list[int] = []
        """Segments made by the write under way."""
        self._go_to(place)
        if place.segment:
            try:
                self._file = self._open(place.segment)
            except OSError as error:
                raise LogWriteFailed(error) from error

    def _go_to(self, place: Place) -> None:
        """Append from here. The place is kept in variables: making a struct for every entry costs 0.3 µs."""
        self._commit, self._time, self._segment = place.commit, place.time, place.segment
        self._offset, self._crc, self._opened = place.offset, place.crc, place.opened
        self._pending: list[bytes] = []
        self._finished: list[Part] = []
        self._taken = place

    @property
    def place(self) -> Place:
        return Place(self._commit, self._time, self._segment, self._offset, self._crc, self._opened)

    # -- on the event loop ---------------------------------------------------------------------------------------

    def append(self, entry: Entry) -> None:
        """Put an entry behind the others; ValueError if it cannot follow them. Raises LogBroken."""
        if self.broken:
            raise LogBroken
        commits = bool(entry.delta)
        if entry.commit != self._commit + commits or entry.time < self._time or not (commits or entry.notes):
            raise ValueError(f"commit {entry.commit} at {entry.time} cannot follow {self._commit} at {self._time}")
        if not self._segment:
            self._rotate(entry)
        data, crc = encode(entry, self._crc)
        if commits and self._is_full(len(data), entry.time):
            self._rotate(entry)
            data, crc = encode(entry, self._crc)
        self._pending.append(data)
        self._offset += len(data)
        self._crc, self._commit, self._time = crc, entry.commit, entry.time

    def _is_full(self, more: int, time: int) -> bool:
        # A segment without a commit has the name that the next one would have: it goes on.
        if self._segment > self._commit:
            return False
        return self._offset + more > self._settings.segment_bytes or time - self._opened >= self._oldest

    def _rotate(self, entry: Entry) -> None:
        """Begin a segment with this entry: its lines are chained to the name."""
        first = self._commit + 1
        if self._pending:
            self._finished.append(Part(self._segment, b"".join(self._pending)))
        self._pending = []
        self._segment, self._offset, self._opened, self._crc = first, 0, entry.time, seed(first)

    def take(self) -> Batch | None:
        """All that was appended since the last time, for `write`."""
        if self._pending:
            self._finished.append(Part(self._segment, b"".join(self._pending)))
        if not self._finished:
            return None
        batch = Batch(self._taken, tuple(self._finished), self.place)
        self._pending, self._finished, self._taken = [], [], batch.end
        return batch

    def discard(self) -> None:
        """After a write that failed: forget what is not durable, taken or not. No write may be under way."""
        self._go_to(self.durable)

    # -- in another thread, one call at a time -------------------------------------------------------------------

    def write(self, batch: Batch) -> None:
        """Make a batch durable, or leave no trace of it. Raises LogWriteFailed, LogBroken."""
        if self.broken:
            raise LogBroken
        if batch.start != self.durable:
            raise ValueError("the batch does not follow what is durable: it should have been discarded")
        self._begun.clear()
        try:
            segment = self.durable.segment
            for part in batch.parts:
                if part.segment != segment:
                    segment = part.segment
                    self._begin(segment)
                self._write(part.data)
            if self._settings.durability == "fsync":
                self._sync()
        except OSError as error:
            self._undo()
            raise LogWriteFailed(error) from error
        self.durable = batch.end
        self.written += sum(len(part.data) for part in batch.parts)

    def _begin(self, segment: int) -> None:
        if self._file is not None:
            self._sync()
            self._close()
        self._file = self._open(segment, os.O_CREAT | os.O_EXCL)
        self._begun.append(segment)
        self._sync_names()

    def _write(self, data: bytes) -> None:
        assert self._file is not None
        view = memoryview(data)
        while view:
            view = view[os.write(self._file, view) :]

    def _undo(self) -> None:
        """Back to the last durable entry. If that fails as well, nobody knows what the disk has."""
        try:
            self._close()
            for segment in reversed(self._begun):  # so that a crash on the way leaves no hole
                segment_path(self.folder, segment).unlink()
            if self._begun:
                self._sync_names()
            if self.durable.segment:
                self._file = self._open(self.durable.segment)
                os.ftruncate(self._file, self.durable.offset)
                if self._settings.durability == "fsync":
                    self._sync()
        except OSError:
            self.broken = True

    def _open(self, segment: int, flags: int = 0) -> int:
        return os.open(segment_path(self.folder, segment), os.O_WRONLY | os.O_APPEND | flags, 0o644)

    def _close(self) -> None:
        if self._file is not None:
            file, self._file = self._file, None
            os.close(file)

    def _sync(self) -> None:
        assert self._file is not None
        try:
            os.fsync(self._file)
        except OSError:
            # Linux drops the pages it could not write, and a second fsync would say that all is well.
            self.broken = True
            raise

    def _sync_names(self) -> None:
        try:
            sync_folder(log_of(self.folder))
        except OSError:
            self.broken = True
            raise

    def close(self) -> None:
        """Sync, whatever the durability, and let go of the file. What was not written is not saved."""
        if self._file is None:
            return
        try:
            if not self.broken:
                self._sync()
            self._close()
        except OSError as error:
            raise LogWriteFailed(error) from error
