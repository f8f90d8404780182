"""From a configuration to a target: `make("mine", {"kind": "tidings_ws", "url": "ws://localhost:9000/subscribe"})`.

| kind | what it is | its settings |
|---|---|---|
| `tidings_ws` `tidings_http` `tidings_sse` | a Tidings broker that runs | in the module of that name |
| `sepa` | any SEPA broker that runs | `sepa.py` |
| `endpoint` | any SPARQL 1.1 endpoint that runs | `endpoint.py` |
| `managed` | one of the above, started by a command | here |
| `tidings` `tidings-naive` `oxigraph` | started by the suite | `peers.py` |
| `tidings-mirror` `tidings-context` | the same, in front of an Oxigraph | `peers.py` |
| `virtuoso` | the same, fetched if need be | `virtuoso.py` |
"""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from tidings.bench.targets import Target, endpoint, sepa, tidings_http, tidings_sse, tidings_ws
from tidings.bench.targets.errors import BadTarget
from tidings.bench.targets.settings import HttpUrl, Seconds, Words, read
from tidings.bench.targets.started import peers, virtuoso
from tidings.bench.targets.started.managed import Launch, Managed, Places, filled
from tidings.client.jsap.mistakes import shown
from tidings.model.likeness import nearest

S = TypeVar("S", bound=msgspec.Struct)
Maker = Callable[[str, Mapping[str, Any], str], Target]

_SAMPLE = {"http_port": "1", "ws_port": "1", "folder": "."}


class ManagedSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of the kind `managed`. Texts may have placeholders; see `managed.py`."""

    command: Words
    target: dict[str, Any]
    """The settings of the target that the command starts."""
    environment: dict[str, str] = {}
    health: HttpUrl | None = None
    greeting: str | None = None
    start_timeout: Seconds = 60.0
    stop_timeout: Seconds = 15.0
    log: str | None = None
    folder: str | None = None


def make(name: str, settings: Mapping[str, Any], under: str = "") -> Target:
    """The target of a configuration, which the caller has to open. Raises BadTarget, with every mistake and its key."""
    given = dict(settings)
    kind = given.pop("kind", None)
    if kind is None:
        raise BadTarget(name, [f"{under}kind: is needed; there are {', '.join(KINDS)}"])
    maker = KINDS.get(kind) if isinstance(kind, str) else None
    if maker is None:
        meant = nearest(kind, KINDS) if isinstance(kind, str) else None
        hint = f"did you mean {meant}?" if meant else f"there are {', '.join(KINDS)}"
        raise BadTarget(name, [f"{under}kind: there is no {shown(kind)}; {hint}"])
    return maker(name, given, under)


def _of(settings: type[S], build: Callable[[str, S], Target]) -> Maker:
    return lambda name, given, under: build(name, read(settings, name, given, under))


def _managed(name: str, given: Mapping[str, Any], under: str) -> Managed:
    settings = read(ManagedSettings, name, given, under)
    mistakes = _greeting_mistakes(settings, under)
    if settings.target.get("kind") in STARTED:
        mistakes.append(f"{under}target.kind: a target that the suite starts cannot be started by a command")
    if mistakes:
        raise BadTarget(name, mistakes)
    launch = Launch(
        tuple(settings.command),
        environment=settings.environment,
        health=settings.health,
        greeting=settings.greeting,
        start_timeout=settings.start_timeout,
        stop_timeout=settings.stop_timeout,
        log=None if settings.log is None else Path(settings.log).absolute(),
        folder=None if settings.folder is None else Path(settings.folder),
    )

    def build(places: Places) -> Target:
        return make(name, filled(settings.target, {**_SAMPLE, **places}), f"{under}target.")

    return Managed(name, "managed", launch, build)


def _greeting_mistakes(settings: ManagedSettings, under: str) -> list[str]:
    if settings.health is None and settings.greeting is None:
        return [f"{under}health: is needed, or a greeting, to know when it is ready"]
    try:
        re.compile(settings.greeting or "")
    except re.error as error:
        return [f"{under}greeting: is no regular expression: {error}"]
    return []


KINDS: dict[str, Maker] = {
    "tidings_ws": _of(tidings_ws.Settings, tidings_ws.make),
    "tidings_http": _of(tidings_http.Settings, tidings_http.make),
    "tidings_sse": _of(tidings_sse.Settings, tidings_sse.make),
    "sepa": _of(sepa.Settings, sepa.make),
    "endpoint": _of(endpoint.Settings, endpoint.make),
    "managed": _managed,
    "tidings": _of(peers.TidingsSettings, peers.tidings),
    "tidings-naive": _of(peers.TidingsSettings, peers.tidings_naive),
    "tidings-mirror": _of(peers.TidingsSettings, peers.tidings_mirror),
    "tidings-context": _of(peers.TidingsSettings, peers.tidings_context),
    "oxigraph": _of(peers.OxigraphSettings, peers.oxigraph),
    "virtuoso": _of(virtuoso.Settings, virtuoso.make),
}
STARTED = frozenset(
    {"managed", "tidings", "tidings-naive", "tidings-mirror", "tidings-context", "oxigraph", "virtuoso"}
)
