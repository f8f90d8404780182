"""`tidings agents`: lists the updates and queries of an application profile (JSAP), and runs one as an agent."""

import asyncio
import sys
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

from tidings.cli.commands.data.subscribe import add_following
from tidings.cli.input.addresses import http_of, trust_of, ws_of
from tidings.cli.input.arguments import Parser, UsageError, add_broker
from tidings.cli.input.binding import read_term
from tidings.cli.input.identity import given_at, shown_of
from tidings.cli.output.following import Wanted, follow
from tidings.cli.output.listing import show_list
from tidings.cli.output.names import Names, instant
from tidings.cli.output.paint import harmless
from tidings.cli.output.writing import write
from tidings.client.answers import Committed
from tidings.client.endpoint import Endpoint
from tidings.client.jsap.bindings import Bindable, ForcedBinding
from tidings.client.jsap.primitives import Primitive
from tidings.client.jsap.profile import Jsap, load
from tidings.client.login.credentials import Shown
from tidings.client.terms import from_term
from tidings.model.terms import iri

DESCRIPTION = """\
List the updates and queries of an application profile, with what can be bound in them and where they are sent; carry
out one of its updates as a producer does; or subscribe one of its queries as a consumer does."""
EXAMPLES = """\
examples:
  tidings agents chat.jsap
  tidings agents chat.jsap produce SEND message=chat:m1 sender=chat:alice text='Hello, world'
  tidings agents chat.jsap consume SENT --count 1
"""


def parser() -> Parser:
    result = Parser("tidings agents", DESCRIPTION, EXAMPLES)
    result.add_argument("profile", metavar="PROFILE", help="the profile, a JSAP file")
    result.add_argument("action", metavar="ACTION", nargs="?", default="list", choices=("list", "produce", "consume"),
                        help="list (the default), produce or consume")  # fmt: skip
    result.add_argument("name", metavar="NAME", nargs="?", help="the update to produce, or the query to consume")
    result.add_argument("values", metavar="VARIABLE=VALUE", nargs="*", help="values, as the profile declares them")
    add_broker(result, subscribes=True)
    add_following(result)
    return result


def run(arguments: Namespace) -> int:
    profile = load(Path(arguments.profile))
    if (arguments.action == "list") != (arguments.name is None):
        raise UsageError("say what to do with which: tidings agents PROFILE produce NAME, or consume NAME")
    match arguments.action:
        case "produce":
            return _produce(profile, profile.update(arguments.name), arguments)
        case "consume":
            return _consume(profile, profile.query(arguments.name), arguments)
        case _:
            return _list(profile)


# -- list -------------------------------------------------------------------------------------------------------


def _list(profile: Jsap) -> int:
    names = Names(profile.namespaces)
    found = (*profile.updates.values(), *profile.queries.values())
    if sys.stdout.isatty():
        write((f"{line}\n".encode() for each in found for line in _described(each, names)), None)
    else:
        show_list(("kind", "name", "bindings", "address", "text"), (_row(each, names) for each in found))
    return 0


def _row(primitive: Primitive, names: Names) -> tuple[str, ...]:
    bindings = ", ".join(f"?{name} {_declared(binding, names)}" for name, binding in primitive.bindings.items())
    return primitive.kind, primitive.name, bindings, _address(primitive), primitive.text


def _described(primitive: Primitive, names: Names) -> Iterator[str]:
    """A description in a few lines, without the prefixes of the profile."""
    yield harmless(f"{primitive.kind} {primitive.name}  {_address(primitive)}")
    for name, binding in primitive.bindings.items():
        yield harmless(f"  ?{name}  {_declared(binding, names)}")
    for line in primitive.text.splitlines():
        if not line.startswith("PREFIX "):
            yield harmless(f"  {line}")
    yield ""


def _address(primitive: Primitive) -> str:
    return primitive.http.url if primitive.kind == "update" else primitive.ws


def _declared(binding: ForcedBinding, names: Names) -> str:
    kind = f"@{binding.language}" if binding.language else names[iri(binding.datatype)] if binding.datatype else ""
    default = "" if binding.default is None else f" = {names[binding.default]}"
    return f"{kind or binding.type}{default}"


# -- agents -----------------------------------------------------------------------------------------------------


def _produce(profile: Jsap, update: Primitive, arguments: Namespace) -> int:
    if arguments.json or arguments.changes or arguments.count or arguments.span:
        raise UsageError("an update has no changes to be shown; --json, --changes, --count and --for are for consume")
    text = update.bind(_values(update, arguments))
    url = f"{http_of(arguments)}/update" if arguments.http else update.http.url
    shown = _shown(profile, url, arguments, elsewhere=bool(arguments.http))
    store = Endpoint(url, wait=arguments.wait, trust=trust_of(arguments), credentials=shown)
    done = asyncio.run(_send(store, text, update))
    if done is None:
        print("done")  # the endpoint is not a Tidings broker, and returns no commit
    else:
        print(f"commit {done.sequence:,}: added {done.added:,}, removed {done.removed:,}, {instant(done.time)}")
    return 0


async def _send(endpoint: Endpoint, text: str, update: Primitive) -> Committed | None:
    async with endpoint as store:
        dataset = update.dataset
        return await store.update(text, using_graphs=dataset.default, using_named_graphs=dataset.named)


def _consume(profile: Jsap, query: Primitive, arguments: Namespace) -> int:
    text = query.bind(_values(query, arguments))
    elsewhere = bool(arguments.ws or arguments.http)
    url = ws_of(arguments) if elsewhere else query.ws
    shown = _shown(profile, url, arguments, elsewhere=elsewhere)
    follow(Wanted(url, text, query.dataset.default, query.dataset.named, shown, profile.namespaces), arguments)
    return 0


def _shown(profile: Jsap, url: str, arguments: Namespace, *, elsewhere: bool) -> Shown | None:
    """The credentials to show. Those of the profile are only for its own broker; `elsewhere` means another one."""
    oauth = profile.oauth
    return shown_of(arguments, url) if elsewhere else oauth.shown_at(url, given_at(arguments, oauth.broker))


def _values(primitive: Primitive, arguments: Namespace) -> dict[str, Bindable]:
    """The values with the types that the profile declares; values of undeclared variables are in SPARQL syntax."""
    values: dict[str, Bindable] = {}
    for text in arguments.values:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise UsageError(f"{text!r} is not of the form VARIABLE=VALUE")
        if value.startswith("<") and value.endswith(">"):
            values[name] = from_term(read_term(value, {}))
        elif name in primitive.bindings or name not in primitive.variables:
            values[name] = value
        else:
            values[name] = from_term(read_term(value, dict(primitive.namespaces)))
    return values
