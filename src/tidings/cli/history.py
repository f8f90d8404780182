"""`tidings history`: the lake of every change that was ever committed, on Spark, and the graph as it was."""

from argparse import Namespace
from collections.abc import Callable
from pathlib import Path

from tidings.cli import history_graph, history_ingest
from tidings.cli.arguments import Parser

DESCRIPTION = """\
Keep every change that was ever committed in a lake of Parquet files, and see the graph as it was at any time.

  ingest   take the commits of a log into the lake, each exactly once; go on where the last call left off
  as-of    print the graph after a commit or at an instant, as N-Quads, or make a data folder of it
  info     what the lake has

It runs on Spark: pip install 'tidings[spark]', and Java 17 or later."""
EXAMPLES = """\
examples:
  tidings history ingest --log tidings-data --lake lake
  tidings history ingest --log http://localhost:8000 --lake lake --follow
  tidings history as-of --lake lake --at 1000 --output then.nq
  tidings history as-of --lake lake --at 2026-11-15T09:00:00Z --data then && tidings serve --data then
  tidings history info --lake lake
"""
ACTIONS: dict[str, Callable[[Namespace], None]] = {
    "ingest": history_ingest.ingest,
    "as-of": history_graph.as_of,
    "info": history_graph.info,
}


def parser() -> Parser:
    result = Parser("tidings history", DESCRIPTION, EXAMPLES)
    result.add_argument("action", metavar="ACTION", choices=tuple(ACTIONS), help=f"one of {', '.join(ACTIONS)}")
    result.add_argument("--lake", metavar="DIR", type=Path, required=True, help="the lake; ingest makes it")
    result.add_argument("--at", metavar="COMMIT|INSTANT", help="1000, or 2026-11-15T09:00:00Z (the last commit)")
    result.add_argument("--output", "-o", metavar="FILE", help="where the output goes (stdout)")
    for part in (history_ingest, history_graph):
        part.arguments(result)
    result.add_argument("--master", metavar="URL", help="where Spark runs: local[*], spark://HOST:PORT, yarn, k8s://…")
    result.add_argument("--quiet", "-q", action="store_true", help="say nothing of progress")
    return result


def run(arguments: Namespace) -> int:
    try:
        import pyarrow  # noqa: F401
        import pyspark  # noqa: F401
    except ImportError as error:
        from tidings.pipeline.errors import SparkMissing

        raise SparkMissing(error) from error
    ACTIONS[arguments.action](arguments)
    return 0
