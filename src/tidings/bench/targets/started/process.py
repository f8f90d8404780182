"""A child process of the suite: starts a command in its own process group, watches it, and ends the whole group."""

import asyncio
import atexit
import os
import resource
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from tidings.bench.targets.errors import TargetFailed

_PROC = Path("/proc")
_TAIL_LINES = 20
_TAIL_BYTES = 1 << 14
_running: set[int] = set()


@atexit.register
def _kill_all() -> None:
    """Kill all started processes when the suite ends, unless a SIGKILL ends it."""
    for group in _running:
        _signal(group, signal.SIGKILL)


class Process:
    """A running command. Its output goes to a file: `said` reads all of it, `tail` its end."""

    def __init__(
        self, name: str, command: Sequence[str], environment: Mapping[str, str], folder: Path, log: Path
    ) -> None:
        self._name = name
        self._log = log
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as output:
            self._begin = output.tell()
            self._popen = _started(name, command, {**os.environ, **environment}, folder, output)
        _running.add(self._popen.pid)

    @property
    def pid(self) -> int:
        return self._popen.pid

    @property
    def ended(self) -> bool:
        return self._popen.poll() is not None

    def check(self) -> None:
        """Raises TargetFailed if the process has ended."""
        code = self._popen.poll()
        if code is not None:
            how = f"by signal {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
            raise TargetFailed(f"{self._name} has ended {how}", self.tail())

    async def wait(self, seconds: float) -> bool:
        """Wait for the end of the process; whether it ends in time."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while not self.ended:
                    await asyncio.sleep(0.02)
        return self.ended

    async def stop(self, seconds: float) -> None:
        """Send SIGTERM, wait so many seconds, then send SIGKILL to the rest of the group."""
        group = self._popen.pid
        _signal(group, signal.SIGTERM)
        await self.wait(seconds)
        _signal(group, signal.SIGKILL)
        await self.wait(seconds)
        _running.discard(group)

    def said(self) -> str:
        with self._log.open("rb") as log:
            log.seek(self._begin)
            return log.read().decode(errors="replace")

    def tail(self) -> str:
        with self._log.open("rb") as log:
            end = log.seek(0, os.SEEK_END)
            log.seek(max(self._begin, end - _TAIL_BYTES))
            lines = log.read().decode(errors="replace").splitlines()
        return "\n".join(lines[-_TAIL_LINES:])

    def memory(self) -> int | None:
        """Resident bytes of the group; shared memory counts once. None without /proc."""
        if not _PROC.joinpath("self/stat").exists():
            return None
        members = [pid for pid in _pids() if _group(pid) == self._popen.pid]
        return sum(map(_resident if len(members) == 1 else _proportional, members)) if members else None


def _started(
    name: str, command: Sequence[str], environment: Mapping[str, str], folder: Path, output: IO[bytes]
) -> "subprocess.Popen[bytes]":
    try:
        return subprocess.Popen(
            command,
            env=environment,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except OSError as error:
        raise TargetFailed(f"{name} cannot be started: {command[0]}: {error.strerror}") from error


def _signal(group: int, which: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, which)


def _pids() -> list[int]:
    return [int(entry.name) for entry in _PROC.iterdir() if entry.name.isdigit()]


def _group(pid: int) -> int | None:
    try:
        stat = (_PROC / str(pid) / "stat").read_text(errors="replace")
    except OSError:
        return None  # the process has just ended
    return int(stat.rpartition(")")[2].split()[2])


def _resident(pid: int) -> int:
    try:
        return int((_PROC / str(pid) / "statm").read_text().split()[1]) * resource.getpagesize()
    except OSError:
        return 0


def _proportional(pid: int) -> int:
    try:
        lines = (_PROC / str(pid) / "smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) << 10 for line in lines if line.startswith("Pss:"))
