"""All clients, durable: registered, changed, revoked, removed.

    client_registered   the client, with the hash of its secret
    client_changed      id, roles, scopes: those it has from now on
    client_revoked      id, generation: its tokens of older generations do not count any more
    client_removed      id: neither its secret nor its tokens count; somebody else may have the identity

An identity that is taken is refused, and not given a new secret: whoever knows a name would otherwise have its rights.
"""

from collections.abc import Callable, Iterable, Iterator

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from tidings.protocol.entries import Note
from tidings.security.clients.client import Client, identity
from tidings.security.clients.identities import Identities
from tidings.security.clients.secrets import LONGEST_SECRET, Secrets
from tidings.security.errors import NotAuthorizedIdentity, TooManyClients, UnauthorizedClient, UnknownClient
from tidings.security.ledger import Ledger


class Registered(Struct, frozen=True):
    """A new client and its secret, which is shown only once."""

    client: Client
    secret: str

    def __repr__(self) -> str:
        return f"Registered({self.client!r})"


class _Fact(Struct):
    id: str
    generation: int = 0
    roles: frozenset[str] = frozenset()
    scopes: frozenset[str] = frozenset()


class Credentials:
    """`clock` tells microseconds since 1970; there are `most` clients at most."""

    KINDS = ("client_registered", "client_changed", "client_revoked", "client_removed")

    def __init__(
        self, identities: Identities, secrets: Secrets, ledger: Ledger, clock: Callable[[], int], most: int = 100_000
    ) -> None:
        self._identities = identities
        self._secrets = secrets
        self._ledger = ledger
        self._clock = clock
        self._most = most
        self._clients: dict[str, Client] = {}
        self._reserved: set[str] = set()
        """Identities whose registration is on its way to the disk."""
        self.changed: Callable[[], None] = lambda: None
        """Called when tokens of a client no longer count."""

    def __len__(self) -> int:
        return len(self._clients)

    def __iter__(self) -> Iterator[Client]:
        return iter(self._clients.values())

    def find(self, name: str) -> Client | None:
        return self._clients.get(name)

    async def register(self, name: object) -> Registered:
        """A client of a new identity that may register. Raises as `enroll`, and NotAuthorizedIdentity."""
        rule = self._identities.rule_for(identity(name))
        return await self.enroll(name, frozenset(rule.roles), frozenset(rule.scopes))

    async def enroll(
        self,
        name: object,
        roles: frozenset[str],
        scopes: frozenset[str],
        before: Callable[[str], None] = lambda _: None,
    ) -> Registered:
        """A client of a new identity, which an operator has chosen; `before` is told its secret before it counts.
        Raises NotAuthorizedIdentity if it is taken, TooManyClients, TooManyAttempts, or that the fact cannot be
        written."""
        wanted = identity(name)
        if wanted in self._clients or wanted in self._reserved:
            raise NotAuthorizedIdentity(f"the identity {wanted} is registered already; an operator can remove it")
        if len(self._clients) + len(self._reserved) >= self._most:
            raise TooManyClients(f"{self._most:,} clients are registered, the limit")
        self._reserved.add(wanted)
        try:
            secret = self._secrets.generate()
            known, now = await self._secrets.hash(secret), self._clock()
            client = Client(wanted, known, now, now, roles, scopes)
            before(secret)
            await self._ledger.write(_registration(client))
        finally:
            self._reserved.discard(wanted)
        return Registered(client, secret)

    async def authenticate(self, name: str, secret: str) -> Client:
        """The client whose secret this is. Raises UnauthorizedClient, TooManyAttempts."""
        client = self._clients.get(name)
        fits = await self._secrets.fits(None if client is None else client.hash, secret)
        client = self._clients.get(name)  # it may have been removed meanwhile
        if not fits or client is None or len(secret) > LONGEST_SECRET:
            raise UnauthorizedClient("the client is not known, or its secret is wrong")
        return client

    async def assign(self, name: str, roles: frozenset[str], scopes: frozenset[str]) -> None:
        """Give a client these roles and scopes instead of those it has; its tokens follow. Raises UnknownClient."""
        content = {"id": self.known(name).id, "roles": sorted(roles), "scopes": sorted(scopes)}
        await self._ledger.write(Note("client_changed", content))

    async def revoke(self, name: str) -> None:
        """None of the client's tokens counts any more; it can ask for new ones. Raises UnknownClient."""
        client = self.known(name)
        generation = max(self._clock(), client.generation + 1)
        await self._ledger.write(Note("client_revoked", {"id": name, "generation": generation}))

    async def remove(self, name: str) -> None:
        """Raises UnknownClient."""
        await self._ledger.write(Note("client_removed", {"id": self.known(name).id}))

    def known(self, name: str) -> Client:
        """Raises UnknownClient."""
        client = self._clients.get(name)
        if client is None:
            raise UnknownClient(f"there is no client {name[:128]!r}")
        return client

    # -- the ledger ---------------------------------------------------------------------------------------------

    def restore(self, note: Note) -> None:
        if note.kind == "client_registered":
            registered = msgspec.convert(note.content, Client)
            self._clients[registered.id] = registered
            return
        fact = msgspec.convert(note.content, _Fact)
        client = self._clients.get(fact.id)
        if client is not None and note.kind == "client_changed":
            self._clients[fact.id] = replace(client, roles=fact.roles, scopes=fact.scopes)
        elif client is not None and note.kind == "client_revoked":
            self._clients[fact.id] = replace(client, generation=fact.generation)
        elif note.kind == "client_removed":
            self._clients.pop(fact.id, None)
        self.changed()

    def notes(self) -> Iterable[Note]:
        return map(_registration, self._clients.values())


def _registration(client: Client) -> Note:
    content = msgspec.to_builtins(client)
    content["roles"], content["scopes"] = sorted(client.roles), sorted(client.scopes)
    return Note("client_registered", content)
