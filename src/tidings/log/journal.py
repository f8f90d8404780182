"""The journal writes the log. The event loop appends, which is cheap; another thread writes, and waits for the disk.

    append … append --> take --> write      one write makes durable everything that was appended before it
                          \\--> discard     a write failed: go back to the last durable entry, and on from there

Encoding a large entry takes long, so `write` does it. The checksums of later entries depend on its last line, so these
are encoded after it, too.

Only the last segment can be torn by a crash: a segment is synced, whatever the durability, before the next is begun.
"""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import msgspec

from tidings.log.encoder import Encoder, Part
from tidings.log.entry import Entry, Position
from tidings.log.errors import LogBroken, LogWriteFailed
from tidings.log.layout import log_of, segment_path, sync_folder
from tidings.model.errors import TidingsError

Durability = Literal["none", "os", "fsync"]
"""What a write waits for: the operating system to have the bytes, or the disk."""

LARGE = 4_096
"""The thread encodes entries of more changes, which would block the event loop: a change takes 1.5 to 2.5 µs."""


class Settings(msgspec.Struct, frozen=True):
    segment_bytes: int = 64 << 20
    segment_seconds: float = 24 * 3600
    durability: Durability = "fsync"


class WriteBatch(msgspec.Struct, frozen=True):
    """The entries that one write makes durable, in one segment or several."""

    number: int
    """Batches are written in the order of their numbers, each once."""
    parts: tuple[Part, ...]
    end: Position | None
    """The end of the parts; None for the end of the batch before."""
    later: tuple[Entry, ...] = ()
    """Entries after the parts that `write` has to encode, because that takes long."""


class Journal:
    """Appends entries to a log, and writes them. `durable` is the place up to which the log is durable."""

    def __init__(self, folder: Path, place: Position, settings: Settings | None = None) -> None:
        self.folder = folder
        self._settings = settings or Settings()
        self._oldest = int(self._settings.segment_seconds * 1_000_000)
        self.broken = False
        self.durable = place
        self.written = 0
        """How many bytes were made durable since this journal was opened."""
        self._file: int | None = None
        self._begun: list[int] = []
        """The segments that the present write has created."""
        self._taken = self._done = 0
        """The numbers of the last batch that was taken, and of the last one that was written or discarded."""
        self._go_to_the_durable_end()
        if place.segment:
            try:
                self._file = self._open(place.segment)
            except OSError as error:
                raise LogWriteFailed(error) from error

    def _go_to_the_durable_end(self) -> None:
        self._encoder: Encoder | None = self._encoder_at(self.durable)
        """None while the end of the log is not known, because the thread still encodes a large entry."""
        self.last_commit, self._time = self.durable.commit, self.durable.time
        self._later: list[Entry] = []

    def _encoder_at(self, place: Position) -> Encoder:
        return Encoder(place, self._settings.segment_bytes, self._oldest)

    # -- on the event loop ---------------------------------------------------------------------------------------

    @property
    def has_more(self) -> bool:
        """Whether entries wait to be encoded behind a large one."""
        return bool(self._later)

    @property
    def place(self) -> Position:
        """The end of the entries that were appended and encoded."""
        return self.durable if self._encoder is None else self._encoder.place

    def append(self, entry: Entry) -> None:
        """Append an entry. Raises LogBroken, and ValueError if its number or time cannot follow the last entry."""
        if self.broken:
            raise LogBroken
        commits = bool(entry.delta)
        if entry.commit != self.last_commit + commits or entry.time < self._time or not (commits or entry.notes):
            raise ValueError(f"commit {entry.commit} at {entry.time} cannot follow {self.last_commit} at {self._time}")
        if self._encoder is None or self._later or len(entry.delta) > LARGE:
            self._later.append(entry)
        else:
            self._encoder.add(entry)
        self.last_commit, self._time = entry.commit, entry.time

    def take(self) -> WriteBatch | None:
        """Everything appended since the last call, for `write`. Raises a TidingsError if it cannot be encoded."""
        if self._encoder is None and self._done == self._taken:
            self._encoder = self._encoder_at(self.durable)
        encoder, later = self._encoder, tuple(self._later)
        if encoder is not None and sum(len(entry.delta) for entry in later) <= LARGE:
            _encode(encoder, later)
            later = ()
        parts = () if encoder is None else encoder.take()
        self._later = []
        if not parts and not later:
            return None
        self._taken += 1
        if later:
            self._encoder = None
        return WriteBatch(self._taken, parts, None if encoder is None else encoder.place, later)

    def discard(self) -> None:
        """After a failed write: forget all entries that are not durable. No write may be under way."""
        self._done = self._taken
        self._go_to_the_durable_end()

    # -- in another thread, one call at a time -------------------------------------------------------------------

    def write(self, batch: WriteBatch) -> None:
        """Make a batch durable, or leave no trace of it. Raises LogWriteFailed, LogBroken, and a TidingsError if an
        entry cannot be encoded."""
        if self.broken:
            raise LogBroken
        if batch.number != self._done + 1:
            raise ValueError("the batch does not follow what is durable: it should have been discarded")
        parts, end = batch.parts, batch.end or self.durable
        if batch.later:
            encoder = self._encoder_at(end)
            _encode(encoder, batch.later)
            parts, end = parts + encoder.take(), encoder.place
        self._begun.clear()
        try:
            segment = self.durable.segment
            for part in parts:
                if part.segment != segment:
                    segment = part.segment
                    self._begin(segment)
                self._write(part.data)
            if self._settings.durability == "fsync":
                self._sync()
        except OSError as error:
            self._undo()
            raise LogWriteFailed(error) from error
        self.durable = end
        self.written += sum(len(part.data) for part in parts)
        self._done = batch.number  # the last step: from here on, the event loop may encode from `durable` on

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
        """Restore the log to the last durable entry. If that fails as well, the log is broken."""
        try:
            self._close()
            for segment in reversed(self._begun):  # the last one first: a crash in between leaves no hole
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
            # Linux drops the pages that it could not write, and a second fsync would wrongly succeed.
            self.broken = True
            raise

    def _sync_names(self) -> None:
        try:
            sync_folder(log_of(self.folder))
        except OSError:
            self.broken = True
            raise

    def close(self) -> None:
        """Sync, with any durability, and close the file. Entries that were not written are lost."""
        if self._file is None:
            return
        try:
            if not self.broken:
                self._sync()
            self._close()
        except OSError as error:
            raise LogWriteFailed(error) from error


def _encode(encoder: Encoder, entries: Iterable[Entry]) -> None:
    try:
        for entry in entries:
            encoder.add(entry)
    except (TypeError, ValueError) as error:  # a defect: what is committed can be encoded
        raise TidingsError(f"this cannot be written down: {error}") from error
