"""Real SPARQL servers to test with, each as `scripts/tool` finds or gets it: Oxigraph, Apache Jena Fuseki, Virtuoso.

with oxigraph(folder) as server:        # listens on a free port of this machine
    server.kill(); server.start()       # and keeps what it has in its folder
"""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import httpx
import pytest

from plain import calls
from ports import free_port
from tidings.bench.targets.started.virtuoso import GRANT, configuration
from waiting import PATIENCE

ROOT = Path(__file__).parents[2]
_ASK = "ASK {}"


@cache
def tool(name: str) -> str:
    """A program, as `scripts/tool` finds or gets it. Without it the tests fail: a store not tested is not supported."""
    found = subprocess.run([ROOT / "scripts" / "tool", name], capture_output=True, text=True, timeout=900, check=False)
    if found.returncode:
        pytest.fail(f"endpoints cannot be tested without {name}:\n{found.stderr}", pytrace=False)
    return found.stdout.strip()


@dataclass
class Server:
    """A server of its own process, at an address that stays when it is started again."""

    dialect: str
    command: tuple[str, ...]
    query: str
    update: str
    log: Path
    after: Callable[[], None] = lambda: None
    """What is to be done once it answers for the first time."""
    default_graph: str | None = None
    process: "subprocess.Popen[bytes] | None" = field(default=None, init=False)

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.command, cwd=self.log.parent, stdout=log, stderr=log, stdin=subprocess.DEVNULL
            )
        deadline = time.monotonic() + PATIENCE
        while not self.answers():
            assert self.process.poll() is None, self.log.read_text()
            assert time.monotonic() < deadline, self.log.read_text()
            time.sleep(0.05)
        after, self.after = self.after, lambda: None
        after()

    def answers(self) -> bool:
        try:
            return calls.post(self.query, data={"query": _ASK}, timeout=5).is_success
        except httpx.TransportError:
            return False

    def kill(self) -> None:
        """As a power failure would."""
        self.stop(signal.SIGKILL)

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        if self.process is not None:
            self.process.send_signal(how)
            self.process.wait(PATIENCE)
            self.process = None

    def told(self, text: str) -> None:
        """An update behind the back of whoever is in front of it."""
        calls.post(self.update, data={"update": text}, timeout=PATIENCE).raise_for_status()

    def rows(self, text: str) -> list[dict[str, dict[str, str]]]:
        answer = calls.post(
            self.query, data={"query": text}, headers={"accept": "application/sparql-results+json"}, timeout=PATIENCE
        )
        answer.raise_for_status()
        rows: list[dict[str, dict[str, str]]] = answer.json()["results"]["bindings"]
        return rows


@contextmanager
def _running(server: Server) -> Iterator[Server]:
    try:
        server.start()
        yield server
    finally:
        server.stop(signal.SIGKILL)


@contextmanager
def oxigraph(folder: Path) -> Iterator[Server]:
    place = f"127.0.0.1:{free_port()}"
    command = (tool("oxigraph"), "serve", "--location", str(folder / "oxigraph"), "--bind", place)
    query, update = f"http://{place}/query", f"http://{place}/update"
    with _running(Server("oxigraph", command, query, update, folder / "oxigraph.log")) as server:
        yield server


@contextmanager
def fuseki(folder: Path) -> Iterator[Server]:
    port = free_port()
    (folder / "tdb").mkdir()
    command = (
        tool("java"), "-Xmx512m", "-XX:TieredStopAtLevel=1", "-jar", tool("fuseki"), "--localhost", f"--port={port}",
        "--tdb2",
        f"--loc={folder / 'tdb'}", "--update", "/ds",
    )  # fmt: skip
    base = f"http://127.0.0.1:{port}/ds"
    with _running(Server("fuseki", command, f"{base}/query", f"{base}/update", folder / "fuseki.log")) as server:
        yield server


@contextmanager
def virtuoso(folder: Path, most_rows: int | None = None) -> Iterator[Server]:
    """With the limit of rows that those who run it in public set, if there is to be one."""
    http_port, sql_port = free_port(), free_port()
    ini = folder / "virtuoso.ini"
    limit = "" if most_rows is None else f"[SPARQL]\nResultSetMaxRows = {most_rows}\n"
    ini.write_text(configuration(folder, http_port, sql_port, 10_000) + limit)
    command = (tool("virtuoso-t"), "+foreground", "+configfile", str(ini))

    def let_anybody_write() -> None:
        subprocess.run(
            [tool("isql-vt"), f"127.0.0.1:{sql_port}", "dba", "dba", f"exec={GRANT}"],
            cwd=folder, env={**os.environ}, check=True, capture_output=True, timeout=PATIENCE,
        )  # fmt: skip

    address = f"http://127.0.0.1:{http_port}/sparql"
    server = Server(
        "virtuoso",
        command,
        address,
        address,
        folder / "virtuoso.out",
        let_anybody_write,
        default_graph="urn:tidings:default",
    )
    with _running(server):
        yield server
