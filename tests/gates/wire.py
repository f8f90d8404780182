"""A broker in a process of its own, and what its clients see: one address for HTTP, one for WebSockets."""

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from forking.process import Forked
from gates.client import Message
from plain import calls
from ports import free_ports
from waiting import PATIENCE

SERVE = ("-m", "tidings", "serve", "--http-port", "0", "--ws-port", "0")
PATIENT = {f"TIDINGS_{name}": "600" for name in ("GRACE", "PING", "TIMEOUT", "DELIVER_PATIENCE")}
"""The surroundings of a broker that loses no patience with a client whom the machine holds up."""


@dataclass(frozen=True, slots=True)
class Broker:
    http: str
    ws: str
    process: "subprocess.Popen[str] | Forked"

    @property
    def http_port(self) -> int:
        return int(self.http.rpartition(":")[2])

    @property
    def ws_port(self) -> int:
        return int(self.ws.split(":")[2].partition("/")[0])

    def update(self, text: str, **parameters: str | list[str]) -> Message:
        """What a commit says about itself."""
        answer = calls.post(f"{self.http}/update", data={"update": text} | parameters, timeout=PATIENCE)
        assert answer.status_code == 200, answer.text
        response = answer.json()["response"]
        assert isinstance(response, dict)
        return response

    def query(self, text: str, **parameters: str | list[str]) -> list[Message]:
        answer = calls.post(f"{self.http}/query", data={"query": text} | parameters, timeout=PATIENCE)
        assert answer.status_code == 200, answer.text
        bindings = answer.json()["results"]["bindings"]
        assert isinstance(bindings, list)
        return bindings

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(how)
        return self.process.wait(PATIENCE)


def own_ports() -> tuple[str, ...]:
    """Flags for a broker that is started again where it was."""
    http, ws = free_ports(2)
    return "--http-port", str(http), "--ws-port", str(ws)


@contextmanager
def serving(folder: Path, *arguments: str, program: tuple[str, ...] = SERVE) -> Iterator[Broker]:
    """A broker that was started in a folder, on ports that were free."""
    with _started(folder, *program, *arguments) as process:
        try:
            yield Broker(*announced(process), process)
        finally:
            process.kill()


def _started(folder: Path, *command: str) -> "subprocess.Popen[str] | Forked":
    environment = PATIENT | os.environ
    if command[:2] == SERVE[:2]:
        return Forked(*command[2:], cwd=folder, env=environment, stdout=subprocess.PIPE)
    called = [sys.executable, *command]
    return subprocess.Popen(called, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True)


def announced(process: "subprocess.Popen[str] | Forked") -> tuple[str, str]:
    """Where a broker listens, from its greeting; a broker that does not greet in time is ended."""
    assert process.stdout is not None
    greeting = ""
    watchdog = threading.Timer(PATIENCE, process.kill)
    watchdog.start()
    try:
        for line in process.stdout:
            greeting += line
            http = re.search(r"http://127\.0\.0\.1:\d+", greeting)
            ws = re.search(r"ws://127\.0\.0\.1:\d+/subscribe", greeting)
            if http and ws:
                return http[0], ws[0]
    finally:
        watchdog.cancel()
    raise AssertionError(f"the broker ended with code {process.wait()} and said: {greeting!r}")
