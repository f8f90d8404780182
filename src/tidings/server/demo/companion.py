"""The process in which the city lives beside a broker: it begins when the gates are open, and ends with the broker.

Its stdin is a pipe that nobody writes to. When the broker ends, however it ends, the pipe does, and so does the city.
"""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_LAST_SECONDS = 5.0


@contextmanager
def companion(http: str, ws: str) -> Iterator[None]:
    command = [sys.executable, "-P", "-m", "tidings.server.demo", "--http", http, "--ws", ws]
    # Ctrl+C is for the broker; a group of its own keeps it from the city, which has other ways to know.
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
