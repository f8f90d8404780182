"""Virtuoso 7, the store that SEPA is usually run on: from the PATH, or from Debian's packages without root's help.

Virtuoso has no default graph to write to, and asks all of them, its own as well: requests name one. The anonymous
user may write once it was granted SPARQL_UPDATE, which only a client of its SQL port can do.
"""

import asyncio
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from tidings.bench.targets import Target, endpoint
from tidings.bench.targets.errors import TargetFailed
from tidings.bench.targets.settings import Count, Seconds
from tidings.bench.targets.started.managed import Launch, Managed, Places

GRAPH = "urn:tidings:bench"
PACKAGES = ("virtuoso-opensource-7-bin", "libpcre3")
"""The server with its SQL client, and the one library that is often missing."""

_INI = """\
[Database]
DatabaseFile = {folder}/virtuoso.db
ErrorLogFile = {folder}/virtuoso.log
LockFile = {folder}/virtuoso.lck
TransactionFile = {folder}/virtuoso.trx
xa_persistent_file = {folder}/virtuoso.pxa
ErrorLogLevel = 7
FileExtend = 200
[TempDatabase]
DatabaseFile = {folder}/virtuoso-temp.db
TransactionFile = {folder}/virtuoso-temp.trx
[Parameters]
ServerPort = 127.0.0.1:{sql_port}
DisableUnixSocket = 1
MaxClientConnections = 200
CheckpointInterval = 60
NumberOfBuffers = {buffers}
MaxDirtyBuffers = {dirty}
[HTTPServer]
ServerPort = 127.0.0.1:{http_port}
ServerRoot = {folder}
ServerThreads = 200
MaxClientConnections = 200
MaxKeepAlives = 200
KeepAliveTimeout = 60
"""
_SPARQL = f"""\
[SPARQL]
DefaultGraph = {GRAPH}
ResultSetMaxRows = 10000000
"""
GRANT = 'grant SPARQL_UPDATE to "SPARQL"'
"""For a client of the SQL port: from then on, anybody may write."""


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    binary: str | None = None
    """Of `virtuoso-t`; `isql-vt` or `isql` stands beside it. By default from the PATH, else from the cache."""
    cache: str | None = None
    """A folder to unpack Debian's packages in; by default below the user's cache."""
    fetch: bool = True
    """Whether they may be fetched."""
    buffers: Count = 100_000
    """Of 8 KB each."""
    triples_per_request: Count = 20_000
    """It takes no request of more than 10 MB."""
    poll_ms: Annotated[float, Meta(gt=0)] = 100.0
    log: str | None = None
    timeout: Seconds = 120.0
    start_timeout: Seconds = 120.0


@dataclass(frozen=True, slots=True)
class Installation:
    server: str
    client: str
    libraries: str = ""
    """A folder with those that the system lacks."""


