"""Every setting of the broker, once: its name, what it means, its default, and how a text becomes its value.

    flag  >  environment  >  file  >  default

A setting `max_rows` is the flag `--max-rows`, the variable `TIDINGS_MAX_ROWS` and the key `max_rows` of the TOML file.
"""

import dataclasses
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from ipaddress import ip_network
from pathlib import Path
from typing import Any

from tidings.model.errors import BadRequest
from tidings.model.formats.grammar import ABSOLUTE_IRI
from tidings.model.iris import DEFAULT_BASE
from tidings.model.likeness import did_you_mean

ENVIRONMENT = "TIDINGS_"
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_TRUTH = {"true": True, "yes": True, "1": True, "on": True, "false": False, "no": False, "0": False, "off": False}


class BadSetting(BadRequest):
    """A setting that does not exist, or has a value that it cannot have."""

    code = "bad_setting"


def _whole(value: object) -> int:
    number = int(value) if isinstance(value, str) and value.isascii() and value.isdigit() else value
    if type(number) is not int or number < 0:
        raise ValueError("a whole number, 0 or more")
    return number


def _positive(value: object) -> int:
    number = _whole(value)
    if not number:
        raise ValueError("1 or more")
    return number


def _port(value: object) -> int:
    number = _whole(value)
    if number > 65535:
        raise ValueError("a port between 0 and 65535")
    return number


def _seconds(value: object) -> float:
    number = -1.0
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        with suppress(ValueError):
            number = float(value)
    if not 0 <= number < float("inf"):
        raise ValueError("a number of seconds, 0 or more")
    return number


def _rate(value: object) -> float:
    try:
        return _seconds(value)
    except ValueError as error:
        raise ValueError("a number, 0 or more") from error


def _bytes(value: object) -> int:
    """`16M` is 16 times 1,048,576."""
    if isinstance(value, str) and value[-1:].upper() in _UNITS:
        return _positive(value[:-1]) * _UNITS[value[-1].upper()]
    return _positive(value)


def _size(value: object) -> int:
    """As `_bytes`; 0 is allowed."""
    return 0 if value in {0, "0"} else _bytes(value)


def _some_seconds(value: object) -> float:
    number = _seconds(value)
    if not number:
        raise ValueError("a number of seconds above 0")
    return number


def _flag(value: object) -> bool:
    known = value if isinstance(value, bool) else _TRUTH.get(str(value).lower())
    if known is None:
        raise ValueError("true or false")
    return known


