"""`tidings serve`: the broker, with its settings from flags, the environment and a file."""

import os
import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from tidings.cli.input.arguments import Parser, add_settings
from tidings.cli.input.loading import Document, read
from tidings.cli.output.logs import configure
from tidings.model.terms import Quad, iri
from tidings.server import app
from tidings.server.config import ENVIRONMENT, BadSetting, Settings, read_settings
from tidings.server.demo.companion import companion
from tidings.server.demo.town import GRAPH, LIGHTS, town
from tidings.server.files import rdf_format

DESCRIPTION = f"""\
Run the broker until told to stop (Ctrl+C, SIGTERM): SPARQL 1.1 queries and updates over HTTP, subscriptions over
WebSocket. What is published is kept in a folder, and is there again at the next start.
Every setting can come from a flag, from the environment ({ENVIRONMENT}HTTP_PORT=8080) or from a TOML file
(http_port = 8080); the first of these wins."""
EXAMPLES = """\
examples:
  tidings serve
  tidings serve --memory --load city.nt
  tidings serve --data /var/lib/tidings --http-port 8080 --health-port 8081
  tidings serve --tls-certificate fullchain.pem --tls-key privkey.pem
  tidings serve --config tidings.toml --log-level info --log-format json
  TIDINGS_MAX_ROWS=10000 tidings serve --timeout 2.5
"""


def parser() -> Parser:
    result = Parser("tidings serve", DESCRIPTION, EXAMPLES)
    result.add_argument("--config", metavar="FILE", type=Path, help="TOML file with settings")
    add_settings(result)
    return result


def run(arguments: Namespace) -> int:
    settings = read_settings(vars(arguments), os.environ, arguments.config)
    if arguments.memory is not None and settings.memory and arguments.data:
        raise BadSetting("--memory and --data contradict each other")
    files = [Document(name, rdf_format(name)) for name in settings.load]
    configure(settings.log_level, settings.log_format)

    def quads() -> Iterator[Quad]:
        for document in files:
            yield from read(document, settings.base, quiet=False)
        if settings.demo and not files:
            yield from town()

    def say(text: str) -> None:
        print(f"tidings: {text}", file=sys.stderr, flush=True)

    with ExitStack() as companions:

        def announce(opened: app.Opened) -> None:
            print(greeting(opened, settings), flush=True)
            if has_demo(opened, settings) and opened.plain is not None:
                try:
                    companions.enter_context(companion(opened.plain.http, opened.plain.ws))
                except OSError as error:
                    say(f"the demo cannot be started: {error.strerror}")

        app.serve(settings, quads, announce, say)
    return 0


def has_demo(opened: app.Opened, settings: Settings) -> bool:
    """Whether there is a city to animate, and it may be; it comes in without TLS, and says to nobody who it is."""
    return (
        settings.demo
        and not settings.read_only
        and not settings.is_secure
        and opened.plain is not None
        and opened.broker.store.graph(iri(GRAPH)) is not None
    )


def greeting(opened: app.Opened, settings: Settings) -> str:
    """What is served, where, and how to try it."""
    offers = "queries" if settings.read_only else "queries and updates"
    quads = len(opened.broker.store)
    where = "in memory only" if settings.memory else f"kept in {settings.data}"
    http = opened.nearest.http
    return (
        f"Tidings answers {offers} at {opened.foremost.http}/sparql and subscriptions at {opened.foremost.ws}\n"
        f"{plain(opened)}"
        f"  {quads:,} quads, {where}\n"
        f"{first_steps(http, settings)}"
        f"{demo(opened, settings)}"
        f"{health(opened, settings)}"
        f"  stop: Ctrl+C"
    )


def first_steps(http: str, settings: Settings) -> str:
    """Commands that answer something; where everybody is asked who they are, with a token."""
    query = "--data-urlencode 'query=SELECT * WHERE { ?s ?p ?o } LIMIT 3'"
    if settings.is_secure:
        return (
            f"  try:  tidings login --http {http}\n"
            f"        curl -X POST -u CLIENT:SECRET {http}/oauth/token\n"
            f"        curl -H 'Authorization: Bearer TOKEN' {http}/query {query}\n"
        )
    return (
        f"  try:  curl {http}/query {query}\n        curl -N '{http}/subscribe?query=SELECT+*+WHERE+%7B?s+?p+?o%7D'\n"
    )


def plain(opened: app.Opened) -> str:
    """Where there is no TLS, although there is elsewhere."""
    if opened.secure is None or opened.plain is None:
        return ""
    return f"  without TLS: {opened.plain.http}/sparql and {opened.plain.ws}\n"


def health(opened: app.Opened, settings: Settings) -> str:
    """Where health is told, if it has a port of its own."""
    if opened.health_port is None:
        return ""
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return f"  health: http://{host}:{opened.health_port}/healthz and /readyz\n"


def demo(opened: app.Opened, settings: Settings) -> str:
    """How to watch the demo, or why there is none, if one was asked for."""
    if not settings.demo:
        return ""
    if not has_demo(opened, settings):
        why = "the broker is read-only" if settings.read_only else "it is for a broker that begins empty"
        why = "it needs a port without TLS on this machine" if opened.plain is None else why
        why = "the broker asks everybody who they are" if settings.is_secure else why
        return f"  demo: none, as {why}\n"
    return (
        f"  demo: people walk through a small city, in the graph <{GRAPH}>, and lamps go on and off around them:\n"
        f"        curl -sN -G {opened.nearest.http}/subscribe --data-urlencode 'query={LIGHTS}'\n"
        f"        tidings subscribe --http {opened.nearest.http} '{LIGHTS}'\n"
        f"        --demo off starts without it, DROP GRAPH <{GRAPH}> removes it for good\n"
    )
