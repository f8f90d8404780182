"""Decides which client the first start registers as administrator, so that somebody can register others.

A file may grant `administer` to a client that nobody can register, or to a role that no identity and no provider has:
the first start then registers that client, or one with that role. It registers none if an administrator can register
or come from a provider.
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
    """A client to register as the first administrator."""

    name: str
    roles: frozenset[str] = _NOTHING
    scopes: frozenset[str] = _NOTHING


def founder(chosen: SecuritySettings, grants: Iterable[Grant]) -> Founder | None:
    """The client to register, if no registered client is an administrator; None if an administrator can register or
    come from a provider."""
    names = [grant.to for grant in grants if grant.administer]
    if not needs_administrator(chosen) and any(_can_come(name, chosen) for name in names):
        return None
    return next((found for found in map(_named, names) if found is not None), None)


def _can_come(to: str, chosen: SecuritySettings) -> bool:
    """Whether a client that a grant names can register, or come from a provider."""
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
    """A client to which a grant applies; None if no client can have that name."""
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