def configuration(folder: Path | str, http_port: int | str, sql_port: int | str, buffers: int) -> str:
    """Of a server that has its data in a folder, and its ports on this machine."""
    return _INI.format(folder=folder, http_port=http_port, sql_port=sql_port, buffers=buffers, dirty=buffers * 3 // 4)


def make(name: str, settings: Settings) -> Managed:
    found: list[Installation] = []

    async def prepare(places: Places) -> None:
        found[:] = [await installation(settings)]
        folder = Path(places["folder"])
        ini = configuration(folder, places["http_port"], places["ws_port"], settings.buffers)
        (folder / "virtuoso.ini").write_text(ini + _SPARQL)
        (folder / "virtuoso-t").symlink_to(found[0].server)
        (folder / "lib").symlink_to(found[0].libraries or folder)

    async def finish(places: Places) -> None:
        client = (found[0].client, f"127.0.0.1:{places['ws_port']}", "dba", "dba", f"exec={GRANT}")
        said = await _run(client, Path(places["folder"]), _libraries(places["folder"]))
        if "Error" in said:
            raise TargetFailed("Virtuoso would not let the anonymous user write", said)

    launch = Launch(
        ("{folder}/virtuoso-t", "+foreground", "+configfile", "{folder}/virtuoso.ini"),
        environment=_libraries("{folder}"),
        greeting=r"Server online at",
        start_timeout=settings.start_timeout,
        log=None if settings.log is None else Path(settings.log).absolute(),
        prepare=prepare,
        finish=finish,
    )

    def build(places: Places) -> Target:
        return endpoint.make(
            name,
            endpoint.Settings(
                query=f"http://127.0.0.1:{places['http_port']}/sparql",
                poll_ms=settings.poll_ms,
                form=True,  # it does not take bare queries
                query_parameters={"default-graph-uri": GRAPH},
                update_parameters={"using-graph-uri": GRAPH},
                triples_per_request=settings.triples_per_request,
                clear=[f"CLEAR GRAPH <{GRAPH}>"],
                timeout=settings.timeout,
            ),
        )

    return Managed(name, "virtuoso", launch, build)


def _libraries(folder: str) -> dict[str, str]:
    """Where libraries are looked for: in the folder of the target before the usual places."""
    return {"LD_LIBRARY_PATH": os.pathsep.join(filter(None, (f"{folder}/lib", os.environ.get("LD_LIBRARY_PATH"))))}


async def installation(settings: Settings) -> Installation:
    """Where Virtuoso is. Raises TargetFailed, with what to do about it."""
    server = settings.binary or shutil.which("virtuoso-t")
    if server is not None:
        return _beside(Path(server))
    cache = Path(settings.cache or _default_cache()).absolute()
    if not (unpacked := cache / "usr/bin/virtuoso-t").exists():
        if not settings.fetch:
            raise TargetFailed("there is no virtuoso-t on the PATH, and the setting fetch forbids to fetch it")
        await _fetch(cache)
    libraries = next((str(path.parent) for path in cache.rglob("libpcre.so.3")), "")
    return Installation(str(unpacked), str(cache / "usr/bin/isql-vt"), libraries)


def _beside(server: Path) -> Installation:
    if not server.exists():
        raise TargetFailed(f"there is no {server}")
    for name in ("isql-vt", "isql"):
        if (client := server.parent / name).exists():
            return Installation(str(server.absolute()), str(client.absolute()))
    raise TargetFailed(f"there is neither isql-vt nor isql beside {server}: it is needed to allow updates")


def _default_cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tidings/virtuoso"


async def _fetch(cache: Path) -> None:
    """Unpack Debian's packages, whole or not at all."""
    missing = [tool for tool in ("apt-get", "dpkg") if shutil.which(tool) is None]
    if missing:
        hint = "install Virtuoso 7, or say with the setting binary where it is"
        raise TargetFailed(
            f"there is no virtuoso-t on the PATH, and without {' and '.join(missing)} none to fetch: {hint}"
        )
    cache.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache.parent) as place:
        folder = Path(place)
        said = await _run(("apt-get", "download", *PACKAGES), folder, {})
        for package in folder.glob("*.deb"):
            said += await _run(("dpkg", "-x", str(package), str(folder / "root")), folder, {})
        if not (folder / "root/usr/bin/virtuoso-t").exists():
            raise TargetFailed("Virtuoso is not on the PATH, and its packages cannot be fetched", said[-2000:])
        shutil.rmtree(cache, ignore_errors=True)
        (folder / "root").rename(cache)


async def _run(command: tuple[str, ...], folder: Path, environment: dict[str, str]) -> str:
    """What a command says, whatever becomes of it."""
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=folder,
        env={**os.environ, **environment},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        async with asyncio.timeout(120):
            said, _ = await process.communicate()
    except TimeoutError as error:
        process.kill()
        await process.wait()
        raise TargetFailed(f"{command[0]} takes too long") from error
    return said.decode(errors="replace")
