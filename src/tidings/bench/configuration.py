"""The configuration of a benchmark: targets, knowledge base, tests, repetitions. TOML, in one file or in several.

    global file  <  files of the benchmark  <  --set KEY=VALUE

Later ones override earlier ones, key by key. The error of a mistake names its file and its key.
"""

import tomllib
from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import msgspec
from msgspec import Meta, Struct

from tidings.model.errors import BadRequest

Count = Annotated[int, Meta(ge=1)]
Seconds = Annotated[float, Meta(gt=0)]
Name = Annotated[str, Meta(pattern=r"^[\w.-]+$")]


class BadBenchmark(BadRequest):
    """The configuration of a benchmark is invalid."""

    code = "bad_benchmark"


class Knowledge(Struct, frozen=True, forbid_unknown_fields=True):
    """The data of a target before a test begins."""

    sources: tuple[str, ...] = ()
    """Files, or generators with a size: `city:0.05`, `universities:1`, `bibliography:10000`."""
    batch: Count = 1000


class _Test(Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", kw_only=True):
    iterations: Count | None = None
    warmup: Annotated[int, Meta(ge=0)] | None = None
    knowledge: Knowledge | None = None
    targets: tuple[str, ...] = ()
    """The targets of the test; () means all."""
    timeout: Seconds = 10.0
    """Seconds after which a missing notification counts as lost, and a missing answer as failed."""


class UpdateTest(_Test, tag="update", frozen=True, kw_only=True):
    """Insert n triples, n from `n_min` to `n_max` by `step`."""

    n_min: Count = 250
    n_max: Count = 2500
    step: Count = 250
    formalism: str = "sparql"
    subscriptions: tuple[str, ...] = ()
    """The queries of subscriptions during the test."""


class QueryTest(_Test, tag="query", frozen=True, kw_only=True):
    """Send a query once all data are loaded (simple), or after every step of loading (complex)."""

    query: str = ""
    patterns: tuple[tuple[str, str, str], ...] = ()
    """RDF-M3 triple patterns, instead of a query."""
    mode: str = "simple"
    step: Count = 10_000
    expect: int | None = None
    """The expected number of rows at the end."""


class SubscriptionTest(_Test, tag="subscription", frozen=True, kw_only=True):
    """Time from an update to its notification, for n subscribers with the same or different subscriptions."""

    subscribers: tuple[Count, ...] = (1,)
    different: bool = False
    query: str = "SELECT ?value WHERE { <urn:pes:thing:{i}> <urn:pes:value> ?value }"
    update: str = (
        "DELETE { <urn:pes:thing:{i}> <urn:pes:value> ?old } INSERT { <urn:pes:thing:{i}> <urn:pes:value> {v} } "
        "WHERE { OPTIONAL { <urn:pes:thing:{i}> <urn:pes:value> ?old } }"
    )
    """`{i}` is the number of a subscription, `{v}` a new value each time, which the notified row must contain."""


class StressTest(_Test, tag="stress", frozen=True, kw_only=True):
    """Rising load until the target misses a bound."""

    subscribers: Count = 10
    start: Seconds = 100.0
    """Updates a second."""
    factor: Annotated[float, Meta(gt=1)] = 1.5
    steps: Count = 12
    seconds: Seconds = 2.0
    p99_ms: Seconds = 50.0


class MixedTest(_Test, tag="mixed", frozen=True, kw_only=True):
    """The subscriptions S of the SPS paper on its city, and updates U at a rate that does not wait for answers."""

    updates: str = "LAMP"
    factor: Seconds = 1.0
    rate: Seconds = 200.0
    seconds: Seconds = 5.0


class LightingTest(_Test, tag="lighting", frozen=True, kw_only=True):
    """The experiments of the SPS paper: all subscriptions, each update after the other."""

    factor: Seconds = 1.0
    experiments: tuple[str, ...] = ("LAMP", "ROAD")


class ChatTest(_Test, tag="chat", frozen=True, kw_only=True):
    """The experiments of the SEPA paper: each primitive of the chat in turn, then messages to oneself."""

    messages: Count = 10
    to_oneself: Annotated[int, Meta(ge=0)] = 100


class SoakTest(_Test, tag="soak", frozen=True, kw_only=True):
    """Replace one value again and again for a given time, and watch the memory of the target."""

    seconds: Seconds = 60.0
    rate: Seconds = 100.0
    subscribers: Count = 10
    growth_mb: Seconds = 50.0
    """More growth than this counts as a leak."""


Test: TypeAlias = (
    UpdateTest | QueryTest | SubscriptionTest | StressTest | MixedTest | LightingTest | ChatTest | SoakTest
)


class Benchmark(Struct, frozen=True, forbid_unknown_fields=True):
    """Everything that a run needs to know."""

    targets: dict[Name, dict[str, Any]]
    tests: dict[Name, Test]
    name: Name = "benchmark"
    about: str = ""
    seed: int = 2016
    iterations: Count = 3
    warmup: Annotated[int, Meta(ge=0)] = 1
    knowledge: Knowledge = Knowledge()
    output: str = "bench-results"
    formats: tuple[str, ...] = ("csv", "json", "svg", "png", "html")


def shipped() -> dict[str, str]:
    """The built-in benchmarks, by name, as TOML."""
    folder = files(__package__).joinpath("shipped")
    return {
        each.name.removesuffix(".toml"): each.read_text("utf-8")
        for each in sorted(folder.iterdir(), key=lambda each: each.name)
        if each.name.endswith(".toml")
    }


def read(names: Iterable[str], *, settings: Iterable[str] = (), common: Path | None = None) -> Benchmark:
    """A benchmark from files, or from names of built-in benchmarks. Raises BadBenchmark."""
    whole: dict[str, Any] = {}
    origins: list[str] = []
    for name in ([] if common is None else [str(common)]) + list(names):
        document, origin = _document(name)
        _check_keys(document, origin)
        whole = _overlaid(whole, document)
        origins.append(origin)
    for setting in settings:
        whole = _overlaid(whole, _assigned(setting))
        origins.append(f"--set {setting}")
    if not whole.get("targets"):
        raise BadBenchmark(f"{', '.join(origins) or 'the benchmark'}: targets: at least one is needed, [targets.NAME]")
    return _converted(whole, ", ".join(origins))


def _document(name: str) -> tuple[dict[str, Any], str]:
    path = Path(name)
    known = shipped()
    if not path.exists() and name in known:
        return tomllib.loads(known[name]), f"shipped benchmark {name}"
    try:
        return tomllib.loads(path.read_text("utf-8")), name
    except FileNotFoundError as error:
        raise BadBenchmark(
            f"{name}: no such file, and no benchmark of that name; there are {', '.join(known)}"
        ) from error
    except OSError as error:
        raise BadBenchmark(f"{name}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadBenchmark(f"{name}: not TOML: {error}") from error


def _check_keys(document: dict[str, Any], origin: str) -> None:
    """Check the keys that one file has; missing ones may be in another file."""
    filled = _overlaid({"targets": {}, "tests": {}}, document)
    _converted(filled, origin)


def _converted(document: dict[str, Any], origin: str) -> Benchmark:
    try:
        return msgspec.convert(document, Benchmark)
    except msgspec.ValidationError as error:
        raise BadBenchmark(f"{origin}: {_told(str(error))}") from error


def _told(message: str) -> str:
    """`… - at `$.tests.update.n_min`` with the key in front."""
    text, found, where = message.rpartition(" - at `")
    if not found:
        return message
    return f"{where.rstrip('`').removeprefix('$.').replace('[...]', '.…')}: {text}"


def _assigned(setting: str) -> dict[str, Any]:
    """`tests.update.n_max=500` as a document; the value is TOML, or else a text."""
    key, equals, value = setting.partition("=")
    if not equals or not key:
        raise BadBenchmark(f"--set {setting}: must be KEY=VALUE, like tests.update.n_max=500")
    try:
        read_value: Any = tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        read_value = value
    for part in reversed(key.split(".")):
        read_value = {part: read_value}
    document: dict[str, Any] = read_value
    return document


def _overlaid(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    result = dict(below)
    for key, value in above.items():
        known = result.get(key)
        both = isinstance(known, Mapping) and isinstance(value, Mapping)
        result[key] = _overlaid(known, value) if both else value  # type: ignore[arg-type]
    return result
