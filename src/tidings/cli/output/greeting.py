"""The message of a broker once its gates are open: its addresses, its data, and commands to try.

The commands fit the data: the city of the demo, the default graph, named graphs, or no data yet. Users can paste them
into any shell.
"""

from collections.abc import Iterator
from pathlib import Path
from shlex import quote
from urllib.parse import urlsplit

from tidings.cli.input.arguments import HTTP
from tidings.extras import program
from tidings.model.terms import iri
from tidings.server import app
from tidings.server.config import Settings
from tidings.server.demo.town import GRAPH, LIGHTS
from tidings.server.security.choices import ADMIN

CLASSES = (
    f"SELECT ?class (COUNT(*) AS ?things) WHERE {{ GRAPH <{GRAPH}> {{ ?thing a ?class }} }} "
    "GROUP BY ?class ORDER BY DESC(?things) LIMIT 5"
)
"""The classes of things in the city."""
SOME = "SELECT * WHERE { ?s ?p ?o } LIMIT 3"
SOME_NAMED = "SELECT * WHERE { GRAPH ?g { ?s ?p ?o } } LIMIT 3"
ALL = "SELECT * WHERE { ?s ?p ?o }"
ALL_NAMED = "SELECT * WHERE { GRAPH ?g { ?s ?p ?o } }"
FIRST = 'INSERT DATA { <lamp1> <status> "on" }'


def greeting(opened: app.Opened, settings: Settings) -> str:
    """The lines of the message."""
    offers = "queries" if settings.read_only else "queries and updates"
    where = "in memory only" if settings.memory else f"kept in {settings.data}"
    lines = [
        f"Tidings answers {offers} at {opened.foremost.http}/sparql and subscriptions at {opened.foremost.ws}",
        *_plain(opened),
        f"  page: {opened.nearest.http}/",
        f"  data: {len(opened.broker.store):,} quads, {where}",
        *_demo(opened, settings),
        *_health(opened, settings),
        "  try, in another shell:",
        *(f"        {command}" for command in first_steps(opened, settings)),
        "  stop: Ctrl+C",
    ]
    return "\n".join(lines)


def has_demo(opened: app.Opened, settings: Settings) -> bool:
    """Whether the store has a city and the demo can animate it: it connects without TLS and without credentials."""
    return (
        settings.demo
        and not settings.read_only
        and not settings.is_secure
        and opened.plain is not None
        and opened.broker.store.graph(iri(GRAPH)) is not None
    )


def first_steps(opened: app.Opened, settings: Settings) -> Iterator[str]:
    """Commands that return something; for a broker with security, they have a token."""
    http = opened.nearest.http
    if settings.is_secure:
        yield f"{program()} login{_at(http)}{_administrator(settings)}"
        yield f"{program()} query{_at(http)} '{SOME}'"
        yield f"curl -X POST -u CLIENT:SECRET {http}/oauth/token"
        yield f"curl -H 'Authorization: Bearer TOKEN' {http}/query --data-urlencode 'query={SOME}'"
        return
    question, follow = _questions(opened, settings)
    if question is None:
        yield f"curl -s {http}/update --data-urlencode 'update={FIRST}'"
    yield f"curl -s {http}/query -d format=csv --data-urlencode 'query={question or SOME}'"
    yield f"curl -sN -G {http}/subscribe --data-urlencode 'query={follow}'"
    yield f"{program()} query{_at(http)} '{question or SOME}'"
    yield f"{program()} subscribe{_at(http)} '{follow}'"


def _administrator(settings: Settings) -> str:
    """Options for the client that the first start makes, as long as its secret is where it was put."""
    from tidings.server.security.assembly import SECRET  # here: others start without all that it needs

    if settings.memory or settings.security is not None or not (file := Path(settings.data) / SECRET).exists():
        return ""
    return f" --id {ADMIN} --secret-file {quote(str(file))}"


def _questions(opened: app.Opened, settings: Settings) -> tuple[str | None, str]:
    """The text of a query, which is None without data, and that of a subscription."""
    store = opened.broker.store
    if has_demo(opened, settings):
        return CLASSES, LIGHTS
    if len(store.default):
        return SOME, ALL
    if len(store):
        return SOME_NAMED, ALL_NAMED
    return (SOME if settings.read_only else None), ALL


def _at(http: str) -> str:
    """The option with the broker's address, if it is not the default one."""
    parts = urlsplit(http)
    usual = parts.scheme == "http" and parts.hostname == "127.0.0.1" and parts.port == urlsplit(HTTP).port
    return "" if usual else f" --http {http}"


def _plain(opened: app.Opened) -> Iterator[str]:
    """The addresses without TLS, if there are others with TLS."""
    if opened.secure is not None and opened.plain is not None:
        yield f"  without TLS: {opened.plain.http}/sparql and {opened.plain.ws}"


def _health(opened: app.Opened, settings: Settings) -> Iterator[str]:
    """The address of the health checks, if they have a port of their own."""
    if opened.health_port is not None:
        host = f"[{settings.host}]" if ":" in settings.host else settings.host
        yield f"  health: http://{host}:{opened.health_port}/healthz and /readyz"


def _demo(opened: app.Opened, settings: Settings) -> Iterator[str]:
    """A line about the demo, or why it does not run although the settings ask for it."""
    if not settings.demo:
        return
    if has_demo(opened, settings):
        yield f"  demo: people walk through a small city, in the graph <{GRAPH}>, and lamps go on and off around them;"
        yield f"        --demo off starts without it, DROP GRAPH <{GRAPH}> removes it for good"
        return
    why = "the broker is read-only" if settings.read_only else "it is for a broker that begins empty"
    why = "it needs a port without TLS on this machine" if opened.plain is None else why
    why = "the broker asks everybody who they are" if settings.is_secure else why
    yield f"  demo: none, as {why}"
