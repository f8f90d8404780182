"""The data folder of a broker: its layout, its format, and the lock that keeps a second broker out."""

import fcntl
import json
import os
from pathlib import Path
from types import TracebackType
from typing import Any

from tidings.log.errors import FolderInUse, FolderUnusable
from tidings.log.layout import log_of, snapshots_of, sync_folder, write_whole

FORMAT = {"format": "tidings", "version": 1}
_OURS = {"lock", "format.json.tmp", "lost+found"}
"""Files that a folder without a format may have: after a crash while it was made, or on a volume of its own."""


class Folder:
    """A data folder, locked until `release`. Raises FolderUnusable, FolderInUse."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: int | None = None
        try:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)  # only the broker's user may read the data
            made = is_made(path)
            self._lock = _locked(path)
            if not made:
                write_whole(path / "format.json", json.dumps(FORMAT, separators=(",", ":")).encode() + b"\n")
            log_of(path).mkdir(exist_ok=True)
            snapshots_of(path).mkdir(exist_ok=True)
            sync_folder(path)
        except OSError as error:
            self.release()
            raise FolderUnusable(_explained(path, error)) from error
        except BaseException:
            self.release()
            raise

    def release(self) -> None:
        """Release the lock. The file stays, because removing it could remove the lock of the next process."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def __enter__(self) -> "Folder":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.release()


def check_format(path: Path) -> None:
    """Raise FolderUnusable unless this is a folder whose format we know."""
    try:
        if not is_made(path):
            raise FolderUnusable(f"{path} is not a data folder of Tidings: it has no format.json")
    except OSError as error:
        raise FolderUnusable(_explained(path, error)) from error


def check_free(path: Path) -> None:
    """Raise FolderInUse if another process has locked the folder. Does not change the folder, nor keep a lock on it."""
    try:
        lock = os.open(path / "lock", os.O_RDONLY)
    except FileNotFoundError:
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        raise FolderInUse(path, _holder(lock)) from None
    finally:
        os.close(lock)


def is_made(path: Path) -> bool:
    """Whether a folder has our format; False if it is empty. Raises FolderUnusable, OSError."""
    try:
        found = _parsed((path / "format.json").read_bytes())
    except FileNotFoundError:
        others = sorted({entry.name for entry in path.iterdir()} - _OURS)
        if others:
            raise FolderUnusable(
                f"{path} has no format.json but other things in it ({others[0]}): give an empty or a new folder"
            ) from None
        return False
    if not isinstance(found, dict) or found.get("format") != FORMAT["format"]:
        raise FolderUnusable(f"{path / 'format.json'} is not that of a data folder of Tidings")
    if found.get("version") != FORMAT["version"]:
        raise FolderUnusable(
            f"{path} has version {found.get('version')!r} of the format, this Tidings knows {FORMAT['version']} only"
        )
    return True


def _parsed(text: bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _locked(path: Path) -> int:
    """The lock of the folder, as a file that must stay open."""
    lock = os.open(path / "lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.ftruncate(lock, 0)
        os.pwrite(lock, b"%d\n" % os.getpid(), 0)
    except BlockingIOError:
        holder = _holder(lock)
        os.close(lock)
        raise FolderInUse(path, holder) from None
    except OSError:
        os.close(lock)
        raise
    return lock


def _holder(lock: int) -> int | None:
    """The id of the process that holds the lock, from the file."""
    pid = os.pread(lock, 20, 0).strip()
    return int(pid) if pid.isdigit() else None


def _explained(path: Path, error: OSError) -> str:
    reason = error.strerror or str(error)
    match error:
        case PermissionError():
            hint = "the broker's user must be allowed to read and write it"
        case FileExistsError() | NotADirectoryError():
            hint = "a file is where a folder should be"
        case _:
            hint = "give a folder that can be written"
    return f"{error.filename or path} cannot be used for data: {reason}; {hint}"
