"""`tidings reconcile`: compares a broker with its endpoint, and makes both equal."""

from argparse import Namespace
from typing import Any

import orjson

from tidings.cli.input.arguments import Parser, add_broker
from tidings.cli.input.identity import calling
from tidings.cli.output.writing import write
from tidings.client.errors import NotUnderstood

DESCRIPTION = """\
Compare the broker with the endpoint behind it: by counts and digests of each predicate first, then only what differs.
What others changed in the endpoint becomes one commit, so that subscribers are told. The exit code is 1 if nobody
answers, and 0 also if the two differed."""
EXAMPLES = """\
examples:
  tidings reconcile --dry-run
  tidings reconcile
  tidings reconcile --right broker
"""


def parser() -> Parser:
    result = Parser("tidings reconcile", DESCRIPTION, EXAMPLES)
    add_broker(result)
    result.add_argument("--right", metavar="SIDE", choices=("endpoint", "broker"), default="endpoint",
                        help="which is right where they differ: endpoint (the default), or broker")  # fmt: skip
    result.add_argument("--dry-run", action="store_true", help="say what differs, and change nothing")
    result.add_argument("--json", action="store_true", help="print it as one JSON document")
    return result


def run(arguments: Namespace) -> int:
    asked = {"right": arguments.right, "dry": "true" if arguments.dry_run else "false"}
    with calling(arguments, endless=True) as calls:
        found = calls.json("/reconcile", "POST", params=asked)
    if arguments.json:
        write([orjson.dumps(found, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)], None)
        return 0
    try:
        write([f"{line}\n".encode() for line in _lines(found, arguments)], None)
    except (KeyError, TypeError) as error:
        raise NotUnderstood(f"the broker is of another version: its answer lacks {error}") from error
    return 0


def _lines(found: dict[str, Any], arguments: Namespace) -> list[str]:
    added, removed, rewritten = found["added"], found["removed"], found["rewritten"]
    lines = ["the endpoint and the broker agree"]
    if added or removed:
        lines = [f"the endpoint has {added:,} quads that the broker lacks, and lacks {removed:,} that the broker has"]
        if arguments.dry_run:
            lines.append("nothing was changed")
        elif arguments.right == "broker":
            lines.append("the endpoint has been given what the broker has")
        else:
            lines.append(f"the broker has what the endpoint has, by commit {found['commit']:,}")
    if rewritten:
        lines.append(f"the endpoint spells {rewritten:,} literals otherwise than they were published")
    return lines
