"""`tidings explain`: shows how the engine maintains the answer of a subscription."""

import time
from argparse import Namespace
from typing import Any
from urllib.parse import quote

import orjson

from tidings.cli.input.arguments import (
    Parser,
    UsageError,
    add_broker,
    add_data,
    add_here,
    add_text,
    is_here,
    only_here,
    read_text,
)
from tidings.cli.input.binding import add_bindings, bound_text
from tidings.cli.input.loading import base_of, load
from tidings.cli.output.paint import harmless
from tidings.cli.output.writing import write
from tidings.engine.engine import Engine
from tidings.engine.updates.executor import Core
from tidings.sparql.parser import parse_query

DESCRIPTION = """\
Print the plan of a subscription: the triple patterns that wake it up, and what is kept up to date by delta rules or
evaluated anew. A SPARQL 1.1 query is subscribed for it, on RDF files if --data names any, else at the broker; the name
of a subscription (urn:uuid:…, see tidings subscriptions) asks the broker about one that is running."""
EXAMPLES = """\
examples:
  tidings explain 'SELECT ?lamp WHERE { ?lamp <http://example.org/power> ?p FILTER(?p > 80) }'
  tidings explain --empty 'SELECT ?lamp WHERE { ?lamp <http://example.org/power> ?p }'
  tidings explain --data city.nt --file lamps.rq
  echo 'SELECT (COUNT(*) AS ?n) WHERE { ?s ?p ?o }' | tidings explain --json -
  tidings subscriptions | cut -f 1 | tail -n +2 | xargs -r -n 1 tidings explain
"""


def parser() -> Parser:
    result = Parser("tidings explain", DESCRIPTION, EXAMPLES)
    add_text(result, "query")
    add_bindings(result)
    add_broker(result, subscribes=True)
    add_data(result)
    add_here(result)
    result.add_argument("--json", action="store_true", help="print the plan as one JSON document")
    return result


def run(arguments: Namespace) -> int:
    text = read_text(arguments, "query")
    if is_spuid(text.strip()):
        if is_here(arguments) or arguments.bind:
            raise UsageError("a running subscription is the broker's; it takes neither data nor bindings")
        return _show_running(text.strip(), arguments)
    text = bound_text(text, arguments)
    base = base_of(arguments)
    parse_query(text, base)  # report a syntax error before anything else happens
    if not is_here(arguments):
        only_here(arguments, "data_format")
        return _show_tried(text, arguments)
    engine = Engine(Core(base=base))
    load(engine.core.store, arguments)
    subscription, _ = engine.subscribe(text, now=time.time_ns() // 1000)
    explained = engine.explain(subscription.id)
    _show(explained.to_json() if arguments.json else explained.to_text(), arguments)
    return 0


def is_spuid(text: str) -> bool:
    return text.startswith("urn:uuid:")


def _show(plan: Any, arguments: Namespace) -> None:
    if arguments.json:
        write([orjson.dumps(plan, option=orjson.OPT_APPEND_NEWLINE)], None)
    else:
        write([f"{harmless(line)}\n".encode() for line in plan.rstrip("\n").split("\n")], None)


def _show_running(spuid: str, arguments: Namespace) -> int:
    from tidings.cli.input.identity import calling

    path = f"/subscriptions/{quote(spuid, safe=':')}"
    with calling(arguments) as calls:
        if arguments.json:
            _show(calls.json(path)["explain"], arguments)
        else:
            with calls.streamed(path, accept="text/plain") as chunks:
                _show(b"".join(chunks).decode(), arguments)
    return 0


def _show_tried(text: str, arguments: Namespace) -> int:
    """Subscribe at the broker only to get the plan, and end the subscription."""
    from tidings.cli.input.addresses import trust_of, ws_of
    from tidings.cli.input.asking import based
    from tidings.cli.input.identity import shown_of
    from tidings.client import sync

    url = ws_of(arguments)
    with (
        sync.connect(
            url, wait=arguments.wait, trust=trust_of(arguments), credentials=shown_of(arguments, url)
        ) as broker,
        broker.subscribe(based(text, arguments)) as subscription,
    ):
        spuid = subscription.spuid
        assert spuid is not None
        return _show_running(spuid, arguments)
