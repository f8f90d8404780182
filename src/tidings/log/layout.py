"""The names of files in a data folder, and what it takes for a name to survive a power cut.

A segment is named after its first commit. Segments are begun by commits only, never by an entry of notes, so that all
notes between two commits follow the former in its segment and names are unique. The one exception is a log that has no
segment: notes open that of the commit to come.
"""

import os
import re
from pathlib import Path

_SEGMENT = re.compile(r"(\d{20})\.jsonl")


def log_of(folder: Path) -> Path:
    return folder / "log"


def snapshots_of(folder: Path) -> Path:
    return folder / "snapshots"


def damaged_of(folder: Path) -> Path:
    return folder / "damaged"


def segment_path(folder: Path, first: int) -> Path:
    return folder / "log" / f"{first:020}.jsonl"


def segments(folder: Path) -> list[int]:
    """The first commits of all segments, in order; files of other names are none of ours."""
    try:
        names = os.listdir(log_of(folder))
    except FileNotFoundError:
        return []
    return sorted(int(match[1]) for match in map(_SEGMENT.fullmatch, names) if match)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable: a file that is synced may still lose its name."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_file(path: Path) -> None:
    """Make all that anybody wrote to a file durable."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_whole(path: Path, data: bytes) -> None:
    """A small file that is there in full or not at all."""
    partial = path.with_name(path.name + ".tmp")
    with partial.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)
    sync_folder(path.parent)
