"""What is deployed, and the programs that it is checked with."""

import re
import shlex
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from waiting import PATIENCE

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
HOST = "127.0.0.1"
_TRIES = 5


# -- programs ---------------------------------------------------------------------------------------------------


@cache
def tool(name: str) -> str:
    """A program, as `scripts/tool` finds or gets it. Without it the tests fail: they would say nothing."""
    found = subprocess.run(
        [ROOT / "scripts" / "tool", name], capture_output=True, text=True, timeout=600, check=False
    )  # fmt: skip
    if found.returncode:
        pytest.fail(f"there is no {name}:\n{found.stderr}", pytrace=False)
    return found.stdout.strip()


def run(*command: str | Path, folder: Path | None = None) -> str:
    """What a program says, on stdout and stderr, if it ends well."""
    done = subprocess.run(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, f"{shlex.join(map(str, command))}\n{done.stdout}"
    return done.stdout


def until(condition: Callable[[], bool], what: str) -> None:
    """Wait for something that is bound to happen."""
    deadline = time.monotonic() + 3 * PATIENCE
    while not condition():
        assert time.monotonic() < deadline, f"{what} did not happen"
        time.sleep(0.05)


class NotListening(Exception):
    """A server that ended before it listened, with what it said."""


@contextmanager
def listening(port: int, log: Path, *command: str | Path) -> Iterator[subprocess.Popen[bytes]]:
    """A server that takes connections at a port. Raises NotListening."""
    with log.open("wb") as said, subprocess.Popen(command, cwd=log.parent, stdout=said, stderr=said) as process:
        try:
            deadline = time.monotonic() + 3 * PATIENCE
            while not _answers(port):
                if process.poll() is not None or time.monotonic() > deadline:
                    raise NotListening(log.read_text(errors="replace"))
                time.sleep(0.02)
            yield process
        finally:
            process.terminate()
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex((HOST, port)) == 0


def tries() -> Iterator[bool]:
    """A port that was free may be gone a moment later: whether this is the last try."""
    yield from (attempt == _TRIES - 1 for attempt in range(_TRIES))


# -- files ------------------------------------------------------------------------------------------------------


def read_yaml(path: Path) -> Any:
    return yaml.safe_load(path.read_text())


class Instruction(NamedTuple):
    name: str
    rest: str


def dockerfile() -> list[Instruction]:
    """The instructions, each on one line; comments are left out."""
    lines = [line for line in (DEPLOY / "Dockerfile").read_text().splitlines() if not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n\s*", " ", "\n".join(lines))
    return [Instruction(*line.split(None, 1)) for line in joined.splitlines() if line.strip()]


def last_stage(name: str) -> list[str]:
    """What the image itself says: all of this name in the last stage."""
    instructions = dockerfile()
    begin = max(n for n, each in enumerate(instructions) if each.name == "FROM")
    return [each.rest for each in instructions[begin:] if each.name == name]


def environment_of_the_image() -> dict[str, str]:
    pairs = [pair for rest in last_stage("ENV") for pair in shlex.split(rest)]
    return dict(pair.split("=", 1) for pair in pairs)


def unit() -> list[tuple[str, str]]:
    """The lines of the systemd unit, in order: a name may come again."""
    lines = (DEPLOY / "systemd" / "tidings.service").read_text().splitlines()
    return [
        (name, value) for name, is_pair, value in (line.partition("=") for line in lines if line[:1] != "#") if is_pair
    ]


def unit_value(name: str) -> str:
    (value,) = [value for key, value in unit() if key == name]
    return value


def seconds(text: str) -> float:
    """`30s` and `5min`, as systemd and Compose write durations."""
    match = re.fullmatch(r"(\d+)(s|m|min)", text)
    assert match, text
    return int(match[1]) * (1 if match[2] == "s" else 60)


def gibibytes(text: str) -> int:
    match = re.fullmatch(r"(\d+)G", text)
    assert match, text
    return int(match[1])
