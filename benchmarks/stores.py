"""SPARQL servers for benchmarks, found or installed by `scripts/tool`, each on free ports in a folder of its own."""

import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from measure import check
from tidings.bench.targets.started.virtuoso import GRANT, configuration

_ROOT = Path(__file__).parents[1]
_PATIENCE = 120.0
_BUFFERS = 100_000
"""Pages of 8 KB that Virtuoso keeps in memory, enough for the whole city."""


@dataclass(frozen=True)
class Place:
    """The addresses of a store, with parameters for updates (`parameters`) and queries (`asked`) that select a graph in
    place of the default graph."""

    query: str
    update: str
    parameters: dict[str, str] = field(default_factory=dict)
    asked: dict[str, str] = field(default_factory=dict)


def in_graph(query: str, update: str, graph: str) -> Place:
    """A store in which one graph is used in place of the default graph."""
    return Place(query, update, {"using-graph-uri": graph}, {"default-graph-uri": graph})


@contextmanager
def oxigraph(folder: str) -> Iterator[Place]:
    place = f"127.0.0.1:{_free_port()}"
    command = [_tool("oxigraph"), "serve", "--location", f"{folder}/store", "--bind", place]
    with _running(command, folder, f"http://{place}/query"):
        yield Place(f"http://{place}/query", f"http://{place}/update")


@contextmanager
def fuseki(folder: str) -> Iterator[Place]:
    """Fuseki with TDB2 on disk."""
    port = _free_port()
    (Path(folder) / "store").mkdir()
    command = [_tool("java"), "-Xmx2g", "-jar", _tool("fuseki"), "--localhost", f"--port={port}", "--tdb2",
               f"--loc={folder}/store", "--update", "/ds"]  # fmt: skip
    base = f"http://127.0.0.1:{port}/ds"
    with _running(command, folder, f"{base}/query"):
        yield Place(f"{base}/query", f"{base}/update")


@contextmanager
def virtuoso(folder: str) -> Iterator[Place]:
    http_port, sql_port = _free_port(), _free_port()
    ini = Path(folder) / "virtuoso.ini"
    ini.write_text(configuration(folder, http_port, sql_port, _BUFFERS))
    address = f"http://127.0.0.1:{http_port}/sparql"
    with _running([_tool("virtuoso-t"), "+foreground", "+configfile", str(ini)], folder, address):
        grant = [_tool("isql-vt"), f"127.0.0.1:{sql_port}", "dba", "dba", f"exec={GRANT}"]
        subprocess.run(grant, cwd=folder, check=True, capture_output=True, timeout=_PATIENCE)
        yield in_graph(address, address, "urn:tidings:default")


STORES: dict[str, Callable[[str], AbstractContextManager[Place]]] = {
    "oxigraph": oxigraph, "fuseki": fuseki, "virtuoso": virtuoso
}  # fmt: skip


def _tool(name: str) -> str:
    if name == "java" and (found := shutil.which(name)):
        return found
    command = [str(_ROOT / "scripts/tool"), name]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def _free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port: int = listening.getsockname()[1]
        return port


@contextmanager
def _running(command: list[str], folder: str, query: str) -> Iterator[None]:
    """Run a server within this context. Waits until it answers, and at the end, until it has stopped."""
    with (
        (Path(folder) / "store.log").open("wb") as log,
        subprocess.Popen(command, cwd=folder, stdout=log, stderr=log, stdin=subprocess.DEVNULL) as process,
    ):
        try:
            deadline = time.monotonic() + _PATIENCE
            while not _answers(query):
                check(process.poll() is None, "the store runs")
                check(time.monotonic() < deadline, "the store answers")
                time.sleep(0.05)
            yield
        finally:
            process.terminate()


def _answers(url: str) -> bool:
    try:
        return httpx.post(url, data={"query": "ASK {}"}).is_success
    except httpx.TransportError:
        return False
