"""Calls of commands, in a pipe and in a terminal, and a little data for them."""

import os
import pty
from collections.abc import Iterator
from subprocess import DEVNULL

import pytest

from forking.process import Forked, run

__all__ = ["DATA", "Captured", "in_terminal", "run"]

DATA = """\
@prefix : <http://example.org/> .
:a :p 1 , 2 ; :name "Ann" .
:b :p 3 ; :name "Bob"@en .
"""
Captured = pytest.CaptureFixture[str]


def in_terminal(*arguments: str, columns: int = 80) -> str:
    """What a command writes to a terminal of this width."""
    leader, follower = pty.openpty()
    environment = os.environ | {"COLUMNS": str(columns), "TERM": "xterm"}
    environment.pop("NO_COLOR", None)
    with Forked(*arguments, stdout=follower, stderr=DEVNULL, env=environment):
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
