"""Checks the machine: the limit of open files, memory, and a clock that goes forward."""

import os
import re
import resource
import time
from collections.abc import Iterator
from pathlib import Path

from tidings.cli.doctor.finding import Finding
from tidings.cli.output.amounts import duration, size
from tidings.server.config import Settings

SPARE = 64
"""Open files besides those of clients and requests: the log, snapshots, forks, the event loop."""
FEWEST = 256
"""Open files without which a broker is of little use."""
LEAST, LITTLE, FOR_SPARK = 128 << 20, 512 << 20, 3 << 30
"""Bytes of memory: a broker without data and its forks; with little data; with a Spark that takes 2 GB beside it."""
_BACK = 60.0
"""Seconds that a clock may be behind a file that was written by another one."""


# -- open files ---------------------------------------------------------------------------------------------------


def check_files(settings: Settings) -> Finding:
    """Check the limit of open files: a broker needs one for each client and each running request."""
    soft, hard = (_limit(each) for each in resource.getrlimit(resource.RLIMIT_NOFILE))
    needed = settings.max_connections + settings.max_requests + SPARE
    clients = f"max_connections = {settings.max_connections:,} needs {needed:,}"
    if soft >= needed:
        return Finding("open files", "ok", f"{_shown(soft)} are allowed, {clients}")
    found = f"{_shown(soft)} are allowed (at most {_shown(hard)}), {clients}"
    if hard >= needed:
        advice = f"`ulimit -n {needed}` before the start, or LimitNOFILE={needed} in the unit of systemd"
    else:
        advice = f"LimitNOFILE={needed} in the unit of systemd, or have root raise the limit (`ulimit -Hn {needed}`)"
    if (clients_now := int(soft) - settings.max_requests - SPARE) > 0:
        advice += f"; or serve fewer: --max-connections {clients_now}"
    return Finding("open files", "problem" if soft < FEWEST else "note", found, advice)


def _limit(number: int) -> float:
    return float("inf") if number == resource.RLIM_INFINITY else number


def _shown(number: float) -> str:
    return "any number" if number == float("inf") else f"{number:,.0f}"


# -- memory -------------------------------------------------------------------------------------------------------


def check_memory(root: Path = Path("/"), *, spark: bool) -> Finding:
    """Check the free memory of the machine, or of the control group of this process, if that is less."""
    choices = [(left, "of this machine") for left in _of_machine(root)]
    choices += [(left, "within the limit of the control group") for left in _of_groups(root)]
    if not choices:
        return Finding("memory", "note", "nobody says how much is available", "a broker takes 128 MiB, and its data")
    left, where = min(choices)
    found = f"{size(left)} available {where}"
    if left < LITTLE:
        advice = "end something else, or allow more: MemoryMax= in the unit of systemd, --memory of the container"
        return Finding("memory", "problem" if left < LEAST else "note", found, advice)
    if spark and left < FOR_SPARK:
        advice = "Spark takes 2 GB by itself: give it less, as with tidings history --memory 1g"
        return Finding("memory", "note", found, advice)
    return Finding("memory", "ok", found)


def _of_machine(root: Path) -> Iterator[int]:
    kibibytes = _number(root / "proc/meminfo", r"^MemAvailable:\s+(\d+) kB$")
    if kibibytes is not None:
        yield kibibytes << 10


def _of_groups(root: Path) -> Iterator[int]:
    """The free memory of each control group of this process, in version 1 or 2 of control groups."""
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if not controllers:
            yield from _left(root / "sys/fs/cgroup", path, "memory.max", "memory.current", "inactive_file")
        elif "memory" in controllers.split(","):
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
            yield from _left(root / "sys/fs/cgroup/memory", path, *names)


def _left(mount: Path, path: str, limit: str, used: str, reclaimed: str) -> Iterator[int]:
    """The free memory of a group and its ancestors. In a container, the path of the group itself may not be visible."""
    group = mount / path.strip("/")
    for folder in (group, *group.parents):
        most, now = _number(folder / limit), _number(folder / used)
        if most is not None and now is not None:
            # The page cache counts as used, but the kernel frees it when a process needs memory.
            cached = _number(folder / "memory.stat", rf"^{reclaimed} (\d+)$") or 0
            yield max(0, most - max(0, now - cached))
        if folder == mount:
            return


def _number(path: Path, pattern: str = r"^(\d+)$") -> int | None:
    """A number in a file of the kernel; None for a group without a limit, whose file has the word `max`."""
    found = re.search(pattern, _text(path), re.MULTILINE)
    return int(found[1]) if found else None


def _text(path: Path) -> str:
    return path.read_text() if os.access(path, os.R_OK) else ""


# -- clock --------------------------------------------------------------------------------------------------------


def check_clock(written: float, now: float | None = None) -> Finding:
    """`written` is when the data folder was last written to, in seconds since 1970."""
    now = time.time() if now is None else now
    shown = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now))
    if written > now + _BACK:
        found = f"{shown}, {duration(written - now)} before the last write to the data folder"
        advice = (
            "set it, and keep it right (chrony, systemd-timesyncd): until it catches up, times of commits stand still"
        )
        return Finding("clock", "note", found, advice)
    return Finding("clock", "ok", shown)
