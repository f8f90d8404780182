"""Checks the data folder and its disk, without changing anything."""

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from tidings.cli.doctor.finding import Finding
from tidings.cli.output.amounts import size
from tidings.log.errors import FolderInUse, FolderUnusable
from tidings.log.folder import check_free, is_made
from tidings.log.layout import log_of, snapshots_of
from tidings.server.config import Settings

LEAST, LITTLE = 64 << 20, 1 << 30
"""Free bytes of disk: below LEAST, the broker will soon refuse updates; below LITTLE, the user should act soon."""
_ELSEWHERE = "name another folder: --data FOLDER"


def check_folder(settings: Settings) -> Finding:
    if settings.memory:
        return Finding("data folder", "ok", "none: everything is kept in memory only")
    path = Path(settings.data)
    try:
        return _existing(path) if path.exists() or path.is_symlink() else _to_be_made(path)
    except FolderInUse as error:
        advice = f"it belongs to one broker at a time; for another one, {_ELSEWHERE}"
        return Finding("data folder", "note", f"{path} is in use by {_process(error.pid)}", advice)
    except FolderUnusable as error:
        return Finding("data folder", "problem", str(error), _ELSEWHERE)
    except OSError as error:
        found = f"{error.filename or path} cannot be looked at: {error.strerror or error}"
        return Finding("data folder", "problem", found, f"run as the user that it belongs to, or {_ELSEWHERE}")


def check_disk(settings: Settings) -> Finding:
    """Check the size of the folder, and the free space of the disk."""
    path = Path(settings.data)
    left = shutil.disk_usage(_nearest(path)).free
    found = f"{size(sum(each.st_size for each in _files(path)))} in the data folder, {size(left)} left on its disk"
    advice = "make room, or move the folder to a larger disk; --keep-log BYTES drops what snapshots cover"
    if left < LITTLE:
        return Finding("disk", "problem" if left < LEAST else "note", found, advice)
    return Finding("disk", "ok", found)


def last_written(settings: Settings) -> float:
    """When the broker last wrote to the log or a snapshot; 0 if there are none."""
    if settings.memory:
        return 0.0
    path = Path(settings.data)
    return max((each.st_mtime for folder in (log_of(path), snapshots_of(path)) for each in _files(folder)), default=0.0)


# -- the folder ---------------------------------------------------------------------------------------------------


def _existing(path: Path) -> Finding:
    """Check a folder that exists. Raises FolderUnusable, FolderInUse, OSError."""
    if not path.is_dir():
        return Finding("data folder", "problem", f"{path} is not a folder, but is in the way of one", _ELSEWHERE)
    made = is_made(path)
    check_free(path)
    for each in (path, path / "lock", log_of(path), snapshots_of(path)):
        if each.exists() and not os.access(each, os.R_OK | os.W_OK):
            return Finding("data folder", "problem", f"{each} cannot be written to", _permission(each))
    found = "has data of Tidings, and nobody uses it" if made else "is empty; the first start begins with nothing"
    return Finding("data folder", "ok", f"{path} {found}")


def _to_be_made(path: Path) -> Finding:
    above = _nearest(path)
    if not above.is_dir():
        return Finding("data folder", "problem", f"{path} cannot be made: {above} is no folder", _ELSEWHERE)
    if not os.access(above, os.W_OK | os.X_OK):
        found = f"{path} is not there, and cannot be made: {above} cannot be written to"
        return Finding("data folder", "problem", found, _permission(above))
    return Finding("data folder", "ok", f"{path} is not there yet; the first start makes it")


def _permission(path: Path) -> str:
    return f"let this user write to it (user {os.geteuid()}, it is of user {path.stat().st_uid}), or {_ELSEWHERE}"


def _nearest(path: Path) -> Path:
    """The path itself if it exists, otherwise its closest ancestor that exists."""
    path = path.absolute()
    return next(each for each in (path, *path.parents) if os.path.exists(each))


def _files(path: Path) -> Iterator[os.stat_result]:
    for folder, _, names in os.walk(path):
        for name in names:
            with suppress(FileNotFoundError):  # a running broker may have replaced a snapshot meanwhile
                yield os.lstat(os.path.join(folder, name))


def _process(pid: int | None) -> str:
    return f"process {pid}" if pid else "another process"
