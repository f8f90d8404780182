"""Changes of clients, grants and keys by administrators at run time. Each is a fact, durable before it takes effect.

A change that would lock all administrators out is refused: afterwards there must still be one, either a registered
client, or the sender of the change if it comes from another issuer. Changes are made one after the other, so that two
of them cannot do together what neither may; and the sender must still be an administrator when its change has its turn.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from itertools import chain
from typing import TypeAlias

from msgspec.structs import replace

from tidings.model.errors import BadRequest
from tidings.security.authority import Authority
from tidings.security.clients.client import Client, identity
from tidings.security.clients.credentials import Registered
from tidings.security.errors import (
    BadPolicy,
    ClientExists,
    LastAdministrator,
    NotAuthorizedIdentity,
    TooManyKeys,
    UnknownGrants,
    UnknownKey,
)
from tidings.security.passport import Passport
from tidings.security.policy.grants import Grant, names_of
from tidings.security.policy.policies import part_name

MOST_KEYS = 32
"""That count at the same time: each is published, and looked through when it has to be found whether it is over."""

Asking: TypeAlias = Callable[[], Awaitable[Passport]]
"""Who asks, as of now. Raises what is wrong if they may not administer, or not any longer."""


class Administration:
    """What administrators may change."""

    def __init__(self, authority: Authority) -> None:
        self.authority = authority
        self._line = asyncio.Lock()

    @asynccontextmanager
    async def _turn_of(self, asking: Asking) -> AsyncIterator[Passport]:
        """Makes one change at a time."""
        async with self._line:
            yield await asking()

    # -- clients --------------------------------------------------------------------------------------------------

    async def enroll(self, asking: Asking, name: str, roles: frozenset[str], scopes: frozenset[str]) -> Registered:
        """A new client. Raises BadRequest, ClientExists, and as `Credentials.enroll`."""
        try:
            identity(name)
        except NotAuthorizedIdentity as error:
            raise BadRequest(f"client_id: {error}") from error
        async with self._turn_of(asking):
            try:
                return await self.authority.credentials.enroll(name, roles, scopes)
            except NotAuthorizedIdentity as error:
                raise ClientExists(f"there is a client {name} already") from error

    async def assign(self, asking: Asking, name: str, roles: frozenset[str], scopes: frozenset[str]) -> Client:
        """Give a client other roles and scopes. Raises UnknownClient, LastAdministrator."""
        credentials = self.authority.credentials
        async with self._turn_of(asking) as asker:
            changed = replace(credentials.known(name), roles=roles, scopes=scopes)
            self._check_remains(asker, chain([changed], self._clients_but(name)), self._grants())
            await credentials.assign(name, roles, scopes)
            return credentials.known(name)

    async def revoke(self, asking: Asking, name: str) -> None:
        """None of a client's tokens counts any more. Raises UnknownClient."""
        async with self._turn_of(asking):
            await self.authority.credentials.revoke(name)

    async def remove(self, asking: Asking, name: str) -> None:
        """Raises UnknownClient, LastAdministrator."""
        async with self._turn_of(asking) as asker:
            self.authority.credentials.known(name)
            self._check_remains(asker, self._clients_but(name), self._grants())
            await self.authority.credentials.remove(name)

    # -- grants ---------------------------------------------------------------------------------------------------

    async def grant(self, asking: Asking, part: str, grants: tuple[Grant, ...]) -> None:
        """Have these grants under a name, instead of those it has. Raises BadRequest, BadPolicy, SetByFile,
        LastAdministrator."""
        part_name(part)
        if not grants:
            raise BadPolicy("grants: there is none; DELETE removes those of a name")
        async with self._turn_of(asking) as asker:
            await self._replace(asker, part, grants)

    async def withdraw(self, asking: Asking, part: str) -> None:
        """Raises SetByFile, UnknownGrants, LastAdministrator."""
        part_name(part)
        async with self._turn_of(asking) as asker:
            if part not in self.authority.policies.parts:
                raise UnknownGrants(f"there are no grants under the name {part}")
            await self._replace(asker, part, ())

    async def _replace(self, asker: Passport, part: str, grants: tuple[Grant, ...]) -> None:
        self._check_remains(asker, self.authority.credentials, chain(grants, self._grants(without=part)))
        await self.authority.policies.replace(part, grants)

    # -- keys -----------------------------------------------------------------------------------------------------

    async def rotate(self, asking: Asking) -> str:
        """Have a new key sign; its name. Raises TooManyKeys, KeysUnusable."""
        async with self._turn_of(asking):
            if sum(1 for _ in self.authority.keys) >= MOST_KEYS:
                raise TooManyKeys(
                    f"{MOST_KEYS} keys count, the limit; those before the newest expire with their tokens"
                )
            return await self.authority.rotate()

    async def drop(self, asking: Asking, kid: str) -> None:
        """Nothing that a key has signed counts any more. Raises UnknownKey."""
        async with self._turn_of(asking):
            if all(key.kid != kid for key in self.authority.keys):
                raise UnknownKey(f"there is no key {kid[:100]!r}, or not any longer")
            await self.authority.drop(kid)

    # -- who remains ----------------------------------------------------------------------------------------------

    def is_in_hands(self) -> bool:
        """Whether a client that is registered may administer."""
        return _somebody_administers((each.passport() for each in self.authority.credentials), self._grants())

    def _grants(self, without: str | None = None) -> Iterable[Grant]:
        parts = self.authority.policies.parts.items()
        return (grant for name, grants in parts if name != without for grant in grants)

    def _clients_but(self, name: str) -> Iterable[Client]:
        return (client for client in self.authority.credentials if client.id != name)

    def _check_remains(self, asker: Passport, clients: Iterable[Client], grants: Iterable[Grant]) -> None:
        """Raise LastAdministrator unless there is an administrator among these clients, or the asker is one."""
        is_ours = asker.issuer == self.authority.issuer.expected.issuer
        outsiders = () if is_ours else (asker,)
        if not _somebody_administers(chain(outsiders, (client.passport() for client in clients)), grants):
            raise LastAdministrator("nobody could administer the broker any more; make somebody else an administrator")


def _somebody_administers(passports: Iterable[Passport], grants: Iterable[Grant]) -> bool:
    names = {grant.to for grant in grants if grant.administer}
    return any(not names.isdisjoint(names_of(passport)) for passport in passports)
