"""One grant: to whom, and what they may do with which graphs. As an operator writes it, in TOML or JSON:

    to = "client:lamp-17"            also scope:…, role:…, anonymous, authenticated, everyone
    query = ["default", "http://example.org/city/*"]
    update = ["http://example.org/city/lamps"]
    subscribe = ["*"]                whoever may subscribe to a graph may query it
    administer = true

A graph is an IRI, an IRI that ends in `*` for all that begin so, `default` for the graph without a name, or `*`.
"""

from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import Struct

from tidings.model.access import Graphs, Rights
from tidings.model.formats.grammar import ABSOLUTE_IRI
from tidings.model.terms import DEFAULT_GRAPH, iri
from tidings.security.errors import BadPolicy
from tidings.security.passport import Passport

KINDS = ("client", "scope", "role")
GROUPS = ("anonymous", "authenticated", "everyone")
MOST_GRANTS = 10_000
_MOST_GRAPHS = 1_000


class Grant(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """As it is written; `check` says whether it makes sense."""

    to: str
    query: tuple[str, ...] = ()
    update: tuple[str, ...] = ()
    subscribe: tuple[str, ...] = ()
    administer: bool = False

    def check(self) -> None:
        """Raises BadPolicy, which says what is wrong and where in the grant."""
        kind, colon, name = self.to.partition(":")
        if not (self.to in GROUPS or (kind in KINDS and colon and name)):
            raise BadPolicy(f"to: {self.to!r} is none of client:NAME, scope:NAME, role:NAME, {', '.join(GROUPS)}")
        for member in ("query", "update", "subscribe"):
            texts = getattr(self, member)
            if len(texts) > _MOST_GRAPHS:
                raise BadPolicy(f"{member}: more than {_MOST_GRAPHS:,} graphs; a prefix stands for many")
            for number, text in enumerate(texts):
                _check_graph(f"{member}[{number}]", text)
        if not (self.query or self.update or self.subscribe or self.administer):
            raise BadPolicy("it grants nothing: query, update, subscribe and administer are missing")

    def rights(self) -> Rights:
        """What it grants, by itself."""
        subscribe = graphs(self.subscribe)
        return Rights(graphs(self.query) | subscribe, graphs(self.update), subscribe, self.administer)


def graphs(texts: Iterable[str]) -> Graphs:
    """Graphs as they are written, all of which make sense."""
    names: list[str] = []
    prefixes: list[str] = []
    for text in texts:
        if text == "*":
            return Graphs.ALL
        if text.endswith("*"):
            prefixes.append(text[:-1])
        else:
            names.append(DEFAULT_GRAPH if text == "default" else iri(text))
    return Graphs(names=frozenset(names), prefixes=tuple(prefixes))


def _check_graph(place: str, text: str) -> None:
    if text in ("*", "default"):
        return
    name = text.removesuffix("*")
    if "*" in name:
        raise BadPolicy(f"{place}: {text!r} has a * that is not at its end")
    if not ABSOLUTE_IRI.fullmatch(name):
        raise BadPolicy(f"{place}: {text!r} is no absolute IRI, IRI with * at its end, default or *")
    scheme, slashes, rest = name.partition("://")
    if text != name and slashes and "/" not in rest:
        raise BadPolicy(f"{place}: {text!r} would have other hosts that begin so; write {scheme}://{rest}/*")


def names_of(passport: Passport) -> tuple[str, ...]:
    """All that grants can call somebody by."""
    if passport.is_anonymous:
        return ("everyone", "anonymous")
    return (
        "everyone",
        "authenticated",
        f"client:{passport.client}",
        *(f"scope:{scope}" for scope in passport.scopes),
        *(f"role:{role}" for role in passport.roles),
    )


def read_grants(content: Any, place: str = "grant") -> tuple[Grant, ...]:
    """A list of grants, as TOML or JSON has it. Raises BadPolicy with the place of the mistake."""
    try:
        found = msgspec.convert(content, tuple[Grant, ...])
    except msgspec.ValidationError as error:
        raise BadPolicy(f"{place}: {_explained(error)}") from error
    if len(found) > MOST_GRANTS:
        raise BadPolicy(f"{place}: more than {MOST_GRANTS:,} grants")
    for number, grant in enumerate(found):
        try:
            grant.check()
        except BadPolicy as error:
            raise BadPolicy(f"{place}[{number}].{error}") from error
    return found


def _explained(error: msgspec.ValidationError) -> str:
    """`Expected … - at `$[0].to`` without the sign for the whole."""
    return str(error).replace("`$", "`")
