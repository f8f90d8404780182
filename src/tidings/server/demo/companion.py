"""Starts the process of the city beside a broker, once the gates are open; the process ends with the broker.

Its stdin is a pipe from the broker. When the broker ends, even by a crash, the pipe is closed, and the process ends.
"""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_LAST_SECONDS = 5.0


@contextmanager
def companion(http: str, ws: str) -> Iterator[None]:
    command = [sys.executable, "-P", "-m", "tidings.server.demo", "--http", http, "--ws", ws]
    # In a process group of its own, the city does not get the SIGINT of Ctrl+C, which is for the broker.
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, process_group=0) as process:
        assert process.stdin is not None
        try:
            yield
        finally:
            process.stdin.close()
            try:
                process.wait(_LAST_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
