"""Whom the first start makes an administrator, so that there is somebody to let others in.

A file may grant `administer` to a client that nobody can register, or to a role that comes with no identity and no
provider: that client is made then, or one with that role. Nobody is made where somebody can come by themselves.
"""

from collections.abc import Iterable

from msgspec import Struct

from tidings.security.clients.client import identity
from tidings.security.clients.identities import Identities
from tidings.security.errors import NotAuthorizedIdentity
from tidings.security.policy.grants import Grant
from tidings.security.settings import SecuritySettings
from tidings.server.security.choices import ADMIN, needs_administrator

_NOTHING: frozenset[str] = frozenset()


class Founder(Struct, frozen=True):
    """A client that is to be made."""

    name: str
    roles: frozenset[str] = _NOTHING
    scopes: frozenset[str] = _NOTHING


def founder(chosen: SecuritySettings, grants: Iterable[Grant]) -> Founder | None:
    """Whom to make, where no client that is registered administers; None if somebody can come by themselves."""
    names = [grant.to for grant in grants if grant.administer]
    if not needs_administrator(chosen) and any(_can_come(name, chosen) for name in names):
        return None
    return next((found for found in map(_named, names) if found is not None), None)


def _can_come(to: str, chosen: SecuritySettings) -> bool:
    """Whether one whom a grant names can register, or come from a provider."""
    kind, _, name = to.partition(":")
    rules, providers = chosen.identity, chosen.provider
    match kind:
        case "client":
            return any(name.startswith(f"{each.name}:") for each in providers) or _may_register(name, chosen)
        case "role":
            of_providers = (rule.role for each in providers for rule in each.role)
            return name in of_providers or any(name in rule.roles for rule in rules)
        case "scope":
            return any(name in each.scopes for each in providers) or any(name in rule.scopes for rule in rules)
        case "authenticated":
            return bool(providers or rules)
        case _:
            return True


def _may_register(name: str, chosen: SecuritySettings) -> bool:
    try:
        Identities(chosen.identity).rule_for(identity(name))
    except NotAuthorizedIdentity:
        return False
    return True


def _named(to: str) -> Founder | None:
    """A client that a grant means; None if no client can have that name."""
    kind, _, name = to.partition(":")
    match kind:
        case "role":
            return Founder(ADMIN, roles=frozenset({name}))
        case "scope":
            return Founder(ADMIN, scopes=frozenset({name}))
        case "client":
            try:
                return Founder(identity(name))
            except NotAuthorizedIdentity:
                return None
        case _:
            return Founder(ADMIN)
