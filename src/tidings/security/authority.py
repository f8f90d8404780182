"""THE STORY of security: identifies a client, and looks up its rights.

    Authorization header -> identify -> Passport -> rights_of -> Rights, which the gate passes to the broker

Everything that must survive a crash is a fact in the ledger, which is written first, and takes effect once it is
durable. So the state of the authority is always that of its ledger, also after a restart.
"""

import asyncio
from collections.abc import Callable, Iterable
from pathlib import Path

from tidings.model.access import Rights
from tidings.protocol.entries import Note
from tidings.security.audit import Audit, Event, no_audit
from tidings.security.clients.credentials import Credentials
from tidings.security.clients.identities import Identities
from tidings.security.clients.secrets import Secrets
from tidings.security.issuers.fetching import Fetch
from tidings.security.issuers.provider import Provider
from tidings.security.keys.key_ring import KeyRing
from tidings.security.keys.key_vault import FolderVault, MemoryVault, Vault
from tidings.security.keys.signing_key import SigningKey
from tidings.security.ledger import Keeper, Ledger
from tidings.security.limits import Limiter
from tidings.security.oauth.server import AuthorisationServer
from tidings.security.passport import ANONYMOUS, Passport
from tidings.security.policy.policies import FILE, Policies
from tidings.security.settings import SecuritySettings
from tidings.security.tokens.claims import MICROS, Expected
from tidings.security.tokens.issuing import TYPE, OwnIssuer
from tidings.security.tokens.revocation import Revocations
from tidings.security.tokens.verification import Verification, bearer


class Authority:
    """`clock` tells microseconds since 1970, `monotonic` counts seconds. The ledger has to know its keepers before
    `begin` is called."""

    def __init__(
        self,
        settings: SecuritySettings,
        ledger: Ledger,
        vault: Vault,
        fetch: Fetch,
        *,
        clock: Callable[[], int],
        monotonic: Callable[[], float],
        audit: Audit = no_audit,
    ) -> None:
        self._settings = settings
        self._ledger = ledger
        self._vault = vault
        self._clock = clock
        self._audit = audit
        tokens, leeway = settings.tokens, round(settings.tokens.leeway * MICROS)
        self._secrets = Secrets(settings.hashes)
        self.keys = KeyRing(vault, clock, tokens.seconds * MICROS + leeway)
        self.revocations = Revocations(clock, leeway)
        self.policies = Policies(ledger)
        self.credentials = Credentials(
            Identities(settings.identity), self._secrets, ledger, clock, most=settings.clients
        )
        expected = Expected(settings.issuer, settings.audience or settings.issuer, frozenset({TYPE}), leeway)
        self.issuer = own = OwnIssuer(
            expected, self.keys, self.revocations, self.credentials.find, clock, tokens.seconds
        )
        providers = [Provider(each, fetch, monotonic, tokens.leeway) for each in settings.provider]
        self.verification = Verification((own, *providers), clock, tokens.remembered)
        self.followers: set[Callable[[], None]] = set()
        """Called when identities or rights of clients may have changed, so that they must be identified anew."""
        self.keys.changed = self.revocations.changed = self.credentials.changed = self._forget
        self.policies.changed = self._tell
        self.server = AuthorisationServer(
            self.credentials,
            self.keys,
            own,
            self.verification,
            ledger,
            by_address=Limiter(settings.logins.by_address, monotonic),
            by_client=Limiter(settings.logins.by_client, monotonic),
            audit=audit,
        )

    def keepers(self) -> Iterable[tuple[tuple[str, ...], Keeper]]:
        """Who remembers facts of which kinds."""
        for keeper in (self.keys, self.revocations, self.policies, self.credentials):
            yield keeper.KINDS, keeper

    async def begin(self) -> None:
        """Have a key, and the policy of the file. Raises KeysUnusable, or that a fact cannot be written."""
        await self.tidy()
        await self.policies.replace(FILE, self._settings.grant)

    def close(self) -> None:
        self._secrets.close()

    def _forget(self) -> None:
        self.verification.forget()
        self._tell()

    def _tell(self) -> None:
        for follower in tuple(self.followers):
            follower()

    # -- identities and rights ------------------------------------------------------------------------------------

    def recall(self, authorization: str | None) -> Passport | None:
        """As `identify`, for every message; None if the token has to be verified first, which may take long."""
        if authorization is None:
            return ANONYMOUS
        return self.verification.recall(bearer(authorization))

    async def identify(self, authorization: str | None) -> Passport:
        """The identity of a client with this Authorization header, or without one. Raises what is wrong with it."""
        return await self.verification.identify(authorization)

    def rights_of(self, passport: Passport) -> Rights:
        return self.policies.rights_of(passport)

    # -- keys -----------------------------------------------------------------------------------------------------

    async def tidy(self) -> None:
        """Periodic work: rotate the key when due, and remove keys whose tokens have expired. Raises KeysUnusable."""
        age = self._clock() - self.keys.since
        if self.keys.signing is None or age >= self._settings.tokens.rotate * MICROS:
            await self.rotate()
        for kid in self.keys.expired():
            self.keys.forget(kid)

    async def rotate(self) -> str:
        """Sign with a new key. Older keys verify tokens until these have expired. Raises KeysUnusable."""
        key = await asyncio.to_thread(SigningKey.generate, self._settings.tokens.algorithm)
        await asyncio.to_thread(self._vault.store, key)
        await self._ledger.write(self.keys.addition(key))
        self._audit(Event(what="rotate", target=key.kid))
        return key.kid

    async def drop(self, kid: str) -> None:
        """Remove a compromised key: no token that it signed is valid any more. If it was the newest, make another."""
        await self._ledger.write(Note("key_dropped", {"kid": kid}))
        self._vault.forget(kid)
        self._audit(Event(what="drop", target=kid[:128]))
        await self.tidy()


def vault_of(folder: Path | None) -> Vault:
    """Where a broker with this data folder keeps its private keys."""
    return MemoryVault() if folder is None else FolderVault(folder)
