"""Targets that need no settings: Tidings, Tidings with full re-evaluation, Oxigraph, and Tidings in front of
Oxigraph."""

import shutil
import sys
import sysconfig
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from tidings.bench.targets import Target, endpoint, tidings_http, tidings_sse, tidings_ws
from tidings.bench.targets.settings import Count, Seconds
from tidings.bench.targets.started.managed import Around, Launch, Managed, Places, alone
from tidings.extras import extra_missing

_SERVE = (sys.executable, "-m", "tidings", "serve", "--host", "127.0.0.1", "--http-port", "0", "--ws-port", "0")
_GREETING = r"http://127\.0\.0\.1:(?P<http_port>\d+)[\s\S]*ws://127\.0\.0\.1:(?P<ws_port>\d+)/subscribe"


class TidingsSettings(msgspec.Struct, frozen=True, kw_only=True):
    transport: Literal["ws", "http", "sse"] = "ws"
    storage: Literal["memory", "disk"] = "memory"
    arguments: list[str] = []
    """Further arguments for `tidings serve`."""
    subscribers_per_connection: Count = 100
    log: str | None = None
    timeout: Seconds = 120.0
    start_timeout: Seconds = 60.0


def tidings(name: str, settings: TidingsSettings) -> Managed:
    return _tidings(name, "tidings", settings)


def tidings_naive(name: str, settings: TidingsSettings) -> Managed:
    return _tidings(name, "tidings-naive", settings, "--naive")


def tidings_mirror(name: str, settings: TidingsSettings) -> Managed:
    return _in_front(name, "mirror", settings)


def tidings_context(name: str, settings: TidingsSettings) -> Managed:
    return _in_front(name, "context", settings)


def _in_front(name: str, mode: str, settings: TidingsSettings) -> Managed:
    """Tidings in front of an Oxigraph, which starts first, and whose memory does not count."""
    flags = ("--endpoint", "{query}", "--update-url", "{update}", "--mode", mode)
    around = partial(_store, name, settings)
    return _tidings(name, f"tidings-{mode}", settings, *flags, around=around)


@asynccontextmanager
async def _store(name: str, settings: TidingsSettings) -> AsyncIterator[Places]:
    store = oxigraph(
        f"the store of {name}",
        OxigraphSettings(storage=settings.storage, timeout=settings.timeout, start_timeout=settings.start_timeout),
    )
    await store.open()
    try:
        query = store.description.address
        yield {"query": query, "update": f"{query.removesuffix('/query')}/update"}
    finally:
        await store.close()


def _tidings(name: str, kind: str, settings: TidingsSettings, *flags: str, around: Around | None = None) -> Managed:
    storage = ("--memory",) if settings.storage == "memory" else ("--data", "{folder}/data")
    launch = Launch(
        # Some requests insert a whole city, and re-evaluating a thousand subscriptions takes long.
        (*_SERVE, "--max-body", "1G", "--timeout", "0", *storage, *flags, *settings.arguments),
        greeting=_GREETING,
        start_timeout=settings.start_timeout,
        log=_path(settings.log),
        around=around or alone,
    )

    def build(places: Places) -> Target:
        common: dict[str, Any] = {"url": f"http://127.0.0.1:{places['http_port']}", "timeout": settings.timeout}
        each: dict[str, Any] = {"subscribers_per_connection": settings.subscribers_per_connection}
        match settings.transport:
            case "ws":
                return tidings_ws.make(name, tidings_ws.Settings(**common, **each))
            case "http":
                return tidings_http.make(name, tidings_http.Settings(**common, **each))
            case "sse":
                return tidings_sse.make(name, tidings_sse.Settings(**common))

    managed = Managed(name, kind, launch, build)
    managed.description.details |= {"transport": settings.transport, "storage": settings.storage}
    return managed


class OxigraphSettings(msgspec.Struct, frozen=True, kw_only=True):
    binary: str | None = None
    """The path of the server; by default that of the extra `bench`, or that on the PATH."""
    storage: Literal["memory", "disk"] = "memory"
    poll_ms: Annotated[float, Meta(gt=0)] = 100.0
    log: str | None = None
    timeout: Seconds = 120.0
    start_timeout: Seconds = 60.0


def oxigraph(name: str, settings: OxigraphSettings) -> Managed:
    binary = settings.binary or oxigraph_binary()
    storage = () if settings.storage == "memory" else ("--location", "{folder}/data")

    async def prepare(_: Places) -> None:
        if binary is None:
            raise extra_missing(f"{name} needs the Oxigraph server (or say where its `binary` is)", "bench")

    launch = Launch(
        (binary or "oxigraph", "serve", "--bind", "127.0.0.1:{http_port}", *storage),
        health="http://127.0.0.1:{http_port}/query?query=ASK%7B%7D",
        start_timeout=settings.start_timeout,
        log=_path(settings.log),
        prepare=prepare,
    )

    def build(places: Places) -> Target:
        address = f"http://127.0.0.1:{places['http_port']}"
        return endpoint.make(
            name,
            endpoint.Settings(
                query=f"{address}/query",
                update=f"{address}/update",
                poll_ms=settings.poll_ms,
                timeout=settings.timeout,
            ),
        )

    return Managed(name, "oxigraph", launch, build)


def oxigraph_binary() -> str | None:
    """The server beside this Python, or on the PATH."""
    beside = Path(sysconfig.get_path("scripts")) / "oxigraph"
    return str(beside) if beside.exists() else shutil.which("oxigraph")


def _path(text: str | None) -> Path | None:
    return None if text is None else Path(text).absolute()
