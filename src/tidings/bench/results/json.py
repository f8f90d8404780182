"""A run as JSON, complete and valid at any moment of the run; and the facts about machine and software."""

import os
import platform
import re
import subprocess
from importlib.metadata import PackageNotFoundError, version
from math import isfinite
from pathlib import Path
from typing import Any

import msgspec

from tidings.bench.results.files import ResultsUnreadable, read_whole, write_whole
from tidings.bench.results.measured import Measurement, Run

PACKAGES = (
    "tidings",
    "httptools",
    "httpx",
    "matplotlib",
    "msgspec",
    "orjson",
    "picows",
    "pyoxigraph",
    "starlette",
    "uvicorn",
    "uvloop",
)
"""The packages whose version may affect a time."""
GIT_SECONDS = 5.0


def write_run(path: Path, run: Run) -> None:
    """Write a run. Raises ResultsUnwritable; the old file is then unchanged."""
    write_whole(path, to_json(run), durable=True)


def read_run(path: Path) -> Run:
    """Raises ResultsUnreadable."""
    try:
        return from_json(read_whole(path))
    except ResultsUnreadable as error:
        raise ResultsUnreadable(f"{path}: {error}") from error


def to_json(run: Run) -> bytes:
    """The run as JSON, without infinite figures and NaN, which JSON does not have."""
    sound = msgspec.structs.replace(run, measurements=[_sound(each) for each in run.measurements])
    document = _finite(msgspec.to_builtins(sound))
    return msgspec.json.format(msgspec.json.encode(document), indent=1) + b"\n"


def from_json(data: bytes) -> Run:
    """Raises ResultsUnreadable."""
    try:
        return msgspec.json.decode(data, type=Run)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ResultsUnreadable(f"not the results of a run: {error}") from error


def _sound(measurement: Measurement) -> Measurement:
    """The measurement without points of its timeline that are not finite."""
    return msgspec.structs.replace(
        measurement,
        samples=tuple(filter(isfinite, measurement.samples)),
        timeline=tuple(point for point in measurement.timeline if all(map(isfinite, point))),
    )


def _finite(node: Any) -> Any:
    if isinstance(node, dict):
        return {key: _finite(value) for key, value in node.items() if _sayable(value)}
    if isinstance(node, list | tuple):
        return [_finite(value) for value in node if _sayable(value)]
    return node


def _sayable(node: Any) -> bool:
    return not isinstance(node, float) or isfinite(node)


def machine() -> dict[str, Any]:
    """The facts about the machine on which times depend, without the names of the machine or its owner."""
    return {
        "cpu": _cpu(),
        "cores": os.cpu_count() or 1,
        "usable_cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "os": f"{platform.system()} {platform.release()}",
        "architecture": platform.machine(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
    }


def _cpu() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text("utf-8", errors="replace")
    except OSError:
        text = ""
    found = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    return found[1].strip() if found else platform.processor() or platform.machine()


def versions() -> dict[str, str]:
    """The versions of the installed packages."""
    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def git_state(folder: Path | None = None) -> dict[str, Any]:
    """Which commit is measured, and whether files differ from it; {} outside of a clone, or without git."""
    where = folder or Path(__file__).parent
    commit = _git(where, "rev-parse", "HEAD")
    if not commit:
        return {}
    return {
        "commit": commit,
        "branch": _git(where, "rev-parse", "--abbrev-ref", "HEAD") or "",
        "changed_files": len((_git(where, "status", "--porcelain") or "").splitlines()),
    }


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments], capture_output=True, text=True, timeout=GIT_SECONDS, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
