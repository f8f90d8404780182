"""A target that the suite starts and stops itself: a command, and the target that it serves.

Command, environment and the target's settings may have the placeholders {http_port} and {ws_port} (free ports),
{folder} (a folder of its own), and those of the named groups of `greeting`, which match the output of the command:
with `{"greeting": "http://127.0.0.1:(?P<http_port>\\d+)"}`, the command chooses its port itself.
"""

import asyncio
import re
import shutil
import socket
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from tidings.bench.targets import Arrival, Description, Listening, Offers, Target
from tidings.bench.targets.errors import TargetFailed, UnreachableTarget
from tidings.bench.targets.started.process import Process
from tidings.bench.targets.wire.rows import Row
from tidings.client.errors import CannotConnect, ConnectionLost, NoAnswer, Refused
from tidings.client.http import AsyncHttpClient
from tidings.model.terms import Triple

Places: TypeAlias = Mapping[str, str]
Around: TypeAlias = Callable[[], AbstractAsyncContextManager[Places]]
_PLACE = re.compile(r"\{(\w+)\}")
_NOTICE_SECONDS = 1.0
"""Seconds to wait for the end of a process after its connection has broken."""
_GREETING_SECONDS = 0.02


async def _nothing(_: Places) -> None: ...


@asynccontextmanager
async def alone() -> AsyncIterator[Places]:
    yield {}


@dataclass(frozen=True, slots=True)
class Launch:
    """How to start a target, how to find out that it is ready, and how to stop it."""

    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    health: str | None = None
    """A URL that returns success once the target is ready."""
    greeting: str | None = None
    """A regular expression for its output once it is ready."""
    start_timeout: float = 60.0
    stop_timeout: float = 15.0
    log: Path | None = None
    """The file for its output; by default in its folder, which is removed when the target is closed."""
    folder: Path | None = None
    """Its folder; by default a temporary one."""
    prepare: Callable[[Places], Awaitable[None]] = _nothing
    """Called before the command starts."""
    around: Around = alone
    """A context that is open while the command runs, and fills more placeholders."""
    finish: Callable[[Places], Awaitable[None]] = _nothing
    """Called once the target is ready."""


def filled(value: Any, places: Places) -> Any:
    """A text, or a structure of texts, with its placeholders filled. Unknown placeholders stay as they are."""
    match value:
        case str():
            return _PLACE.sub(lambda found: places.get(found[1], found[0]), value)
        case list() | tuple():
            return type(value)(filled(each, places) for each in value)
        case dict():
            return {key: filled(each, places) for key, each in value.items()}
        case _:
            return value


