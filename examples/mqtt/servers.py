"""Starts, restarts and stops the servers of the example, each in a process of its own on free ports."""

import asyncio
import json
import re
import signal
import socket
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process, create_subprocess_exec
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, TypeAlias

ROOT = Path(__file__).parents[2]
HOST = "127.0.0.1"
PROFILE = Path(__file__).with_name("mqtt.jsap")
_PATIENCE = 120.0
_INGEST_SECONDS = 600.0
_TRIES = 5

Ports: TypeAlias = tuple[int, ...]
Launch: TypeAlias = Callable[[Path, Ports], Awaitable[tuple[Process, Ports]]]
"""Starts a process in a folder, on these ports or on free ones if there are none, and returns when it listens."""


class Server:
    """A server process, as an async context manager. After a restart, it has the same ports."""

    def __init__(self, launch: Launch, folder: Path) -> None:
        self._launch = launch
        self._folder = folder
        self._process: Process | None = None
        self.ports: Ports = ()

    @property
    def port(self) -> int:
        """The port of mosquitto, or the HTTP port of a broker; its port for WebSockets is the next one in `ports`."""
        return self.ports[0]

    async def start(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        self._process, self.ports = await self._launch(self._folder, self.ports)

    async def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        process, self._process = self._process, None
        if process is not None:
            await _end(process, how)

    async def restart(self, how: signal.Signals = signal.SIGTERM, *, away: float = 0.0) -> None:
        await self.stop(how)
        await asyncio.sleep(away)
        await self.start()

    async def __aenter__(self) -> "Server":
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()


@asynccontextmanager
async def serving(folder: Path) -> AsyncIterator[tuple[Server, Server, Server]]:
    """The MQTT broker, the broker of the monitor, and the big store."""
    async with (
        Server(mosquitto, folder / "mqtt") as mqtt,
        Server(tidings, folder / "monitor") as monitor,
        Server(tidings, folder / "store") as store,
    ):
        yield mqtt, monitor, store


def profile_for(mqtt: Server, monitor: Server, store: Server) -> dict[str, Any]:
    """The profile, with the addresses of the servers that are running."""
    profile: dict[str, Any] = json.loads(PROFILE.read_text())
    profile["host"] = HOST
    profile["sparql11protocol"]["port"] = monitor.port
    profile["sparql11seprotocol"]["availableProtocols"]["ws"]["port"] = monitor.ports[1]
    profile["updates"]["STORE_OBSERVATION"]["sparql11protocol"]["port"] = store.port
    profile["extended"]["mqtt"] |= {"host": HOST, "port": mqtt.port}
    return profile


async def ingest(store: Server, lake: Path) -> str:
    """Ingest the log of a store into a lake. Returns the last line of output. Raises RuntimeError, TimeoutError."""
    command = ("-m", "tidings", "history", "ingest", "--log", f"http://{HOST}:{store.port}", "--lake", str(lake))
    process = await create_subprocess_exec(sys.executable, *command, stdout=DEVNULL, stderr=PIPE)
    try:
        async with asyncio.timeout(_INGEST_SECONDS):
            _, said = await process.communicate()
    finally:
        await _end(process, signal.SIGTERM)
    if process.returncode:
        raise RuntimeError(said.decode().strip())
    return said.decode().splitlines()[-1]


# -- launching --------------------------------------------------------------------------------------------------


async def tidings(folder: Path, ports: Ports) -> tuple[Process, Ports]:
    """Start a broker, with its data in the folder."""
    http, ws = ports or (0, 0)
    options = ("--data", "data", "--http-port", str(http), "--ws-port", str(ws))
    async with _starting(folder, sys.executable, "-m", "tidings", "serve", *options) as process:
        assert process.stdout is not None
        greeting = ""
        while line := (await process.stdout.readline()).decode():
            greeting += line
            found = [re.search(rf"{scheme}://[\w.]+:(\d+)", greeting) for scheme in ("http", "ws")]
            if all(found):
                return process, tuple(int(match[1]) for match in found if match)
        raise RuntimeError(f"the broker did not start; {folder / 'stderr'} says why")


async def mosquitto(folder: Path, ports: Ports) -> tuple[Process, Ports]:
    """Start an MQTT broker. It cannot choose a port itself, and a free port may be taken before it starts: then this
    tries another one."""
    program = await _program("mosquitto")
    for _ in range(_TRIES):
        (port,) = ports or (_free_port(),)
        settings = folder / "mosquitto.conf"
        settings.write_text(
            f"listener {port} {HOST}\nallow_anonymous true\npersistence false\nset_tcp_nodelay true\nlog_dest stderr\n"
        )
        said = folder / "stderr"
        said.unlink(missing_ok=True)
        async with _starting(folder, program, "-c", str(settings)) as process:
            while process.returncode is None:
                if re.search(r"mosquitto version \S+ running", said.read_text()):
                    return process, (port,)
                await asyncio.sleep(0.02)
    raise RuntimeError(f"mosquitto did not start; {said} says why")


@asynccontextmanager
async def _starting(folder: Path, *command: str) -> AsyncIterator[Process]:
    """Start a process, which has to be ready within this context and a time limit; otherwise it is killed."""
    with (folder / "stderr").open("ab") as complaints:
        process = await create_subprocess_exec(*command, cwd=folder, stdout=PIPE, stderr=complaints)
    try:
        async with asyncio.timeout(_PATIENCE):
            yield process
    except BaseException:
        await _end(process, signal.SIGKILL)
        raise


async def _end(process: Process, how: signal.Signals) -> None:
    if process.returncode is None:
        process.send_signal(how)
    try:
        await asyncio.wait_for(process.communicate(), _PATIENCE)
    except TimeoutError:
        process.kill()
        await process.communicate()


async def _program(name: str) -> str:
    """The path of a program. The first call may install it from a package repository."""
    tool = await create_subprocess_exec(ROOT / "scripts" / "tool", name, stdout=PIPE)
    out, _ = await tool.communicate()
    if tool.returncode:
        raise RuntimeError(f"there is no {name}")
    return out.decode().strip()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port
