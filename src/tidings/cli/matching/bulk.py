"""`tidings match --events … --subscriptions …`: many events, many subscriptions, on Spark."""

import sys
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from rich.console import Console

from tidings.cli.history.lakes import session_for
from tidings.cli.input.arguments import Parser, UsageError, count, seconds
from tidings.cli.output.writing import write
from tidings.extras import needing
from tidings.lexicons.backends import Backend, lacking
from tidings.matching.language.documents import subscription_document, subscription_of
from tidings.matching.language.notation import read_subscription
from tidings.model.errors import BadRequest, TidingsError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from tidings.spark.matching.worker import Spec, Tally

_MOST = 1_000_000
"""Subscriptions of a job."""


def arguments(parser: Parser) -> None:
    group = parser.add_argument_group("many at once, on Spark")
    add = group.add_argument
    add("--events", metavar="PATH", help="JSON lines, Parquet (.parquet), or a history lake, whose subjects are events")
    add(
        "--subscriptions",
        metavar="FILE",
        type=Path,
        help="a subscription on each line, as JSON, with an id if you like",
    )
    add("--at", metavar="COMMIT", type=count, help="the graph of the lake after this commit (the last)")
    add("--out", metavar="DIR", type=Path, help="where matches go, as Parquet; without it, JSON lines on stdout")
    add("--checkpoint", metavar="DIR", type=Path, help="take files that come into the folder --events, each once")
    add("--follow", action="store_true", help="with --checkpoint: go on with what is to come, until Ctrl+C")
    add("--clusters", choices=("values", "everything"), help="match within topics only, and say what that loses")
    add("--taxonomy", metavar="FILE", type=Path, help="the topics: SKOS, or JSON of concepts (a built-in one)")
    add("--lenient", action="store_true", help="leave out events that cannot be read, and count them")
    add("--master", metavar="URL", help="where Spark runs: local[*], spark://HOST:PORT, yarn, k8s://…")
    add("--memory", metavar="SIZE", help="memory of Spark here and of each worker, as 4g (here: 2g)")
    add("--wait", metavar="SECONDS", type=seconds, default=10.0, help="how long the master may take to answer (10)")
    add("--quiet", "-q", action="store_true", help="say nothing of progress")


def is_bulk(arguments: Namespace) -> bool:
    return arguments.events is not None or arguments.subscriptions is not None


def run_bulk(arguments: Namespace) -> int:
    """Match the events with all subscriptions. Raises UsageError, and errors of files, lexicons and Spark."""
    for name in ("subscription", "mappings", "threshold", "floor", "scoring", "attribute_exponent"):
        if getattr(arguments, name) is not None:
            raise UsageError(f"{name.replace('_', ' ')}: in bulk, each line of --subscriptions says that for itself")
    if arguments.files or arguments.explain or arguments.all:
        raise UsageError("files, --explain and --all are for one subscription, not for --subscriptions")
    if arguments.events is None or arguments.subscriptions is None:
        raise UsageError("--events and --subscriptions go together")
    if arguments.checkpoint is not None and arguments.out is None:
        raise UsageError("a stream writes files: --checkpoint needs --out DIR")
    if arguments.follow and arguments.checkpoint is None:
        raise UsageError("--follow needs --checkpoint DIR")
    with needing("matching in bulk needs Spark", "spark"):
        import pyarrow  # noqa: F401
        import pyspark  # noqa: F401
    spec = _spec(arguments)
    tell_lacking(arguments)
    arguments.action = "bulk"
    with session_for(arguments, "match") as spark:
        if arguments.checkpoint is not None:
            _follow(spark, arguments, spec)
        else:
            _once(spark, arguments, spec)
    return 0


def tell_lacking(arguments: Namespace) -> None:
    """Warn of lexicons that are not installed, because matching then finds less."""
    backend = Backend(arguments.backend)
    if not arguments.quiet and (said := lacking(backend, arguments.wordnet, arguments.moby)) is not None:
        sys.stderr.write(f"tidings match: {said}\n")


def _once(spark: "SparkSession", arguments: Namespace, spec: "Spec") -> None:
    from tidings.spark.matching.job import matched

    events = _events(spark, arguments)
    with matched(events, spec, arguments.top) as found:
        if arguments.out is not None:
            found.frame.write.mode("overwrite").parquet(str(arguments.out.absolute()))
        else:
            write(_lines(found.frame), None)
        _tell(found.tally, arguments)


