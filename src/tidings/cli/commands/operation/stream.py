"""`tidings stream`: runs subscriptions on Spark, more than one process can maintain, and reads their notifications."""

from argparse import ArgumentTypeError, Namespace
from collections.abc import Callable
from pathlib import Path

from tidings.cli.input.arguments import Parser, UsageError, add_identity, count, seconds, whole
from tidings.cli.stream import jobs as stream_jobs
from tidings.cli.stream import read as stream_read
from tidings.cli.stream import run as stream_run
from tidings.cli.stream import status as stream_status
from tidings.extras import needing

DESCRIPTION = """\
Run subscriptions on Spark, as many as its machines can bear, and read what they are told.

  subscriptions  follow a log, and tell every subscription what each commit changed for it, exactly once
  read           print what was told, as JSON lines
  status         how far the job is, how fast, how large, and which subscriptions give it the most to do
  replay         what would these subscriptions have been told? one job over a range of history
  rescale        more or fewer partitions for a job that is stopped

It runs on Spark and Java 17 or later: pip install 'tidings[spark]', or scripts/setup spark in a clone. read and
status need no Java."""
EXAMPLES = """\
examples:
  tidings stream subscriptions --log tidings-data --subscriptions wanted.jsonl --checkpoint check --out told --follow
  tidings stream read --out told --follow
  tidings stream status --checkpoint check --log tidings-data
  tidings stream replay --lake lake --subscriptions new.jsonl --out replayed --from 1000 --to 2000
  tidings stream rescale --checkpoint check --partitions 16
"""
ACTIONS: dict[str, Callable[[Namespace], None]] = {
    "subscriptions": stream_run.subscriptions,
    "read": stream_read.read,
    "status": stream_status.status,
    "replay": stream_jobs.replay,
    "rescale": stream_jobs.rescale,
}
TAKES: dict[str, tuple[set[str], set[str]]] = {
    "subscriptions": (
        {"log", "subscriptions", "checkpoint", "out"},
        {"lake", "follow", "begins", "batch", "together", "context", "partitions", "metrics"},
    ),
    "read": ({"out"}, {"follow", "spuid", "after"}),
    "status": ({"checkpoint"}, {"out", "log", "json"}),
    "replay": ({"subscriptions", "out"}, {"lake", "log", "begins", "to", "together", "context", "partitions"}),
    "rescale": ({"checkpoint", "partitions"}, set()),
}
"""The required and the optional arguments of each action."""
_NAMES = {"begins": "from"}


def parser() -> Parser:
    result = Parser("tidings stream", DESCRIPTION, EXAMPLES)
    add = result.add_argument
    add("action", metavar="ACTION", choices=tuple(ACTIONS), help=f"one of {', '.join(ACTIONS)}")
    add("--log", metavar="DIR|URL", help="the data folder of a broker, or its address")
    add("--lake", metavar="DIR", type=Path, help="a history lake of that log, for what was before")
    add("--subscriptions", metavar="FILE|URL", help="who wants what: JSON lines, or the address of a broker")
    add("--checkpoint", metavar="DIR", type=Path, help="where the job keeps its state; made if it is not there")
    add("--out", metavar="DIR", type=Path, help="where it writes what it tells; made if it is not there")
    add("--from", dest="begins", metavar="COMMIT", type=commit, help="begin after this commit (the last; replay: 0)")
    add("--to", metavar="COMMIT", type=commit, help="replay: end with this commit (the last)")
    add("--follow", action="store_true", help="go on with what is to come, until Ctrl+C")
    add("--after", metavar="BATCH", type=commit, help="read: what came after this batch")
    add("--spuid", metavar="SPUID", action="append", default=[], help="read: of this subscription; may be given again")
    add("--json", action="store_true", help="status: print it as one JSON document")
    add("--batch", metavar="N", type=count, help="the most commits of a batch (20000)")
    add("--together", metavar="N", type=count, help="the most subscriptions of one plan in a unit (64)")
    add("--context", metavar="N", type=count, help="the most quads that may concern a unit (1000000)")
    add("--partitions", metavar="N", type=count, help="over how many tasks units are spread (as many as cores)")
    add("--metrics", metavar="PORT", type=port, help="serve metrics for Prometheus on this port, here")
    add("--master", metavar="URL", help="where Spark runs: local[*], spark://HOST:PORT, yarn, k8s://…")
    add("--memory", metavar="SIZE", help="memory of Spark here and of each worker, as 4g (here: 2g)")
    add("--wait", metavar="SECONDS", type=seconds, default=10.0, help="how long the master may take to answer (10)")
    add("--quiet", "-q", action="store_true", help="say nothing of progress")
    result.add_argument("--ca", metavar="FILE", help="authorities to trust over TLS (TIDINGS_CA, or the system's)")
    add_identity(result)
    return result


def commit(text: str) -> int:
    if (value := whole(text)) >= 1 << 62:
        raise ArgumentTypeError(f"{text} is more than any number of a commit")
    return value


def port(text: str) -> int:
    if (value := whole(text)) >= 1 << 16:
        raise ArgumentTypeError(f"{text} is not a port between 0 and 65535")
    return value


def run(arguments: Namespace) -> int:
    with needing("this needs Spark", "spark"):
        import pyarrow  # noqa: F401
        import pyspark  # noqa: F401
    _check(arguments)
    ACTIONS[arguments.action](arguments)
    return 0


def _check(arguments: Namespace) -> None:
    """Raise UsageError for arguments that an action lacks or does not take."""
    needed, besides = TAKES[arguments.action]
    for name in {name for lists in TAKES.values() for each in lists for name in each}:
        given = getattr(arguments, name) not in (None, False, [])
        option = f"--{_NAMES.get(name, name)}"
        if name in needed and not given:
            raise UsageError(f"{arguments.action} needs {option} (see tidings stream --help)")
        if given and name not in needed | besides:
            raise UsageError(f"{arguments.action} has no use for {option}")
