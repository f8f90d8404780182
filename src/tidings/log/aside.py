"""Takes bytes out of the log: cuts off what a crash tore, and moves to DIR/damaged what may still be of use."""

import os
from pathlib import Path

from tidings.log.layout import damaged_of, sync_folder


def cut_off(path: Path, offset: int) -> None:
    """Truncate a segment here; delete it if nothing is left of it."""
    if not offset:
        path.unlink()
        sync_folder(path.parent)
        return
    with path.open("rb+") as file:
        file.truncate(offset)
        os.fsync(file.fileno())


def move_aside(folder: Path, path: Path) -> Path:
    """Move a whole file to DIR/damaged."""
    target = _free(folder, path.name)
    path.replace(target)
    sync_folder(target.parent)
    sync_folder(path.parent)
    return target


def move_end_aside(folder: Path, path: Path, offset: int) -> Path:
    """Move the end of a segment to DIR/damaged. It is durable there before it is cut off here."""
    if not offset:
        return move_aside(folder, path)
    target = _free(folder, f"{path.name}.from-{offset}")
    with path.open("rb") as source, target.open("wb") as copy:
        source.seek(offset)
        while chunk := source.read(1 << 20):
            copy.write(chunk)
        copy.flush()
        os.fsync(copy.fileno())
    sync_folder(target.parent)
    cut_off(path, offset)
    return target


def _free(folder: Path, name: str) -> Path:
    """A name in DIR/damaged that is not in use."""
    damaged = damaged_of(folder)
    if not damaged.is_dir():
        damaged.mkdir()
        sync_folder(folder)
    target, number = damaged / name, 1
    while target.exists():
        number += 1
        target = damaged / f"{name}.{number}"
    return target
