"""`tidings grants`: administers the rights of clients to graphs, while the broker runs."""

import sys
import tomllib
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec

from tidings.cli.input.arguments import Parser, UsageError, add_broker
from tidings.cli.input.identity import calling
from tidings.cli.output.grants import grant_rows
from tidings.cli.output.listing import show_json, show_list, tell
from tidings.client.errors import Refused
from tidings.client.http import HttpClient

DESCRIPTION = """\
See and change who may do what at a broker with security. Grants have a name, under which they are replaced and removed
together; those of the file of security have the name `file`, and are changed there.

  list     all grants, or those of a name (the default)
  set      the grants of a name, from a TOML file with tables [[grant]], as the file of security has them
  add      one grant to those of a name
  remove   all grants of a name

A graph is an IRI, an IRI that ends in * for all that begin so, default for the graph without a name, or * for all.
Changes hold at once: subscribers are told the rows that they may see now, or may not see any more."""
EXAMPLES = """\
examples:
  tidings grants add --name lamps --to role:lamps --query default --update 'http://example.org/lamps/*'
  tidings grants
  tidings grants set streets streets.toml
  tidings grants list streets --json
  tidings grants remove lamps
"""
NAME = "running"
_GRAPHS = ("query", "update", "subscribe")


def parser() -> Parser:
    result = Parser("tidings grants", DESCRIPTION, EXAMPLES)
    result.add_argument("action", metavar="ACTION", nargs="?", default="list", choices=tuple(ACTIONS),
                        help="list (the default), set, add or remove")  # fmt: skip
    result.add_argument("part", metavar="NAME", nargs="?", help="the name of the grants")
    result.add_argument("file", metavar="FILE", nargs="?", help="set: a TOML file with tables [[grant]]; `-` is stdin")
    group = result.add_argument_group("the grant to add")
    group.add_argument("--name", metavar="NAME", help=f"the name to add it to ({NAME})")
    group.add_argument(
        "--to", metavar="WHO", help="client:NAME, role:NAME, scope:NAME, anonymous, authenticated or everyone"
    )
    for member, what in zip(_GRAPHS, ("query", "update", "query and subscribe to"), strict=True):
        group.add_argument(f"--{member}", metavar="GRAPH", action="append", help=f"a graph to {what}; may be repeated")
    group.add_argument(
        "--administer", action="store_true", help="also let them see and change clients, grants and keys"
    )
    add_broker(result)
    result.add_argument("--json", action="store_true", help="print JSON, a line for each")
    return result


def run(arguments: Namespace) -> int:
    _check(arguments)
    with calling(arguments) as calls:
        ACTIONS[arguments.action](calls, arguments)
    return 0


def _check(arguments: Namespace) -> None:
    action = arguments.action
    one = any(getattr(arguments, member) for member in ("name", "to", *_GRAPHS, "administer"))
    if action == "add" and (arguments.to is None or arguments.file is not None or (arguments.part and arguments.name)):
        raise UsageError("say to whom, and what: tidings grants add --name NAME --to WHO --query GRAPH")
    if action != "add" and one:
        raise UsageError("--name, --to, --query, --update, --subscribe and --administer go with add")
    if action == "set" and arguments.file is None:
        raise UsageError("say under which name, and from where: tidings grants set NAME FILE")
    if action != "set" and arguments.file is not None:
        raise UsageError(f"{action} reads no file; set does")
    if action == "remove" and arguments.part is None:
        raise UsageError("say which grants: tidings grants remove NAME")


def _list(calls: HttpClient, arguments: Namespace) -> None:
    name = arguments.part
    parts = calls.json("/admin/grants")["grants"] if name is None else {name: calls.json(_path(name))["grants"]}
    if arguments.json:
        show_json({"name": part, **grant} for part, grants in parts.items() for grant in grants)
    else:
        show_list(*grant_rows(parts))


def _set(calls: HttpClient, arguments: Namespace) -> None:
    _put(calls, arguments, arguments.part, read_file(arguments.file))


def _add(calls: HttpClient, arguments: Namespace) -> None:
    from tidings.security.errors import BadPolicy
    from tidings.security.policy.grants import Grant, read_grants

    graphs = {member: tuple(getattr(arguments, member) or ()) for member in _GRAPHS}
    grant = Grant(arguments.to, **graphs, administer=arguments.administer)
    try:
        grant.check()
    except BadPolicy as error:
        raise UsageError(f"--{error}" if not str(error).startswith("it ") else str(error)) from error
    name = arguments.name or arguments.part or NAME
    others = [each for each in read_grants(_of(calls, name)) if each != grant]
    _put(calls, arguments, name, msgspec.to_builtins([*others, grant]))


def _remove(calls: HttpClient, arguments: Namespace) -> None:
    told = calls.json(_path(arguments.part), "DELETE")
    tell(told, f"removed the grants of {arguments.part}", json=arguments.json)


def _of(calls: HttpClient, name: str) -> list[dict[str, Any]]:
    """The grants under a name; none if the broker does not have the name yet."""
    try:
        found: list[dict[str, Any]] = calls.json(_path(name))["grants"]
    except Refused as error:
        if error.code != "unknown_grants":
            raise
        return []
    return found


def _put(calls: HttpClient, arguments: Namespace, name: str, grants: list[dict[str, Any]]) -> None:
    told = calls.json(_path(name), "PUT", document={"grants": grants})
    count = len(told["grants"])
    tell(told, f"{name} has {count:,} {'grant' if count == 1 else 'grants'}", json=arguments.json)


def read_file(path: str) -> list[dict[str, Any]]:
    """The grants in a file or from stdin. Raises UsageError, or BadPolicy with the place of the mistake."""
    from tidings.security.errors import BadPolicy
    from tidings.security.policy.grants import read_grants

    try:
        content = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
        tables = tomllib.loads(content.decode())
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: {error}") from error
    if set(tables) != {"grant"}:
        wrong = ", ".join(sorted(set(tables) - {"grant"}))
        raise UsageError(f"{path}: {f'it has {wrong} beside' if wrong else 'it has no'} tables [[grant]]")
    try:
        grants = read_grants(tables["grant"])
    except BadPolicy as error:
        raise BadPolicy(f"{path}: {error}") from error
    found: list[dict[str, Any]] = msgspec.to_builtins(grants)
    return found


def _path(name: str) -> str:
    return f"/admin/grants/{quote(name, safe='')}"


ACTIONS: dict[str, Callable[[HttpClient, Namespace], None]] = {
    "list": _list,
    "set": _set,
    "add": _add,
    "remove": _remove,
}
