"""The names of files in a data folder, and how to make files and their names durable.

A segment is named after its first commit. Only a commit begins a segment, so notes between two commits are in the
segment of the first, and names are unique. The one exception is a log without any segment: there, notes begin the
segment of the next commit.
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
    """The first commits of all segments, in order. Files with other names are ignored."""
    try:
        names = os.listdir(log_of(folder))
    except FileNotFoundError:
        return []
    return sorted(int(match[1]) for match in map(_SEGMENT.fullmatch, names) if match)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable: without this, a synced file may lose its name in a power cut."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_file(path: Path) -> None:
    """Make the content of a file durable, whichever process wrote it."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_whole(path: Path, data: bytes) -> None:
    """Write a small file atomically: after a crash, it is complete or absent."""
    partial = path.with_name(path.name + ".tmp")
    with partial.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)
    sync_folder(path.parent)
