"""How far a load has come, in a small file, so that one that was killed can go on.

    {"graph": "", "base": "…", "files": {"/data/city.nt": {"size": …, "modified": …, "statements": 15000}}}

It is written whenever the broker has acknowledged a batch, and removed when all is loaded.
"""

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from tidings.server.files import FileTrouble


class FilePosition(msgspec.Struct):
    """Statements of a file that are in, and what the file looked like."""

    size: int
    modified: int
    statements: int = 0


class State(msgspec.Struct):
    """What is in the file."""

    graph: str
    base: str
    files: dict[str, FilePosition] = msgspec.field(default_factory=dict)


@dataclass(slots=True)
class Positions:
    """The positions of a load. Without a path they are not kept."""

    path: Path | None
    state: State

    @classmethod
    def at(cls, path: Path | None, graph: str, base: str, *, resume: bool) -> "Positions":
        """Those that are there, if they are to be taken up, or else new ones. Raises FileTrouble."""
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
        """The statements of a file that are in. Raises FileTrouble if it is no longer the same file."""
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
        """Statements are in: write it down, whole or not at all. Raises FileTrouble."""
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
        """All is loaded."""
        if self.path is not None:
            with suppress(OSError):
                self.path.unlink()
