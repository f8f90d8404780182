"""Keeps the position of a load in a small file, so that a load that was killed can resume.

    {"graph": "", "base": "…", "files": {"/data/city.nt": {"size": …, "modified": …, "statements": 15000}}}

The file is written whenever the broker has acknowledged a batch, and removed when all documents are loaded.
"""

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from tidings.server.files import FileTrouble


class FilePosition(msgspec.Struct):
    """The number of loaded statements of a file, and its size and time, to recognize changes."""

    size: int
    modified: int
    statements: int = 0


class State(msgspec.Struct):
    """The content of the file."""

    graph: str
    base: str
    files: dict[str, FilePosition] = msgspec.field(default_factory=dict)


@dataclass(slots=True)
class Positions:
    """The positions of a load. Without a path, there is no file."""

    path: Path | None
    state: State

    @classmethod
    def at(cls, path: Path | None, graph: str, base: str, *, resume: bool) -> "Positions":
        """The positions in the file, if the load resumes; otherwise new ones. Raises FileTrouble."""
        fresh = State(graph, base)
        if path is None or not resume or not path.exists():
            return cls(path, fresh)
        try:
            state = msgspec.json.decode(path.read_bytes(), type=State)
        except (OSError, msgspec.DecodeError) as error:
            raise FileTrouble(f"{path} does not say how far a load has come: {error}") from error
        if (state.graph, state.base) != (graph, base):
            raise FileTrouble(f"{path} is of a load into another graph, or with another base; remove it to begin anew")
        return cls(path, state)

    def of(self, file: Path) -> int:
        """The number of loaded statements of a file. Raises FileTrouble if the file has changed."""
        name, now = str(file.resolve()), os.stat(file)
        known = self.state.files.get(name)
        if known is None:
            self.state.files[name] = FilePosition(now.st_size, now.st_mtime_ns)
            return 0
        if (known.size, known.modified) != (now.st_size, now.st_mtime_ns):
            raise FileTrouble(
                f"{file} has changed since its load was interrupted; without --resume all of it is loaded"
            )
        return known.statements

    def reached(self, file: Path, statements: int) -> None:
        """Save the number of loaded statements, atomically. Raises FileTrouble."""
        self.state.files[str(file.resolve())].statements = statements
        if self.path is None:
            return
        beside = self.path.with_name(f".{self.path.name}.new")
        try:
            beside.write_bytes(msgspec.json.encode(self.state))
            os.replace(beside, self.path)
        except OSError as error:
            raise FileTrouble(f"{self.path}: {error.strerror}; --state names another place for it") from error

    def done(self) -> None:
        """Remove the file, because all documents are loaded."""
        if self.path is not None:
            with suppress(OSError):
                self.path.unlink()
