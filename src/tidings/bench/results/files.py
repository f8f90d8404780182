"""Writes files of results atomically: after a failure, the old file is still there.

A benchmark can take hours, so it saves its results again and again, and no crash or full disk may destroy them.
"""

import os
from contextlib import suppress
from pathlib import Path

from tidings.model.errors import BadRequest, TidingsError


class ResultsUnwritable(TidingsError):
    """A file of results cannot be written. The old file, if there is one, is unchanged."""

    status = 507
    code = "results_unwritable"


class ResultsUnreadable(BadRequest):
    """A file of results does not exist, or is not one."""

    code = "results_unreadable"


def write_whole(path: Path, data: bytes | str, *, durable: bool = False) -> None:
    """Write a temporary file, then rename it; `durable` survives a loss of power, too. Creates the folder. Raises
    ResultsUnwritable."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    content = data.encode() if isinstance(data, str) else data
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            if durable:
                os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise ResultsUnwritable(_told(path, error)) from error


def _told(path: Path, error: OSError) -> str:
    kept = "; what was written there before is unchanged" if path.is_file() else ""
    return f"{path} cannot be written: {error.strerror or error}{kept}"


def read_whole(path: Path) -> bytes:
    """Raises ResultsUnreadable."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise ResultsUnreadable(f"{path} cannot be read: {error.strerror or error}") from error
