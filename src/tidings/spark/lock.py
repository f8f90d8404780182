"""A lock, so that one process at a time writes to a folder."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tidings.spark.errors import LakeInUse, LakeUnusable


@contextmanager
def locked(folder: Path, name: str = "lock") -> Iterator[None]:
    """Hold a lock of a folder. It ends with the process, even if that is killed. Raises LakeInUse."""
    lock = _lock(folder, name)
    try:
        yield
    finally:
        os.close(lock)


def _lock(folder: Path, name: str) -> int:
    try:
        lock = os.open(folder / name, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise LakeUnusable(f"{folder} cannot be written: {error.strerror}") from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        raise LakeInUse(f"{folder} is in use: another process is writing to it") from None
    return lock
