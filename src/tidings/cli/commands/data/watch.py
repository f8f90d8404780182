"""`tidings watch`: subscriptions on files. Prints the notifications of each subscription after each update."""

import sys
import time
from argparse import Namespace

from tidings.cli.input.arguments import Parser, UsageError, add_data, pair
from tidings.cli.input.loading import base_of, load
from tidings.cli.input.requests import RequestFailed, opened, requests
from tidings.cli.output.complaint import warn
from tidings.cli.output.paint import wants_colour
from tidings.cli.output.telling import Json, Lines, Teller
from tidings.cli.output.writing import write
from tidings.engine.engine import Engine
from tidings.engine.timing import Timing
from tidings.engine.updates.executor import Core
from tidings.model.errors import TidingsError
from tidings.sparql.parser import parse_query

DESCRIPTION = """\
Subscribe SPARQL 1.1 queries on RDF files, print their first answers, then apply the requests of an updates file and
print after each commit exactly the rows that each subscription gains and loses. Requests are separated by lines that
consist of --- only; the first that fails ends the watch, and nothing of it is applied. The files stay as they are."""
EXAMPLES = """\
examples:
  tidings watch --data city.nt --updates lights-out.ru 'SELECT ?s WHERE { ?s ?p <http://tidings.example/lighting#ON> }'
  echo 'INSERT DATA { <a> <p> 1 , 2 }' | tidings watch --updates - 'SELECT * WHERE { ?s ?p ?o }' 'ASK { ?s ?p 1 }'
  printf 'INSERT DATA { <a> <p> 1 }\\n---\\nCLEAR ALL' | tidings watch --json --updates - 'SELECT * WHERE { ?s ?p ?o }'
  tidings watch --data city.nt --updates lights-out.ru --naive --timing 'SELECT (COUNT(*) AS ?n) WHERE { ?s ?p ?o }'
"""


def parser() -> Parser:
    result = Parser("tidings watch", DESCRIPTION, EXAMPLES)
    result.add_argument("queries", metavar="QUERY", nargs="+", help="a query to subscribe")
    result.add_argument(
        "--updates", "-u", metavar="FILE", required=True, help="update requests; `-` applies stdin's as they arrive"
    )
    add_data(result)
    result.add_argument("--naive", action="store_true", help="evaluate every query in full after every commit")
    group = result.add_argument_group("output")
    group.add_argument("--json", action="store_true", help="print a line of JSON for each answer and notification")
    group.add_argument("--timing", action="store_true", help="say at the end, on stderr, where the time went")
    return result


def run(arguments: Namespace) -> int:
    base = base_of(arguments)
    sources = [*arguments.data, *(pair(text)[1] for text in arguments.graph_data)]
    if arguments.updates == "-" and "-" in sources:
        raise UsageError("stdin cannot be both the data and the updates")
    for text in arguments.queries:
        warn(parse_query(text, base).warnings, quiet=arguments.quiet)  # report a syntax error before files are read
    clock = time.perf_counter if arguments.timing else None
    engine = Engine(Core(base=base), naive=arguments.naive, clock=clock)
    teller: Teller = Json() if arguments.json else Lines(colour=wants_colour(sys.stdout))
    with opened(arguments.updates) as lines:
        load(engine.core.store, arguments)
        for text in arguments.queries:
            subscription, answer = engine.subscribe(text, now=_now())
            write(teller.first(subscription, text, answer), None)
        for request in requests(lines):
            try:
                commit = engine.apply(request.text, now=_now())
            except TidingsError as error:
                located = request.located(error)
                raise RequestFailed(f"request {request.number}: {located}") from located
            write(teller.commit(request.number, commit), None)
    if arguments.timing:
        print(timing_text(engine.timing, len(engine.subscriptions)), file=sys.stderr)
    return 0


def _now() -> int:
    return time.time_ns() // 1000


def timing_text(timing: Timing, subscriptions: int) -> str:
    """The components and counters of the SPS paper, one on each line."""
    times = {
        "T_UPDATE": timing.update,
        "T_LUTT": timing.lutt,
        "T_BOOSTER": timing.booster,
        "T_NOTIFY": timing.notify,
    }
    counts = {
        "requests": timing.requests,
        "commits": timing.commits,
        "quads": timing.quads,
        "hits": timing.hits,
        "LHR": f"{timing.hit_rate(subscriptions):.1f} %",
        "notifications": timing.notifications,
    }
    shown = {name: f"{seconds * 1000:,.3f} ms" for name, seconds in times.items()}
    shown |= {name: count if isinstance(count, str) else f"{count:,}" for name, count in counts.items()}
    return "\n".join(f"{name:13} {value}" for name, value in shown.items())
