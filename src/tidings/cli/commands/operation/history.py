"""`tidings history`: builds and queries the history lake on Spark, which has all commits of a broker."""

from argparse import Namespace
from collections.abc import Callable
from pathlib import Path

from tidings.cli.history import analytics as history_analytics
from tidings.cli.history import answer as history_answer
from tidings.cli.history import graph as history_graph
from tidings.cli.history import ingest as history_ingest
from tidings.cli.history import query as history_query
from tidings.cli.input.arguments import Parser, UsageError, add_identity, seconds
from tidings.extras import needing

DESCRIPTION = """\
Keep every change that was ever committed in a lake of Parquet files, and see the graph as it was at any time.

  ingest   take the commits of a log into the lake, each exactly once; go on where the last call left off
  as-of    print the graph after a commit or at an instant, as N-Quads, or make a data folder of it
  query    ask SPARQL of the graph as it was, or when each row held between two instants
  info     what the lake has
  answer   what a broker with --lake runs: questions as lines of JSON on stdin, answers on stdout

  values   what subjects had for a predicate, and from when to when
  windows  mean, least, most and time-weighted mean of numbers, for every 15 minutes, say
  rates    how much changed, by predicate, graph or publisher
  churn    which subjects changed the most
  gaps     where nothing changed for longer than it should

It runs on Spark and Java 17 or later: pip install 'tidings[spark]', or scripts/setup spark in a clone."""
EXAMPLES = """\
examples:
  tidings history ingest --log tidings-data --lake lake
  tidings history ingest --log http://localhost:8000 --lake lake --follow
  tidings history as-of --lake lake --at 1000 --output then.nq
  tidings history as-of --lake lake --at 2026-11-15T09:00:00Z --data then
  tidings history query --lake lake --at 1000 'SELECT * { ?s ?p ?o } LIMIT 5'
  tidings history query --lake lake --graphs default --graphs 'http://example.org/city/*' 'ASK { ?s ?p ?o }'
  tidings history query --lake lake --between 2026-11-01T00:00:00Z 2026-12-01T00:00:00Z @lamps.rq --format json
  tidings history info --lake lake
  tidings history windows --lake lake --predicate http://example.org/temperature --every 15m --chart windows.svg
  tidings history gaps --lake lake --predicate http://example.org/temperature --longer-than 1h --output gaps.csv
  tidings history rates --lake lake --by publisher --every 1h --chart rates.png
"""
ACTIONS: dict[str, Callable[[Namespace], None]] = {
    "ingest": history_ingest.ingest,
    "as-of": history_graph.as_of,
    "query": history_query.query,
    "info": history_graph.info,
    "answer": history_answer.answer,
    "values": history_analytics.values,
    "windows": history_analytics.windows,
    "rates": history_analytics.rates,
    "churn": history_analytics.churn,
    "gaps": history_analytics.gaps,
}


def parser() -> Parser:
    result = Parser("tidings history", DESCRIPTION, EXAMPLES)
    result.add_argument("action", metavar="ACTION", choices=tuple(ACTIONS), help=f"one of {', '.join(ACTIONS)}")
    result.add_argument("--lake", metavar="DIR", type=Path, required=True, help="the lake; ingest makes it")
    result.add_argument("--at", metavar="COMMIT|INSTANT", help="1000, or 2026-11-15T09:00:00Z (the last commit)")
    result.add_argument("--between", metavar="INSTANT", nargs=2, help="from an instant, or a commit, to before another")
    result.add_argument(
        "--graphs",
        metavar="PATTERN",
        action="append",
        help="of these graphs only: an IRI, one that ends in * for all that begin so, default; may be given again",
    )
    result.add_argument(
        "--format", metavar="NAME", help="how an answer is written: table, json, xml, csv, tsv, parquet"
    )
    result.add_argument("--output", "-o", metavar="FILE", help="where the output goes (stdout)")
    for part in (history_ingest, history_graph, history_query, history_analytics):
        part.arguments(result)
    result.add_argument("--master", metavar="URL", help="where Spark runs: local[*], spark://HOST:PORT, yarn, k8s://…")
    result.add_argument("--memory", metavar="SIZE", help="memory of Spark here and of each worker, as 4g (here: 2g)")
    result.add_argument(
        "--wait", metavar="SECONDS", type=seconds, default=10.0, help="how long the master may take to answer (10)"
    )
    result.add_argument("--quiet", "-q", action="store_true", help="say nothing of progress")
    result.add_argument("--ca", metavar="FILE", help="authorities to trust over TLS (TIDINGS_CA, or the system's)")
    add_identity(result)
    return result


def run(arguments: Namespace) -> int:
    with needing("this needs Spark", "spark"):
        import pyarrow  # noqa: F401
        import pyspark  # noqa: F401
    if arguments.action != "query" and (arguments.text is not None or arguments.file is not None):
        raise UsageError(f"{arguments.action} takes no query")
    ACTIONS[arguments.action](arguments)
    return 0
