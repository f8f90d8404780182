"""`tidings keys`: lists and changes the keys with which a broker with security signs its tokens."""

from argparse import Namespace
from typing import Any
from urllib.parse import quote

from tidings.cli.input.arguments import Parser, UsageError, add_broker
from tidings.cli.input.identity import calling
from tidings.cli.output.listing import show_json, show_list, tell

DESCRIPTION = """\
See and change the keys that a broker with security signs its tokens with. The broker changes its key by itself, every
90 days unless the file of security says otherwise.

  list     the keys that count, oldest first (the default)
  rotate   sign with a new key; tokens of the keys before it count until they expire
  drop     somebody has found out a key: nothing that it signed counts any more, perhaps your own token included"""
EXAMPLES = """\
examples:
  tidings keys
  tidings keys rotate
  tidings keys drop "$(tidings keys | tail -n +2 | cut -f 1 | head -n 1)"
"""


def parser() -> Parser:
    result = Parser("tidings keys", DESCRIPTION, EXAMPLES)
    result.add_argument("action", metavar="ACTION", nargs="?", default="list", choices=("list", "rotate", "drop"),
                        help="list (the default), rotate or drop")  # fmt: skip
    result.add_argument("kid", metavar="KID", nargs="?", help="the key to drop: its name in the first column")
    add_broker(result)
    result.add_argument("--json", action="store_true", help="print JSON, a line for each")
    return result


def run(arguments: Namespace) -> int:
    if (arguments.action == "drop") != (arguments.kid is not None):
        raise UsageError("say which key to drop: tidings keys drop KID")
    with calling(arguments) as calls:
        match arguments.action:
            case "rotate":
                told = calls.json("/admin/keys", "POST")
                tell(told, f"the key {told['kid']} signs", json=arguments.json)
            case "drop":
                told = calls.json(f"/admin/keys/{quote(arguments.kid, safe='')}", "DELETE")
                tell(told, f"dropped the key {arguments.kid}, and everything it signed", json=arguments.json)
            case _:
                found = calls.json("/admin/keys")["keys"]
                if arguments.json:
                    show_json(found)
                else:
                    show_list(("kid", "algorithm", "since", "use"), map(_row, found))
    return 0


def _row(key: dict[str, Any]) -> tuple[str, ...]:
    return key["kid"], key["algorithm"], key["since"], "signs" if key["signs"] else "verifies"
