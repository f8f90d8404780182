"""`tidings delayed`: lists the delayed updates of a broker."""

import time
from argparse import Namespace
from typing import Any
from urllib.parse import quote

import orjson

from tidings.cli.input.arguments import Parser, UsageError, add_broker
from tidings.cli.input.identity import calling
from tidings.cli.output.amounts import duration
from tidings.cli.output.listing import show_list
from tidings.cli.output.writing import write

DESCRIPTION = """\
List the updates that wait for their time at the broker, the next one first, or cancel some of them. `tidings update`
with --at or --delay makes them."""
EXAMPLES = """\
examples:
  tidings delayed
  tidings delayed list --json
  tidings delayed | cut -f 1 | tail -n +2 | xargs -r tidings delayed cancel
"""


def parser() -> Parser:
    result = Parser("tidings delayed", DESCRIPTION, EXAMPLES)
    result.add_argument("action", metavar="ACTION", nargs="?", default="list", choices=("list", "cancel"),
                        help="list (the default), or cancel")  # fmt: skip
    result.add_argument("ids", metavar="ID", nargs="*", help="what to cancel: the names in the first column")
    add_broker(result)
    result.add_argument("--json", action="store_true", help="print a line of JSON for each")
    return result


def run(arguments: Namespace) -> int:
    if (arguments.action == "cancel") != bool(arguments.ids):
        raise UsageError("give the names of what to cancel: tidings delayed cancel ID")
    with calling(arguments) as calls:
        if arguments.action == "cancel":
            for name in arguments.ids:
                told = calls.json(f"/delayed/{quote(name, safe='')}", "DELETE")["cancelled"]
                print(f"cancelled {told['delayed']}, which was to happen at {told['at']}", flush=True)
            return 0
        found = calls.pages("/delayed", "delayed")
        if arguments.json:
            write((orjson.dumps(each, option=orjson.OPT_APPEND_NEWLINE) for each in found), None)
        else:
            show_list(("id", "at", "in", "update"), map(_row, found))
    return 0


def _row(each: dict[str, Any]) -> tuple[str, ...]:
    return each["delayed"], each["at"], duration(max(0.0, each["time"] / 1e6 - time.time())), each["sparql"]
