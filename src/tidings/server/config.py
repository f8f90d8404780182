"""All settings of the broker: the name of each, its help text, its default, and the function that reads its value.

    flag  >  environment  >  file  >  default

A setting `max_rows` is the flag `--max-rows`, the variable `TIDINGS_MAX_ROWS` and the key `max_rows` of the TOML file.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tidings.lexicons.backends import Backend
from tidings.model.errors import BadRequest
from tidings.model.iris import DEFAULT_BASE
from tidings.model.likeness import did_you_mean
from tidings.server.optional_gates.settings import GateSettings
from tidings.server.values import (
    absolute_iri,
    flag,
    http_address,
    networks,
    one_of,
    origins,
    port,
    positive,
    rate,
    seconds,
    setting,
    size_of,
    size_or_none,
    some_seconds,
    text,
    texts,
    whole,
)

ENVIRONMENT = "TIDINGS_"


class BadSetting(BadRequest):
    """A setting that does not exist, or has a value that it cannot have."""

    code = "bad_setting"


@dataclass(frozen=True, slots=True)
class Settings(GateSettings):
    """The settings of `tidings serve`, with the help texts of the command line."""

    host: str = setting("127.0.0.1", text, "address to listen on; 0.0.0.0 for all, with --allow-insecure", "ADDRESS")
    http_port: int = setting(8000, port, "port for HTTP; 0 takes any free one", "PORT")
    ws_port: int = setting(9000, port, "port for WebSocket; 0 takes any free one", "PORT")
    tls_certificate: str | None = setting(
        None, text, "certificate, with those that lead to it (PEM); there is TLS then", "FILE"
    )
    tls_key: str | None = setting(None, text, "its private key, if it is not in the same file", "FILE")
    https_port: int = setting(8443, port, "port for HTTP with TLS; 0 takes any free one", "PORT")
    wss_port: int = setting(9443, port, "port for WebSocket with TLS; 0 takes any free one", "PORT")
    plain_host: str | None = setting(
        None,
        text,
        "address of the ports without TLS beside it; this machine only if not given, `off` is none",
        "ADDRESS",
    )
    tls_client_ca: str | None = setting(None, text, "authority whose certificates clients show (PEM)", "FILE")
    tls_client: str = setting(
        "required", one_of("required", "optional"), "whether they have to: required or optional", "WHAT"
    )
    trusted_proxies: tuple[str, ...] = setting(
        (), networks, "address or network of a proxy that is believed whom it speaks for; again for more", "NETWORK"
    )
    health_port: int | None = setting(
        None,
        port,
        "port for health, answered whatever the loop does; 0 takes any free one, without it there is none",
        "PORT",
    )
    data: str = setting("tidings-data", text, "folder that keeps what is published; made if it is not there", "FOLDER")
    memory: bool = setting(False, flag, "keep everything in memory, and nothing after the end")
    load: tuple[str, ...] = setting(
        (), texts, "RDF file to begin with, if there is nothing yet; again for more", "FILE"
    )
    demo: bool = setting(
        False, flag, "animate a small city, in a graph of its own, if there is nothing else to begin with"
    )
    naive: bool = setting(False, flag, "evaluate every subscription in full after every commit, to compare")
    base: str = setting(DEFAULT_BASE, absolute_iri, "what relative IRIs are relative to", "IRI")
    read_only: bool = setting(False, flag, "answer queries and subscriptions, refuse updates")
    load_from: str | None = setting(
        None, text, "folder that LOAD may read files from; without it LOAD is off", "FOLDER"
    )

    outgoing_hosts: tuple[str, ...] = setting(
        (), texts, "host that LOAD may ask for documents, NAME, NAME:PORT, *.NAME or *; again for more", "HOST"
    )
    outgoing_networks: tuple[str, ...] = setting(
        (), networks, "network that such a host may be in although it is not public; again for more", "NETWORK"
    )
    outgoing_size: int = setting(64 << 20, size_of, "bytes that such a document may have", "BYTES")
    outgoing_timeout: float = setting(
        10.0, some_seconds, "seconds that it may take to get, redirects included", "SECONDS"
    )

    endpoint: str | None = setting(
        None, http_address, "SPARQL endpoint that is the store of record; queries go there", "URL"
    )
    update_url: str | None = setting(None, http_address, "where it takes updates, if not at the same address", "URL")
    mode: str = setting(
        "mirror", one_of("mirror", "context"), "what of it is in memory: all, or what subscriptions need", "MODE"
    )
    max_context: int = setting(1_000_000, positive, "quads that are in memory in context mode", "QUADS")
    sole_writer: bool = setting(False, flag, "nobody else writes to the endpoint: fewer questions in context mode")
    endpoint_file: str | None = setting(None, text, "SEPA's file (.jpar) with both addresses instead", "FILE")
    endpoint_dialect: str | None = setting(
        None, one_of("generic", "oxigraph", "fuseki", "virtuoso"), "which store it is; found out if not given", "NAME"
    )
    endpoint_default_graph: str | None = setting(
        None, absolute_iri, "graph there that stands for the default graph, if it has none of its own", "IRI"
    )
    endpoint_auth: str = setting(
        "none", one_of("none", "basic", "digest", "bearer"), "how the broker shows who it is", "SCHEME"
    )
    endpoint_secret: str | None = setting(None, text, "file with user:password, or with the token", "FILE")
    endpoint_timeout: float = setting(30.0, some_seconds, "seconds that an answer of the endpoint may take", "SECONDS")
    endpoint_patience: float = setting(
        10.0, some_seconds, "seconds that updates wait for an endpoint that is away", "SECONDS"
    )
    reconcile_every: float = setting(
        0.0, seconds, "seconds after which the endpoint is compared again; 0 is never", "SECONDS"
    )
    endpoint_feed: str | None = setting(
        None, http_address, "address of a broker whose /log says what others change in the endpoint", "URL"
    )

    secure: bool = setting(False, flag, "ask everybody who they are, and let them do what was granted to them")
    security: str | None = setting(
        None, text, "TOML file that says who may register and do what; there is security then", "FILE"
    )
    issuer: str | None = setting(None, text, "address of this broker, as its tokens name it", "URL")
    audience: str | None = setting(None, text, "whom tokens are for; the issuer if not given", "NAME")
    token_seconds: int | None = setting(None, positive, "seconds that a token counts; 3600 if not given", "SECONDS")
    registration: tuple[str, ...] = setting(
        (), texts, "identity that may register, or a pattern with *; `open` is all, `closed` none", "IDENTITY"
    )
    token_grace: float = setting(60.0, seconds, "seconds that a subscription outlives its token", "SECONDS")
    audit_log: str | None = setting(
        None, text, "file for who did what; audit.jsonl in the data folder if not given", "FILE"
    )
    access_log: str | None = setting(None, text, "file for every request, also those that only read", "FILE")

    durability: str = setting(
        "fsync", one_of("none", "os", "fsync"), "what an answered update has survived: none, os or fsync", "LEVEL"
    )
    segment_size: int = setting(64 << 20, size_of, "bytes after which the log begins a new segment", "BYTES")
    segment_age: float = setting(86_400.0, seconds, "seconds after which it does so, too", "SECONDS")
    snapshot_every: int = setting(64 << 20, size_of, "bytes of log after which a snapshot is written", "BYTES")
    keep_log: int = setting(0, size_or_none, "bytes of log to keep although a snapshot covers it; 0 keeps all", "BYTES")

    lake: str | None = setting(
        None, text, "history lake that knows what the log no longer has; Spark reads it", "FOLDER"
    )
    lake_memory: int = setting(2 << 30, size_of, "bytes of memory of the Spark that reads the lake", "BYTES")

    timeout: float = setting(30.0, seconds, "seconds an evaluation may take; 0 is no limit", "SECONDS")
    slice: float = setting(
        0.01, some_seconds, "seconds of it on the loop; what takes longer goes on in a fork", "SECONDS"
    )
    workers: int = setting(2, positive, "forks at a time; other long queries wait", "N")
    max_rows: int = setting(1_000_000, whole, "rows an evaluation may hold or answer; 0 is no limit", "ROWS")
    max_memory: int = setting(
        2 << 30, size_or_none, "bytes a fork may need beyond what the broker has; 0 is no limit", "BYTES"
    )
    max_answer: int = setting(1 << 30, size_or_none, "bytes an answer may have; 0 is no limit", "BYTES")
    max_parts: int = setting(
        50_000, whole, "triple patterns, operators and terms a request may have to plan; 0 is no limit", "N"
    )
    max_planning: float = setting(
        0.5, some_seconds, "seconds of the processor that planning a subscription may take", "SECONDS"
    )
    max_behind: float = setting(
        60.0, some_seconds, "seconds a subscription may be behind, before it is let go", "SECONDS"
    )
    max_body: int = setting(16 << 20, size_of, "bytes a request or message may have; K, M, G are understood", "BYTES")
    max_requests: int = setting(1024, positive, "HTTP requests in work at a time; others get 429", "N")
    max_queue: int = setting(10_000, positive, "updates that may wait; others get 429", "N")
    max_delayed: int = setting(100_000, positive, "delayed updates that may wait", "N")
    max_connections: int = setting(20_000, positive, "WebSocket and event-stream clients at a time", "N")
    max_subscriptions: int = setting(1_000_000, positive, "subscriptions at a time", "N")
    client_rate: float = setting(
        100_000.0, rate, "requests and messages a client may send in a second, on average; 0 is no limit", "N"
    )
    client_requests: int = setting(10_000, positive, "requests of one client in work at a time; others get 429", "N")
    client_queue: int = setting(5_000, positive, "updates of one client that may wait; others get 429", "N")
    client_connections: int = setting(10_000, positive, "connections of one address at a time", "N")
    client_subscriptions: int = setting(500_000, positive, "subscriptions of one client at a time", "N")

    outbox: int = setting(256 << 10, size_of, "bytes on their way to a client before it counts as slow", "BYTES")
    outbox_rows: int = setting(100_000, positive, "changed rows that may wait for a slow client", "ROWS")
    slow: str = setting(
        "merge", one_of("merge", "disconnect"), "what happens to a slow client's notifications, or to it", "WHAT"
    )
    retain: int = setting(64, positive, "notifications kept for a client that comes back", "N")
    grace: float = setting(60.0, seconds, "seconds a subscription outlives its connection", "SECONDS")
    ping: float = setting(
        20.0, some_seconds, "seconds of silence before a client is pinged, and then let go", "SECONDS"
    )

    matching: str = setting(
        "static", one_of(*Backend, "off"), "what knows words, for approximate subscriptions", "NAME"
    )
    matching_index: str | None = setting(None, text, "index of `tidings esa build`, for --matching esa", "FOLDER")
    wordnet: str | None = setting(None, text, "folder of WordNet, if it is not found by itself", "FOLDER")
    moby: str | None = setting(None, text, "words.txt of the Moby Thesaurus, if it is not found by itself", "FILE")
    max_event_tuples: int = setting(1_000, positive, "attributes with their values that an event may have", "N")

    deliver: str | None = setting(
        None, text, "folder of `tidings stream`, which works out the subscriptions; they are only told here", "FOLDER"
    )
    deliver_patience: float = setting(
        60.0, some_seconds, "seconds that it may take to work out a first answer", "SECONDS"
    )

    cors: tuple[str, ...] = setting(
        (), origins, "origin whose pages may call, besides the broker's own; * is all; may be given again", "ORIGIN"
    )
    allowed_hosts: tuple[str, ...] = setting(
        (), texts, "name of this machine in addresses, besides localhost; * is any; may be given again", "NAME"
    )
    allow_insecure: bool = setting(
        False, flag, "let others than this machine in, although nobody is asked who they are"
    )
    log_level: str = setting(
        "warning",
        one_of("debug", "info", "warning", "error"),
        "what is written to stderr, from debug to error",
        "LEVEL",
    )
    log_format: str = setting("text", one_of("text", "json"), "how it is written: text or json", "FORMAT")

    @property
    def has_endpoint(self) -> bool:
        """Whether the settings ask for an endpoint as the store of record, even if they contradict each other."""
        return not (self.endpoint is None and self.endpoint_file is None and self.update_url is None)

    @property
    def keeps_contexts(self) -> bool:
        """Whether the broker runs in context mode, and keeps only the quads in memory that subscriptions need."""
        return self.has_endpoint and self.mode == "context"

    @property
    def is_secure(self) -> bool:
        """Whether security is on, so that clients have to authenticate."""
        return self.secure or self.security is not None


_OF_GATES = frozenset(each.name for each in dataclasses.fields(GateSettings))
SETTINGS = sorted(dataclasses.fields(Settings), key=lambda each: each.name in _OF_GATES)
"""All settings; those of the optional gates come last."""


def read_settings(flags: Mapping[str, object], environment: Mapping[str, str], file: Path | None = None) -> Settings:
    """The settings from flags, environment and file together. A flag that is None is not set. Raises BadSetting."""
    values: dict[str, Any] = {}
    for name, value in _of_file(file).items():
        values[name] = _checked(name, value, f"{name} in {file}")
    for each in SETTINGS:
        variable = ENVIRONMENT + each.name.upper()
        if variable in environment:
            values[each.name] = _checked(each.name, environment[variable], variable)
        if (given := flags.get(each.name)) is not None:
            values[each.name] = _checked(each.name, given, "--" + each.name.replace("_", "-"))
    return Settings(**values)


def _of_file(file: Path | None) -> dict[str, object]:
    import tomllib  # imported here so that `tidings doctor` can run on a Python that is too old to have it

    if file is None:
        return {}
    try:
        with file.open("rb") as document:
            values = tomllib.load(document)
    except OSError as error:
        raise BadSetting(f"{file}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadSetting(f"{file} is not TOML: {error}") from error
    known = {each.name for each in SETTINGS}
    if unknown := sorted(values.keys() - known):
        meant = did_you_mean(unknown, known) or f"; known are {', '.join(sorted(known))}"
        raise BadSetting(f"{file}: unknown settings {', '.join(unknown)}{meant}")
    return values


def _checked(name: str, value: object, where: str) -> Any:
    reads = next(each for each in SETTINGS if each.name == name).metadata["reads"]
    try:
        return reads(value)
    except ValueError as error:
        raise BadSetting(f"{where}: {value!r} is not {error}") from error