class Managed:
    """A target that the suite starts and stops. `build` makes the inner target, once its ports are known."""

    def __init__(self, name: str, kind: str, launch: Launch, build: Callable[[Places], Target]) -> None:
        self._name = name
        self._launch = launch
        self._build = build
        self._process: Process | None = None
        self._temporary: Path | None = None
        self._around = AsyncExitStack()
        self._target = build({"http_port": "1", "ws_port": "1", "folder": "."})  # only for `offers`; never opened
        self._description = Description(name, kind, "", details={"command": " ".join(launch.command)})

    @property
    def offers(self) -> Offers:
        return self._target.offers

    @property
    def description(self) -> Description:
        return self._description

    # -- starting and stopping ----------------------------------------------------------------------------------

    async def open(self) -> None:
        try:
            await self._start()
        except BaseException:
            await self.close()
            raise

    async def _start(self) -> None:
        launch, folder = self._launch, self._folder()
        http_port, ws_port = _free_ports(2)
        places = {"http_port": str(http_port), "ws_port": str(ws_port), "folder": str(folder)}
        log = launch.log or folder / "output.log"
        await launch.prepare(places)
        places |= await self._around.enter_async_context(launch.around())
        command, environment = filled(launch.command, places), filled(dict(launch.environment), places)
        self._process = process = Process(self._name, command, environment, folder, log)
        self._description.details |= {"command": " ".join(command), "log": str(log), "pid": process.pid}
        try:
            async with asyncio.timeout(launch.start_timeout):
                places |= await _ready(launch, process, places)
                await launch.finish(places)
        except TimeoutError as error:
            message = f"{self._name} was not ready within {launch.start_timeout:g} s"
            raise TargetFailed(message, process.tail()) from error
        self._target = self._build(places)
        async with self._watched():
            await self._target.open()
        told = self._target.description
        self._description.address, self._description.version = told.address, told.version
        self._description.details = told.details | self._description.details

    def _folder(self) -> Path:
        if self._launch.folder is not None:
            self._launch.folder.mkdir(parents=True, exist_ok=True)
            return self._launch.folder.absolute()
        self._temporary = Path(tempfile.mkdtemp(prefix="tidings-bench-"))
        return self._temporary

    async def close(self) -> None:
        process, self._process = self._process, None
        temporary, self._temporary = self._temporary, None
        try:
            if process is not None:
                await self._target.close()
        finally:
            if process is not None:
                await process.stop(self._launch.stop_timeout)
            await self._around.aclose()
            if temporary is not None:
                shutil.rmtree(temporary, ignore_errors=True)

    @asynccontextmanager
    async def _watched(self) -> AsyncIterator[None]:
        """If an error occurs because the process has ended, raise TargetFailed with the tail of its log instead."""
        process = self._process
        if process is None:
            raise TargetFailed(f"{self._name} was asked before it was opened, or after it was closed")
        try:
            yield
        except (UnreachableTarget, TargetFailed) as error:
            if await process.wait(_NOTICE_SECONDS):
                try:
                    process.check()
                except TargetFailed as ended:
                    raise ended from error
            raise

    # -- requests -----------------------------------------------------------------------------------------------

    async def clear(self) -> None:
        async with self._watched():
            await self._target.clear()

    async def insert(self, triples: Iterable[Triple]) -> None:
        async with self._watched():
            await self._target.insert(triples)

    async def update(self, text: str) -> None:
        async with self._watched():
            await self._target.update(text)

    async def query(self, text: str) -> list[Row]:
        async with self._watched():
            return await self._target.query(text)

    async def subscribe(self, text: str) -> Listening:
        async with self._watched():
            return _Watched(await self._target.subscribe(text), self._watched)

    async def components(self) -> dict[str, float]:
        async with self._watched():
            return await self._target.components()

    async def memory(self) -> int | None:
        """Resident bytes of the process and of all its children."""
        return None if self._process is None else self._process.memory()


class _Watched:
    """A subscription that raises TargetFailed if the process has ended."""

    def __init__(self, inner: Listening, watched: Callable[[], Any]) -> None:
        self._inner = inner
        self._notifications = aiter(inner)
        self._watched = watched

    def __aiter__(self) -> "_Watched":
        return self

    async def __anext__(self) -> Arrival:
        async with self._watched():
            return await anext(self._notifications)

    async def end(self) -> None:
        await self._inner.end()


async def _ready(launch: Launch, process: Process, places: Places) -> dict[str, str]:
    """Wait for the greeting, then for the health check; the placeholders from the groups of the greeting."""
    found: dict[str, str] = {}
    if launch.greeting is not None:
        while (match := re.search(launch.greeting, process.said())) is None:
            process.check()
            await asyncio.sleep(_GREETING_SECONDS)
        found = {name: text for name, text in match.groupdict().items() if text is not None}
    if launch.health is not None:
        address = filled(launch.health, {**places, **found})
        async with AsyncHttpClient(seconds=launch.start_timeout) as client:
            while not await _healthy(client, address):
                process.check()
                await asyncio.sleep(_GREETING_SECONDS)
    process.check()
    return found


async def _healthy(client: AsyncHttpClient, address: str) -> bool:
    try:
        await client.send("GET", address)
    except (CannotConnect, ConnectionLost, NoAnswer, Refused):
        return False
    return True


def _free_ports(number: int) -> Iterator[int]:
    """Different ports that were free a moment ago."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(number)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return iter(ports)