def _text(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError("a text")
    return value


def _http(value: object) -> str:
    if not isinstance(value, str) or not value.startswith(("http://", "https://")):
        raise ValueError("an address that starts with http:// or https://")
    return value


def _base(value: object) -> str:
    if not isinstance(value, str) or not ABSOLUTE_IRI.fullmatch(value):
        raise ValueError("an absolute IRI")
    return value


def _texts(value: object) -> tuple[str, ...]:
    """A list, or a text with commas."""
    if isinstance(value, str):
        value = [part.strip() for part in value.split(",")]
    if not isinstance(value, list | tuple):
        raise ValueError("a list of texts")  # noqa: TRY004 -- whatever is wrong with a value is a ValueError here
    return tuple(_text(part) for part in value if part)


def _networks(value: object) -> tuple[str, ...]:
    """Addresses are networks of one."""
    try:
        return tuple(str(ip_network(part)) for part in _texts(value))
    except ValueError as error:
        raise ValueError(f"a list of addresses and networks: {error}") from error


def _one_of(*choices: str) -> Callable[[object], str]:
    def read(value: object) -> str:
        if value not in choices:
            raise ValueError(f"one of {', '.join(choices)}")
        return str(value)

    return read


def _setting(default: Any, reads: Callable[[object], Any], help_: str, shown: str = "") -> Any:
    return field(default=default, metadata={"reads": reads, "help": help_, "shown": shown})


@dataclass(frozen=True, slots=True)
class Settings:
    """What `tidings serve` can be told. The help texts below are those of the command line."""

    host: str = _setting("127.0.0.1", _text, "address to listen on; 0.0.0.0 for all, with --allow-insecure", "ADDRESS")
    http_port: int = _setting(8000, _port, "port for HTTP; 0 takes any free one", "PORT")
    ws_port: int = _setting(9000, _port, "port for WebSocket; 0 takes any free one", "PORT")
    tls_certificate: str | None = _setting(
        None, _text, "certificate, with those that lead to it (PEM); there is TLS then", "FILE"
    )
    tls_key: str | None = _setting(None, _text, "its private key, if it is not in the same file", "FILE")
    https_port: int = _setting(8443, _port, "port for HTTP with TLS; 0 takes any free one", "PORT")
    wss_port: int = _setting(9443, _port, "port for WebSocket with TLS; 0 takes any free one", "PORT")
    plain_host: str | None = _setting(
        None,
        _text,
        "address of the ports without TLS beside it; this machine only if not given, `off` is none",
        "ADDRESS",
    )
    tls_client_ca: str | None = _setting(None, _text, "authority whose certificates clients show (PEM)", "FILE")
    tls_client: str = _setting(
        "required", _one_of("required", "optional"), "whether they have to: required or optional", "WHAT"
    )
    trusted_proxies: tuple[str, ...] = _setting(
        (), _networks, "address or network of a proxy that is believed whom it speaks for; again for more", "NETWORK"
    )
    health_port: int | None = _setting(
        None,
        _port,
        "port for health, answered whatever the loop does; 0 takes any free one, without it there is none",
        "PORT",
    )
    data: str = _setting(
        "tidings-data", _text, "folder that keeps what is published; made if it is not there", "FOLDER"
    )
    memory: bool = _setting(False, _flag, "keep everything in memory, and nothing after the end")
    load: tuple[str, ...] = _setting(
        (), _texts, "RDF file to begin with, if there is nothing yet; again for more", "FILE"
    )
    demo: bool = _setting(
        False, _flag, "animate a small city, in a graph of its own, if there is nothing else to begin with"
    )
    naive: bool = _setting(False, _flag, "evaluate every subscription in full after every commit, to compare")
    base: str = _setting(DEFAULT_BASE, _base, "what relative IRIs are relative to", "IRI")
    read_only: bool = _setting(False, _flag, "answer queries and subscriptions, refuse updates")
    load_from: str | None = _setting(
        None, _text, "folder that LOAD may read files from; without it LOAD is off", "FOLDER"
    )

    outgoing_hosts: tuple[str, ...] = _setting(
        (), _texts, "host that LOAD may ask for documents, NAME, NAME:PORT, *.NAME or *; again for more", "HOST"
    )
    outgoing_networks: tuple[str, ...] = _setting(
        (), _networks, "network that such a host may be in although it is not public; again for more", "NETWORK"
    )
    outgoing_size: int = _setting(64 << 20, _bytes, "bytes that such a document may have", "BYTES")
    outgoing_timeout: float = _setting(
        10.0, _some_seconds, "seconds that it may take to get, redirects included", "SECONDS"
    )

    endpoint: str | None = _setting(None, _http, "SPARQL endpoint that is the store of record; queries go there", "URL")
    update_url: str | None = _setting(None, _http, "where it takes updates, if not at the same address", "URL")
    endpoint_file: str | None = _setting(None, _text, "SEPA's file (.jpar) with both addresses instead", "FILE")
    endpoint_dialect: str | None = _setting(
        None, _one_of("generic", "oxigraph", "fuseki", "virtuoso"), "which store it is; found out if not given", "NAME"
    )
    endpoint_default_graph: str | None = _setting(
        None, _base, "graph there that stands for the default graph, if it has none of its own", "IRI"
    )
    endpoint_auth: str = _setting(
        "none", _one_of("none", "basic", "digest", "bearer"), "how the broker shows who it is", "SCHEME"
    )
    endpoint_secret: str | None = _setting(None, _text, "file with user:password, or with the token", "FILE")
    endpoint_timeout: float = _setting(
        30.0, _some_seconds, "seconds that an answer of the endpoint may take", "SECONDS"
    )
    endpoint_patience: float = _setting(
        10.0, _some_seconds, "seconds that updates wait for an endpoint that is away", "SECONDS"
    )
    reconcile_every: float = _setting(
        0.0, _seconds, "seconds after which the endpoint is compared again; 0 is never", "SECONDS"
    )
    endpoint_feed: str | None = _setting(
        None, _http, "address of a broker whose /log says what others change in the endpoint", "URL"
    )

    secure: bool = _setting(False, _flag, "ask everybody who they are, and let them do what was granted to them")
    security: str | None = _setting(
        None, _text, "TOML file that says who may register and do what; there is security then", "FILE"
    )
    issuer: str | None = _setting(None, _text, "address of this broker, as its tokens name it", "URL")
    audience: str | None = _setting(None, _text, "whom tokens are for; the issuer if not given", "NAME")
    token_seconds: int | None = _setting(None, _positive, "seconds that a token counts; 3600 if not given", "SECONDS")
    registration: tuple[str, ...] = _setting(
        (), _texts, "identity that may register, or a pattern with *; `open` is all, `closed` none", "IDENTITY"
    )
    token_grace: float = _setting(60.0, _seconds, "seconds that a subscription outlives its token", "SECONDS")
    audit_log: str | None = _setting(
        None, _text, "file for who did what; audit.jsonl in the data folder if not given", "FILE"
    )

    durability: str = _setting(
        "fsync", _one_of("none", "os", "fsync"), "what an answered update has survived: none, os or fsync", "LEVEL"
    )
    segment_size: int = _setting(64 << 20, _bytes, "bytes after which the log begins a new segment", "BYTES")
    segment_age: float = _setting(86_400.0, _seconds, "seconds after which it does so, too", "SECONDS")
    snapshot_every: int = _setting(64 << 20, _bytes, "bytes of log after which a snapshot is written", "BYTES")
    keep_log: int = _setting(0, _size, "bytes of log to keep although a snapshot covers it; 0 keeps all", "BYTES")

    timeout: float = _setting(30.0, _seconds, "seconds an evaluation may take; 0 is no limit", "SECONDS")
    slice: float = _setting(
        0.01, _some_seconds, "seconds of it on the loop; what takes longer goes on in a fork", "SECONDS"
    )
    workers: int = _setting(2, _positive, "forks at a time; other long queries wait", "N")
    max_rows: int = _setting(1_000_000, _whole, "rows an evaluation may hold or answer; 0 is no limit", "ROWS")
    max_memory: int = _setting(
        2 << 30, _size, "bytes a fork may need beyond what the broker has; 0 is no limit", "BYTES"
    )
    max_answer: int = _setting(1 << 30, _size, "bytes an answer may have; 0 is no limit", "BYTES")
    max_parts: int = _setting(
        50_000, _whole, "triple patterns, operators and terms a request may have to plan; 0 is no limit", "N"
    )
    max_planning: float = _setting(
        0.5, _some_seconds, "seconds of the processor that planning a subscription may take", "SECONDS"
    )
    max_body: int = _setting(16 << 20, _bytes, "bytes a request or message may have; K, M, G are understood", "BYTES")
    max_requests: int = _setting(1024, _positive, "HTTP requests in work at a time; others get 429", "N")
    max_queue: int = _setting(10_000, _positive, "updates that may wait; others get 429", "N")
    max_delayed: int = _setting(100_000, _positive, "delayed updates that may wait", "N")
    max_connections: int = _setting(20_000, _positive, "WebSocket and event-stream clients at a time", "N")
    max_subscriptions: int = _setting(1_000_000, _positive, "subscriptions at a time", "N")
    client_rate: float = _setting(
        10_000.0, _rate, "requests and messages a client may send in a second, on average; 0 is no limit", "N"
    )
    client_requests: int = _setting(10_000, _positive, "requests of one client in work at a time; others get 429", "N")
    client_queue: int = _setting(5_000, _positive, "updates of one client that may wait; others get 429", "N")
    client_connections: int = _setting(10_000, _positive, "connections of one address at a time", "N")
    client_subscriptions: int = _setting(500_000, _positive, "subscriptions of one client at a time", "N")

    outbox: int = _setting(256 << 10, _bytes, "bytes on their way to a client before it counts as slow", "BYTES")
    outbox_rows: int = _setting(100_000, _positive, "changed rows that may wait for a slow client", "ROWS")
    slow: str = _setting(
        "merge", _one_of("merge", "disconnect"), "what happens to a slow client's notifications, or to it", "WHAT"
    )
    retain: int = _setting(64, _positive, "notifications kept for a client that comes back", "N")
    grace: float = _setting(60.0, _seconds, "seconds a subscription outlives its connection", "SECONDS")
    ping: float = _setting(
        20.0, _some_seconds, "seconds of silence before a client is pinged, and then let go", "SECONDS"
    )

    matching: str = _setting(
        "static", _one_of("static", "vectors", "esa", "off"), "what knows words, for approximate subscriptions", "NAME"
    )
    matching_index: str | None = _setting(None, _text, "index of `tidings esa build`, for --matching esa", "FOLDER")
    wordnet: str | None = _setting(None, _text, "folder of WordNet, if it is not found by itself", "FOLDER")
    max_event_tuples: int = _setting(1_000, _positive, "attributes with their values that an event may have", "N")

    deliver: str | None = _setting(
        None, _text, "folder of `tidings stream`, which works out the subscriptions; they are only told here", "FOLDER"
    )
    deliver_patience: float = _setting(
        60.0, _some_seconds, "seconds that it may take to work out a first answer", "SECONDS"
    )

    cors: tuple[str, ...] = _setting(
        (), _texts, "origin whose pages may call, besides the broker's own; * is all; may be given again", "ORIGIN"
    )
    allowed_hosts: tuple[str, ...] = _setting(
        (), _texts, "name of this machine in addresses, besides localhost; * is any; may be given again", "NAME"
    )
    allow_insecure: bool = _setting(
        False, _flag, "let others than this machine in, although nobody is asked who they are"
    )
    log_level: str = _setting(
        "warning",
        _one_of("debug", "info", "warning", "error"),
        "what is written to stderr, from debug to error",
        "LEVEL",
    )
    log_format: str = _setting("text", _one_of("text", "json"), "how it is written: text or json", "FORMAT")

    @property
    def has_endpoint(self) -> bool:
        """Whether the store of record is an endpoint, or should be: the settings may contradict each other."""
        return not (self.endpoint is None and self.endpoint_file is None and self.update_url is None)

    @property
    def is_secure(self) -> bool:
        """Whether anybody is asked who they are."""
        return self.secure or self.security is not None


SETTINGS = dataclasses.fields(Settings)


def read_settings(flags: Mapping[str, object], environment: Mapping[str, str], file: Path | None = None) -> Settings:
    """The settings of all three places together. Flags that are None were not given. Raises BadSetting."""
    values: dict[str, Any] = {}
    for name, value in _of_file(file).items():
        values[name] = _checked(name, value, f"{name} in {file}")
    for setting in SETTINGS:
        variable = ENVIRONMENT + setting.name.upper()
        if variable in environment:
            values[setting.name] = _checked(setting.name, environment[variable], variable)
        if (given := flags.get(setting.name)) is not None:
            values[setting.name] = _checked(setting.name, given, "--" + setting.name.replace("_", "-"))
    return Settings(**values)


def _of_file(file: Path | None) -> dict[str, object]:
    import tomllib  # here, so that `tidings doctor` can tell a Python that is too old to have it

    if file is None:
        return {}
    try:
        with file.open("rb") as document:
            values = tomllib.load(document)
    except OSError as error:
        raise BadSetting(f"{file}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadSetting(f"{file} is not TOML: {error}") from error
    known = {setting.name for setting in SETTINGS}
    if unknown := sorted(values.keys() - known):
        meant = did_you_mean(unknown, known) or f"; known are {', '.join(sorted(known))}"
        raise BadSetting(f"{file}: unknown settings {', '.join(unknown)}{meant}")
    return values


def _checked(name: str, value: object, where: str) -> Any:
    reads = next(setting for setting in SETTINGS if setting.name == name).metadata["reads"]
    try:
        return reads(value)
    except ValueError as error:
        raise BadSetting(f"{where}: {value!r} is not {error}") from error
