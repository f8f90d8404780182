"""`tidings explain`: how a subscription would be kept up to date."""

import time
from argparse import Namespace

import orjson

from tidings.cli.arguments import Parser, add_data, add_text, read_text
from tidings.cli.loading import base_of, load
from tidings.cli.names import harmless
from tidings.cli.writing import write
from tidings.engine.core import Core
from tidings.engine.engine import Engine
from tidings.sparql.parser import parse_query

DESCRIPTION = """\
Subscribe a SPARQL 1.1 query and print its plan: the triple patterns that wake it up, and what is kept up to date by
delta rules or evaluated anew. Without data, the store is empty."""
EXAMPLES = """\
examples:
  tidings explain 'SELECT ?lamp WHERE { ?lamp <http://example.org/power> ?p FILTER(?p > 80) }'
  tidings explain --data city.nt --file lamps.rq
  echo 'SELECT (COUNT(*) AS ?n) WHERE { ?s ?p ?o }' | tidings explain --json -
"""


def parser() -> Parser:
    result = Parser("tidings explain", DESCRIPTION, EXAMPLES)
    add_text(result, "query")
    add_data(result)
    result.add_argument("--json", action="store_true", help="print the plan as one JSON document")
    return result


def run(arguments: Namespace) -> int:
    text = read_text(arguments, "query")
    base = base_of(arguments)
    parse_query(text, base)  # what is wrong is told before files are read
    engine = Engine(Core(base=base))
    load(engine.core.store, arguments)
    subscription, _ = engine.subscribe(text, now=time.time_ns() // 1000)
    explained = engine.explain(subscription.id)
    if arguments.json:
        write([orjson.dumps(explained.to_json(), option=orjson.OPT_APPEND_NEWLINE)], None)
    else:
        write([f"{harmless(line)}\n".encode() for line in explained.to_text().split("\n")], None)
    return 0
