"""An authority to test with: its ledger is a list, its time passes by hand, and its hashes cost next to nothing."""

from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from broker.making import Clock
from tidings.client.errors import CannotConnect
from tidings.protocol.entries import Note
from tidings.security.audit import Event
from tidings.security.authority import Authority
from tidings.security.clients.secrets import Cost
from tidings.security.keys.key_vault import MemoryVault, Vault
from tidings.security.ledger import Keeper
from tidings.security.oauth.requests import FORM, JSON, OAuthRequest
from tidings.security.settings import SecuritySettings, read_settings

ISSUER = "https://broker.example.org"
CHEAP = Cost(passes=1, kibibytes=8, lanes=1)
SETTINGS = """
issuer = "https://broker.example.org"
[tokens]
algorithm = "Ed25519"
[hashes]
passes = 1
kibibytes = 8
lanes = 1
[[identity]]
identity = "lamp-*"
roles = ["lamps"]
scopes = ["read", "write"]
[[identity]]
identity = "operator"
roles = ["operators"]
"""


class Pages:
    """A ledger in memory: what was written, and the keepers to whom it was told."""

    def __init__(self) -> None:
        self.written: list[Note] = []
        self._keepers: dict[str, Keeper] = {}
        self.full = False

    def keep(self, kinds: tuple[str, ...], keeper: Keeper) -> None:
        for kind in kinds:
            self._keepers[kind] = keeper

    async def write(self, *notes: Note) -> None:
        if self.full:
            raise CannotConnect("the disk is full")
        for note in notes:
            self.written.append(copied(note))
            self._keepers[note.kind].restore(copied(note))

    def replay(self, notes: list[Note]) -> None:
        for note in notes:
            self._keepers[note.kind].restore(copied(note))


def copied(note: Note) -> Note:
    """As it comes back from a disk."""
    return msgspec.json.decode(msgspec.json.encode(note), type=Note)


async def nowhere(url: str) -> Any:
    raise CannotConnect(f"nobody answers at {url}")


def settings(text: str = SETTINGS, **changes: Any) -> SecuritySettings:
    return msgspec.structs.replace(read_settings(text), **changes)


class House:
    """An authority, and everything that it was given."""

    def __init__(
        self, chosen: SecuritySettings, clock: Clock, vault: Vault | None = None, fetch: Any = nowhere
    ) -> None:
        self.clock = clock
        self.pages = Pages()
        self.vault = vault or MemoryVault()
        self.events: list[Event] = []
        self.authority = Authority(
            chosen,
            self.pages,
            self.vault,
            fetch,
            clock=clock.now,
            monotonic=clock.monotonic,
            audit=self.events.append,
        )
        for kinds, keeper in self.authority.keepers():
            self.pages.keep(kinds, keeper)

    async def register(self, name: str = "lamp-1") -> str:
        """The secret of a new client."""
        answer = await self.authority.server.register(registration(name))
        assert answer.status == 201
        secret = answer.content["credentials"]["client_secret"]
        assert isinstance(secret, str)
        return secret

    async def token(self, name: str, secret: str) -> str:
        answer = await self.authority.server.token(login(name, secret))
        assert answer.status == 201
        token = answer.content["access_token"]
        assert isinstance(token, str)
        return token

    async def newcomer(self, name: str = "lamp-1") -> str:
        """The token of a new client."""
        return await self.token(name, await self.register(name))


@asynccontextmanager
async def authority(clock: Clock, chosen: SecuritySettings | None = None, **given: Any) -> AsyncIterator[House]:
    house = House(chosen or settings(), clock, **given)
    await house.authority.begin()
    try:
        yield house
    finally:
        house.authority.close()


# -- requests ---------------------------------------------------------------------------------------------------


def registration(name: object, **changes: Any) -> OAuthRequest:
    body = msgspec.json.encode({"register": {"client_identity": name, "grant_types": ["client_credentials"]}})
    return msgspec.structs.replace(OAuthRequest(body, JSON, JSON, None, "192.0.2.1"), **changes)


def basic(name: str, secret: str) -> str:
    return "Basic " + b64encode(f"{name}:{secret}".encode()).decode()


def login(name: str, secret: str, **changes: Any) -> OAuthRequest:
    """As existing clients ask for a token."""
    return msgspec.structs.replace(OAuthRequest(b"", JSON, JSON, basic(name, secret), "192.0.2.1"), **changes)


def form(body: str, authorization: str | None = None, **changes: Any) -> OAuthRequest:
    """As RFC 6749 says."""
    return msgspec.structs.replace(OAuthRequest(body.encode(), FORM, "", authorization, "192.0.2.1"), **changes)
