"""Results on disk: a file is there whole, or as it was before.

A benchmark can take hours, so what it has measured is written again and again; no crash and no full disk may cost it.
"""

import os
from contextlib import suppress
from pathlib import Path

from tidings.model.errors import BadRequest, TidingsError


class ResultsUnwritable(TidingsError):
    """The last good file, if there is one, is as it was."""

    status = 507
    code = "results_unwritable"


class ResultsUnreadable(BadRequest):
    """A file of results that is not there, or is something else."""

    code = "results_unreadable"


def write_whole(path: Path, data: bytes | str, *, durable: bool = False) -> None:
    """Write beside, then rename; `durable` outlasts a loss of power too. Makes the folder. Raises ResultsUnwritable."""
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
