"""`tidings subscriptions`: lists the subscriptions at a broker."""

from argparse import Namespace
from typing import Any

import orjson

from tidings.cli.input.arguments import Parser, add_broker
from tidings.cli.input.identity import calling
from tidings.cli.output.amounts import duration
from tidings.cli.output.listing import show_list
from tidings.cli.output.writing import write

DESCRIPTION = """\
List the subscriptions of the broker: the name by which `tidings explain` shows the plan, how many notifications there
were, whether the client is there or for how long it has been away, how the answer is kept and what its plan has cost
(seconds, which all who share the plan share), and the query."""
EXAMPLES = """\
examples:
  tidings subscriptions
  tidings subscriptions --json
"""


def parser() -> Parser:
    result = Parser("tidings subscriptions", DESCRIPTION, EXAMPLES)
    add_broker(result)
    result.add_argument("--json", action="store_true", help="print a line of JSON for each")
    return result


def run(arguments: Namespace) -> int:
    with calling(arguments) as calls:
        found = calls.pages("/subscriptions", "subscriptions")
        if arguments.json:
            write((orjson.dumps(each, option=orjson.OPT_APPEND_NEWLINE) for each in found), None)
        else:
            show_list(("spuid", "told", "client", "kept", "cost", "query"), map(_row, found))
    return 0


def _row(each: dict[str, Any]) -> tuple[str, ...]:
    client = "there" if each["connected"] else f"away {duration(each.get('away', 0))}"
    kept = "by delta rules" if each["incremental"] else "anew"
    cost = each.get("cost")
    spent = "" if cost is None else f"{cost['seconds'] + cost['aside']:.3g} s"
    return each["spuid"], f"{each['sequence']}", client, kept, spent, each["sparql"]
