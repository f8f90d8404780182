"""All grants: from passports to rights. The default is to deny, and grants only add rights."""

from typing import Any

import msgspec

from tidings.model.access import NO_RIGHTS, Rights
from tidings.security.passport import Passport
from tidings.security.policy.grants import Grant, names_of

REMEMBERED = 10_000


class Policy:
    """The rights from all grants. Equal rights are one object, so plans can be shared by comparing them quickly."""

    def __init__(self, grants: tuple[Grant, ...] = (), remembered: int = REMEMBERED) -> None:
        self.grants = grants
        self._most = remembered
        self._by_name: dict[str, Rights] = {}
        for grant in grants:
            self._by_name[grant.to] = self._by_name.get(grant.to, NO_RIGHTS) | grant.rights()
        self._known: dict[tuple[str, frozenset[str], frozenset[str]], Rights] = {}
        self._equal: dict[Rights, Rights] = {}

    @property
    def remembered(self) -> int:
        """For how many identities the rights are cached."""
        return len(self._known)

    def rights_of(self, passport: Passport) -> Rights:
        key = (passport.client if passport.subject else "", passport.scopes, passport.roles)
        known = self._known.get(key)
        if known is not None:
            return known
        rights = NO_RIGHTS
        for name in names_of(passport):
            granted = self._by_name.get(name)
            if granted is not None:
                rights = rights | granted
        if len(self._known) >= self._most:
            self._known.clear()
            self._equal.clear()
        rights = self._equal.setdefault(rights, rights)
        self._known[key] = rights
        return rights

    def to_json(self) -> list[dict[str, Any]]:
        return [msgspec.to_builtins(grant) for grant in self.grants]
