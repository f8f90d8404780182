"""The npm package @arces-wot/sepa-js, as it is, in a Node process that does what a test says."""

import fcntl
import json
import os
import shutil
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

import pytest

from waiting import PATIENCE

HERE = Path(__file__).parent
MODULES = Path(sys.prefix) / "npm" / "clients"  # outside the tree, or in .venv, which is ignored


# -- what it runs on --------------------------------------------------------------------------------------------


def node() -> str:
    """Node, as `scripts/tool` finds or gets it. Without it the tests fail: a client not tested is not supported."""
    found = subprocess.run(
        [HERE.parents[1] / "scripts" / "tool", "node"], capture_output=True, text=True, timeout=600, check=False
    )
    if found.returncode:
        pytest.fail(f"sepa-js cannot be tested without Node:\n{found.stderr}", pytrace=False)
    return found.stdout.strip()


def npm(node: str) -> list[str]:
    """The command that is npm: of the same Node, or whichever there is."""
    beside = Path(node).resolve().parents[1] / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    if beside.exists():
        return [node, str(beside)]
    if installed := shutil.which("npm"):
        return [installed]
    pytest.fail(f"sepa-js cannot be installed: there is no npm, neither beside {node} nor on the PATH", pytrace=False)


def install(node: str) -> Path:
    """The folder of the modules that package.json names, installed unless that has been done."""
    wanted = (HERE / "package.json").read_text()
    stamp = MODULES / "installed.json"
    MODULES.mkdir(parents=True, exist_ok=True)
    with (MODULES / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not stamp.exists() or stamp.read_text() != wanted:
            (MODULES / "package.json").write_text(wanted)
            options = ["--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]
            done = subprocess.run(
                [*npm(node), "install", *options],
                cwd=MODULES, capture_output=True, text=True, timeout=600, check=False,
            )  # fmt: skip
            if done.returncode:
                pytest.fail(
                    f"npm could not install what tests/clients/package.json names:\n{done.stderr}", pytrace=False
                )
            stamp.write_text(wanted)
    return MODULES / "node_modules"


# -- the client -------------------------------------------------------------------------------------------------


class Refused(Exception):
    """A call that sepa-js rejected, with what the broker had answered."""

    def __init__(self, message: str, status: int | None = None, body: Any = None) -> None:
        super().__init__(message)
        self.status = status
        self.body = body


class SepaJs:
    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self._ids = count()
        self._said: SimpleQueue[dict[str, Any]] = SimpleQueue()
        self._events: dict[str, deque[tuple[str, Any]]] = {}
        self._ear = threading.Thread(target=self._listen, daemon=True)
        self._ear.start()

    def call(self, name: str, *arguments: object) -> Any:
        """What sepa-js answers; events that come first are kept."""
        assert self.process.stdin is not None
        call = next(self._ids)
        self.process.stdin.write(json.dumps({"id": call, "name": name, "arguments": arguments}) + "\n")
        self.process.stdin.flush()
        while (message := self._next()).get("id") != call:
            self._keep(message)
        if "refusal" in message:
            raise Refused(**message["refusal"])
        return message["answer"]

    def hear(self, alias: str, event: str) -> Any:
        """The next event of that name; those of other names before it are skipped."""
        while True:
            events = self._events.setdefault(alias, deque())
            while events:
                name, body = events.popleft()
                if name == event:
                    return body
            self._keep(self._next())

    def unheard(self, alias: str) -> list[str]:
        """The names of the events that came and that nobody has asked for."""
        return [name for name, _ in self._events.get(alias, ())]

    def end(self) -> None:
        self.process.kill()
        self._ear.join(PATIENCE)

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._said.put(json.loads(line))

    def _next(self) -> dict[str, Any]:
        try:
            return self._said.get(timeout=PATIENCE)
        except Empty:
            raise AssertionError(f"sepa-js says nothing (exit code {self.process.poll()})") from None

    def _keep(self, message: dict[str, Any]) -> None:
        self._events.setdefault(message["alias"], deque()).append((message["event"], message.get("body")))


@contextmanager
def running(node: str, modules: Path, profile: dict[str, Any], ca: Path | None = None) -> Iterator[SepaJs]:
    """`ca` are authorities that Node trusts besides its own."""
    command = [node, str(HERE / "sepa_driver.cjs"), json.dumps(profile)]
    environment = os.environ | {"NODE_PATH": str(modules)} | ({} if ca is None else {"NODE_EXTRA_CA_CERTS": str(ca)})
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        client = SepaJs(process)
        try:
            yield client
        finally:
            client.end()
