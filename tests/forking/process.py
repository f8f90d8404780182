"""Processes that run `tidings`, as forks of one that has imported it: for tests that are not about how it starts.

with Forked("serve", "--memory", stdout=PIPE) as process:     # as subprocess.Popen, with text in its pipes
    process.stdout.readline()
"""

import atexit
import json
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from subprocess import DEVNULL, PIPE, CompletedProcess, TimeoutExpired
from threading import Thread
from types import TracebackType
from typing import IO

from waiting import PATIENCE, WHOLE

HERE = Path(__file__).parent


@cache
def server(kind: str = "tidings") -> str:
    """The socket of the fork server of this process, which ends with it."""
    place = Path(tempfile.mkdtemp(prefix="tidings-")) / "socket"
    process = subprocess.Popen(
        [sys.executable, str(HERE / "server.py"), str(place), kind],
        env=os.environ | {"PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1"} if kind == "pyspark" else None,
        stdin=PIPE,
        stdout=PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"

    def end() -> None:
        process.communicate(timeout=PATIENCE)
        shutil.rmtree(place.parent)

    atexit.register(end)
    return str(place)


def command() -> str:
    """What is `tidings` in a shell."""
    return shlex.join([sys.executable, "-IS", str(HERE / "caller.py"), server()])


@cache
def python_of_spark() -> str:
    """An interpreter for PYSPARK_PYTHON: what it runs as a module, it runs as a fork."""
    place = server("pyspark")
    path = Path(place).with_name("python")
    python, caller = shlex.quote(sys.executable), shlex.quote(str(HERE / "caller.py"))
    path.write_text(
        f'#!/bin/sh\n[ "$1" = -m ] || exec {python} "$@"\nexec {python} -IS {caller} {shlex.quote(place)} "$@"\n'
    )
    path.chmod(0o700)
    return str(path)


class Forked:
    """As `subprocess.Popen`: streams are those of this process unless they are PIPE, or a descriptor."""

    def __init__(
        self,
        *arguments: str,
        cwd: Path | str | None = None,
        env: Mapping[str, str] | None = None,
        stdin: int | None = None,
        stdout: int | None = None,
        stderr: int | None = None,
    ) -> None:
        self.stdin, asked_in = _opened(stdin, 0)
        self.stdout, asked_out = _opened(stdout, 1)
        self.stderr, asked_err = _opened(stderr, 2)
        asked = {"arguments": arguments, "folder": str(cwd or Path.cwd()), "environment": dict(env or os.environ)}
        self._server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._server.connect(server())
        streams = {asked_in: stdin, asked_out: stdout, asked_err: stderr}
        socket.send_fds(self._server, [json.dumps(asked).encode()], [asked_in, asked_out, asked_err])
        for stream, wanted in streams.items():
            if wanted in {PIPE, DEVNULL}:
                os.close(stream)
        self.pid = int(self._server.recv(100))
        self.returncode: int | None = None

    def poll(self) -> int | None:
        try:
            return self.wait(0.0)
        except TimeoutExpired:
            return None

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            self._server.settimeout(timeout)
            try:
                self.returncode = int(self._server.recv(100))
            except (TimeoutError, BlockingIOError):
                raise TimeoutExpired("tidings", timeout or 0.0) from None
        return self.returncode

    def send_signal(self, how: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, how)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def communicate(self, input: str | None = None, timeout: float | None = None) -> tuple[str, str]:  # noqa: A002
        """All that it says, until it ends."""
        said = ["", ""]

        def read(number: int, stream: IO[str] | None) -> None:
            said[number] = "" if stream is None or stream.closed else stream.read()

        readers = [Thread(target=read, args=each) for each in enumerate((self.stdout, self.stderr))]
        for reader in readers:
            reader.start()
        if self.stdin is not None and not self.stdin.closed:
            self.stdin.write(input or "")
            self.stdin.close()
        deadline = time.monotonic() + (PATIENCE if timeout is None else timeout)
        for reader in readers:
            reader.join(max(0.0, deadline - time.monotonic()))
        if any(reader.is_alive() for reader in readers):
            raise TimeoutExpired("tidings", timeout or PATIENCE)
        self.wait(max(0.0, deadline - time.monotonic()) + 0.1)
        return said[0], said[1]

    def __enter__(self) -> "Forked":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for stream in (self.stdin, self.stdout, self.stderr):
            if stream is not None:
                stream.close()
        self.wait()
        self._server.close()


def _opened(wanted: int | None, number: int) -> tuple[IO[str] | None, int]:
    """Our end of a stream, if there is one, and the other end."""
    if wanted == PIPE:
        reading, writing = os.pipe()
        if number:
            return os.fdopen(reading, encoding="utf-8"), writing
        return os.fdopen(writing, "w", encoding="utf-8"), reading
    if wanted == DEVNULL:
        return None, os.open(os.devnull, os.O_RDWR)
    return None, number if wanted is None else wanted


def run(*arguments: str, stdin: str = "", cwd: Path | None = None) -> CompletedProcess[str]:
    """A command, from its beginning to its end."""
    with Forked(*arguments, cwd=cwd, stdin=PIPE, stdout=PIPE, stderr=PIPE) as process:
        out, err = process.communicate(stdin, timeout=WHOLE)
    return CompletedProcess(arguments, process.wait(), out, err)