def _follow(spark: "SparkSession", arguments: Namespace, spec: "Spec") -> None:
    from tidings.spark.matching.job import follow

    if arguments.top is not None:
        raise UsageError("a stream has no best events, since more may come: --top does not go with --checkpoint")
    folder = str(Path(arguments.events).absolute())
    follow(
        spark, folder, spec, arguments.out, arguments.checkpoint, until_done=not arguments.follow,
        told=lambda number, tally: _tell(tally, arguments, f"batch {number}: "),
    )  # fmt: skip


def _events(spark: "SparkSession", arguments: Namespace) -> "DataFrame":
    from tidings.spark.matching.events import from_lake, from_lines, from_parquet

    path = Path(arguments.events)
    if (path / "lake.json").exists():
        return from_lake(spark, path, arguments.at)
    if arguments.at is not None:
        raise UsageError("--at goes with a lake")
    whole = str(path.absolute()) if "://" not in arguments.events else arguments.events
    if path.suffix == ".parquet" or any(path.glob("*.parquet")):
        return from_parquet(spark, whole)
    return from_lines(spark, whole)


def _lines(frame: "DataFrame") -> Iterator[bytes]:
    for row in frame.toLocalIterator():
        document = {
            "subscription": row["subscription"],
            "degree": round(row["degree"], 6),
            "event": msgspec.Raw(row["event"].encode()),
            "mappings": msgspec.Raw(row["mappings"].encode()),
        }
        yield msgspec.json.encode(document) + b"\n"


def _tell(tally: "Tally", arguments: Namespace, before: str = "") -> None:
    console = Console(stderr=True, quiet=arguments.quiet, highlight=False, soft_wrap=True)
    share = tally.looked_at / tally.pairs if tally.pairs else 0.0
    text = f"{before}{tally.events:,} events, {tally.pairs:,} pairs, {share:.2%} of them looked at"
    text += f", {tally.matches_kept:,} matches"
    if tally.unreadable:
        text += f"; {tally.unreadable:,} events could not be read"
    console.print(text, markup=False)
    if arguments.clusters is not None and tally.pairs:
        recall = tally.matches_kept / tally.matches if tally.matches else 1.0
        kept = f"the clusters keep {tally.kept / tally.pairs:.1%} of the pairs"
        console.print(f"{kept} and {recall:.1%} of {tally.matches:,} matches", markup=False)


# -- subscriptions ---------------------------------------------------------------------------------------------------


def _spec(arguments: Namespace) -> "Spec":
    from tidings.lexicons.taxonomies import read_taxonomy
    from tidings.spark.matching.worker import Spec

    if arguments.taxonomy is not None:
        if arguments.clusters is None:
            raise UsageError("--taxonomy is for --clusters")
        read_taxonomy(arguments.taxonomy)  # report an unreadable file before Spark starts
    return Spec(
        read_subscriptions(arguments.subscriptions),
        backend=arguments.backend,
        index=_absolute(arguments.index),
        wordnet=_absolute(arguments.wordnet),
        moby=_absolute(arguments.moby),
        clusters=arguments.clusters,
        taxonomy=_absolute(arguments.taxonomy),
        lenient=arguments.lenient,
    )


def read_subscriptions(path: Path) -> dict[str, Any]:
    """The subscriptions by their ids or line numbers. Raises BadRequest with the place of the fault."""
    found: dict[str, Any] = {}
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    key, document = _subscription(line.strip(), number, f"{path}:{number}")
                    if key in found:
                        raise BadRequest(f"{path}:{number}: the id {key!r} comes twice")
                    found[key] = document
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise BadRequest(f"{path} is not UTF-8: {error}") from error
    if not 1 <= len(found) <= _MOST:
        raise BadRequest(f"{path} has {len(found):,} subscriptions; 1 to {_MOST:,} can be matched at once")
    return found


def _subscription(line: str, number: int, place: str) -> tuple[str, Any]:
    try:
        try:
            document = msgspec.json.decode(line)
        except msgspec.DecodeError:
            return str(number), subscription_document(read_subscription(line))
        key = document.pop("id", number) if isinstance(document, dict) else number
        return str(key), subscription_document(subscription_of(document))
    except TidingsError as error:
        raise BadRequest(f"{place}: {error}") from error


def _absolute(path: Path | None) -> str | None:
    return None if path is None else str(path.absolute())
