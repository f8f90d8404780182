"""One grant: to whom, and what they may do with which graphs. As an operator writes it, in TOML or JSON:

    to = "client:lamp-17"            also scope:…, role:…, anonymous, authenticated, everyone
    query = ["default", "http://example.org/city/*"]
    update = ["http://example.org/city/lamps"]
    subscribe = ["*"]                whoever may subscribe to a graph may query it
    administer = true

Graphs are written as in `model/graph_patterns.py`.
"""

from functools import lru_cache
from typing import Any

import msgspec
from msgspec import Struct

from tidings.model.access import Rights
from tidings.model.graph_patterns import graphs, wrong_with
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
                if wrong := wrong_with(text):
                    raise BadPolicy(f"{member}[{number}]: {wrong}")
        if not (self.query or self.update or self.subscribe or self.administer):
            raise BadPolicy("it grants nothing: query, update, subscribe and administer are missing")

    def rights(self) -> Rights:
        """What it grants, by itself."""
        return _rights(self)


@lru_cache(maxsize=20_000)
def _rights(grant: Grant) -> Rights:
    """All grants are read again whenever one changes."""
    subscribe = graphs(grant.subscribe)
    return Rights(graphs(grant.query) | subscribe, graphs(grant.update), subscribe, grant.administer)


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
