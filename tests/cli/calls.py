"""Calls of commands, in a pipe and in a terminal, and a little data for them."""

import os
import pty
import subprocess
import sys
from collections.abc import Iterator

import pytest

from waiting import PATIENCE

DATA = """\
@prefix : <http://example.org/> .
:a :p 1 , 2 ; :name "Ann" .
:b :p 3 ; :name "Bob"@en .
"""
Captured = pytest.CaptureFixture[str]


def run(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tidings", *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=PATIENCE, check=False)


def in_terminal(*arguments: str, columns: int = 80) -> str:
    """What a command writes to a terminal of this width."""
    leader, follower = pty.openpty()
    environment = os.environ | {"COLUMNS": str(columns), "TERM": "xterm"}
    environment.pop("NO_COLOR", None)
    with subprocess.Popen(
        [sys.executable, "-m", "tidings", *arguments], stdout=follower, stderr=subprocess.DEVNULL, env=environment
    ):
        os.close(follower)
        said = b"".join(_chunks(leader))
    os.close(leader)
    return said.decode().replace("\r\n", "\n")


def _chunks(leader: int) -> Iterator[bytes]:
    try:
        while chunk := os.read(leader, 65536):
            yield chunk
    except OSError:  # the other end is closed
        return
