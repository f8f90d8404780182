"""`tidings clients`: administers the clients of a broker with security, with their roles and scopes."""

import sys
from argparse import Namespace
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from tidings.cli.input.arguments import Parser, UsageError, add_broker
from tidings.cli.input.identity import calling
from tidings.cli.output.grants import grant_rows
from tidings.cli.output.listing import show_json, show_list, tell
from tidings.client.http import HttpClient

DESCRIPTION = """\
See and change the clients of a broker with security. Those who may do this have a grant with `administer`.

  list     all clients, with their roles and scopes (the default)
  show     one client, and what is granted to it
  add      a new client; its secret is printed, and never told again
  set      give a client other roles or scopes; those of which nothing is said stay
  revoke   none of the client's tokens counts any more; it can get new ones with its secret
  remove   neither its secret nor its tokens count any more

Changes hold at once, also for subscriptions that are open."""
EXAMPLES = """\
examples:
  tidings clients add lamp-7 --role lamps --scope read > lamp-7.secret
  tidings clients
  tidings clients show lamp-7
  tidings clients set lamp-7 --role lamps --role streets --no-scopes
  tidings clients revoke lamp-7
  tidings clients remove lamp-7
"""


def parser() -> Parser:
    result = Parser("tidings clients", DESCRIPTION, EXAMPLES)
    result.add_argument("action", metavar="ACTION", nargs="?", default="list", choices=tuple(ACTIONS),
                        help="list (the default), show, add, set, revoke or remove")  # fmt: skip
    result.add_argument("names", metavar="NAME", nargs="*", help="the client; revoke and remove take several")
    result.add_argument("--role", metavar="ROLE", action="append", help="a role of the client; may be repeated")
    result.add_argument("--scope", metavar="SCOPE", action="append", help="a scope of the client; may be repeated")
    result.add_argument("--no-roles", action="store_true", help="set: take all roles from it")
    result.add_argument("--no-scopes", action="store_true", help="set: take all scopes from it")
    add_broker(result)
    result.add_argument("--json", action="store_true", help="print JSON, a line for each")
    return result


def run(arguments: Namespace) -> int:
    _check(arguments)
    with calling(arguments) as calls:
        ACTIONS[arguments.action](calls, arguments)
    return 0


def _check(arguments: Namespace) -> None:
    action, names = arguments.action, arguments.names
    changes = bool(arguments.role or arguments.scope)
    removes = arguments.no_roles or arguments.no_scopes
    if action == "list" and names:
        raise UsageError(f"list takes no names; to see one client: tidings clients show {names[0]}")
    if action in ("add", "show", "set") and len(names) != 1:
        raise UsageError(f"say which client: tidings clients {action} NAME")
    if action in ("revoke", "remove") and not names:
        raise UsageError(f"say which clients: tidings clients {action} NAME")
    if changes and action not in ("add", "set"):
        raise UsageError("--role and --scope go with add and set")
    if removes and action != "set":
        raise UsageError("--no-roles and --no-scopes go with set")
    if (arguments.role and arguments.no_roles) or (arguments.scope and arguments.no_scopes):
        raise UsageError("give roles or take them all, not both; and so with scopes")
    if action == "set" and not (changes or removes):
        raise UsageError("say what to change: --role, --scope, --no-roles, --no-scopes")


def _list(calls: HttpClient, arguments: Namespace) -> None:
    found = calls.pages("/admin/clients", "clients")
    if arguments.json:
        show_json(found)
    else:
        show_list(("client", "roles", "scopes", "registered"), map(_row, found))


def _row(each: dict[str, Any]) -> tuple[str, ...]:
    return each["client_id"], " ".join(each["roles"]), " ".join(each["scopes"]), each["registered"]


def _show(calls: HttpClient, arguments: Namespace) -> None:
    found = calls.json(_path(arguments.names[0]))
    if arguments.json:
        show_json([found])
        return
    for member, value in zip(("client", "roles", "scopes", "registered"), _row(found), strict=True):
        print(f"{member:12}{value or '(none)'}", flush=True)
    print(f"{'granted':12}{'' if found['grants'] else 'nothing'}".rstrip(), flush=True)
    if found["grants"]:
        show_list(*grant_rows(found["grants"]))


def _add(calls: HttpClient, arguments: Namespace) -> None:
    wanted = {"client_id": arguments.names[0], "roles": arguments.role or [], "scopes": arguments.scope or []}
    made = calls.json("/admin/clients", "POST", document=wanted)
    if not arguments.json:
        print(f"{made['client_id']} was added; its secret, which is told only now:", file=sys.stderr, flush=True)
    tell(made, made["client_secret"], json=arguments.json)


def _set(calls: HttpClient, arguments: Namespace) -> None:
    path = _path(arguments.names[0])
    known = calls.json(path)
    wanted = {
        "roles": [] if arguments.no_roles else arguments.role or known["roles"],
        "scopes": [] if arguments.no_scopes else arguments.scope or known["scopes"],
    }
    has = calls.json(path, "PUT", document=wanted)
    roles, scopes = (" ".join(has[member]) or "(none)" for member in ("roles", "scopes"))
    tell(has, f"{has['client_id']} has the roles {roles} and the scopes {scopes}", json=arguments.json)


def _revoke(calls: HttpClient, arguments: Namespace) -> None:
    for name in arguments.names:
        told = calls.json(f"{_path(name)}/revoke", "POST")
        tell(told, f"revoked all tokens of {name}", json=arguments.json)


def _remove(calls: HttpClient, arguments: Namespace) -> None:
    for name in arguments.names:
        tell(calls.json(_path(name), "DELETE"), f"removed {name}", json=arguments.json)


def _path(name: str) -> str:
    return f"/admin/clients/{quote(name, safe='')}"


ACTIONS: dict[str, Callable[[HttpClient, Namespace], None]] = {
    "list": _list,
    "show": _show,
    "add": _add,
    "set": _set,
    "revoke": _revoke,
    "remove": _remove,
}
