"""An OpenID Connect provider: caches and refreshes its keys, and translates the claims of its tokens.

For an unknown key, the keys are fetched, but at most once in `interval` seconds, so that tokens with invented key names
do not cause a flood of requests. Keys are fetched anew after `fresh` seconds, so that a withdrawn key ends here, too.
If the provider is away then, the known keys stay valid for `absence` seconds.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct

from tidings.model.errors import TidingsError
from tidings.security.errors import InvalidGrant, IssuerUnreachable
from tidings.security.issuers.fetching import Fetch
from tidings.security.keys.signing_key import VerifyingKey, read_public
from tidings.security.passport import Passport
from tidings.security.tokens.claims import MICROS, Expected, check_claims, check_type, scopes_claim, text_claim
from tidings.security.tokens.compact import Unverified

log = logging.getLogger("tidings")

_TYPES = frozenset({"", "jwt", "at+jwt"})
_MOST_KEYS = 100
_MOST_ROLES = 1_000
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class RoleRule(Struct, frozen=True, forbid_unknown_fields=True):
    """A role that comes with a value of a claim. `claim` is a name, or the names on the way to an inner one."""

    claim: str | tuple[str, ...]
    value: str
    role: str

    def fits(self, claims: dict[str, Any]) -> bool:
        found: Any = claims
        for name in (self.claim,) if isinstance(self.claim, str) else self.claim:
            found = found.get(name) if isinstance(found, dict) else None
        if isinstance(found, str):
            return self.value == found or self.value in found.split()
        return isinstance(found, list) and len(found) <= _MOST_ROLES and self.value in found


class ProviderSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """What an operator says about a provider. Times are seconds."""

    name: str
    """What its clients are called by in policies: NAME:CLIENT."""
    issuer: str
    audience: str
    jwks: str | None = None
    """Where its keys are, if its discovery document is not to be asked."""
    scopes: tuple[str, ...] = ()
    """Scopes of its tokens that count here."""
    role: tuple[RoleRule, ...] = ()
    fresh: float = 3600.0
    interval: float = 10.0
    absence: float = 24 * 3600.0


class Provider:
    """An issuer that `Verification` can ask. `monotonic` counts seconds; `leeway` is seconds, too."""

    def __init__(
        self, settings: ProviderSettings, fetch: Fetch, monotonic: Callable[[], float], leeway: float = 30.0
    ) -> None:
        self._settings = settings
        self._fetch = fetch
        self._monotonic = monotonic
        self.expected = Expected(settings.issuer, settings.audience, _TYPES, round(leeway * MICROS))
        self._keys: dict[str, VerifyingKey] = {}
        self._fetched: float | None = None
        self._attempted: float | None = None
        self._refreshing = asyncio.Lock()

    # -- keys -----------------------------------------------------------------------------------------------------

    def key(self, kid: str) -> VerifyingKey | None:
        key, now = self._known(kid), self._monotonic()
        if key is None or self._fetched is None or now - self._fetched > self._settings.absence:
            return None
        return None if now - self._fetched > self._settings.fresh and self._may_ask(now) else key

    def _known(self, kid: str) -> VerifyingKey | None:
        if not kid and len(self._keys) == 1:  # a provider with one key need not name it
            return next(iter(self._keys.values()))
        return self._keys.get(kid)

    def _may_ask(self, now: float) -> bool:
        return self._attempted is None or now - self._attempted >= self._settings.interval

    async def refresh(self, kid: str) -> None:
        """Raises InvalidGrant for a key that the provider did not have a moment ago, IssuerUnreachable."""
        async with self._refreshing:  # a task that has waited finds the keys that the one before it has fetched
            if self.key(kid) is not None:
                return
            now = self._monotonic()
            if not self._may_ask(now):
                if self._fetched is not None and self._fetched == self._attempted:
                    raise InvalidGrant("the token is signed with a key that its issuer does not have")
                raise IssuerUnreachable(f"the issuer {self._settings.name} does not answer; try again soon")
            self._attempted = now
            try:
                self._keys = await self._fetch_keys()
            except TidingsError as error:
                if self.key(kid) is None:
                    raise IssuerUnreachable(f"the issuer {self._settings.name} does not answer") from error
                log.warning("the issuer %s does not answer; its keys are kept: %s", self._settings.name, error)
            else:
                self._fetched = now

    async def _fetch_keys(self) -> dict[str, VerifyingKey]:
        """By the discovery document, unless the settings say where they are. Raises TidingsError."""
        settings, address = self._settings, self._settings.jwks
        if address is None:
            found = await self._fetch(f"{settings.issuer.rstrip('/')}/.well-known/openid-configuration")
            if not isinstance(found, dict) or found.get("issuer") != settings.issuer:
                raise IssuerUnreachable(f"the discovery document of {settings.name} is of another issuer")
            address = found.get("jwks_uri")
        if not isinstance(address, str) or not is_safe(address):
            raise IssuerUnreachable(f"the keys of {settings.name} are not at an https address")
        document = await self._fetch(address)
        listed = document.get("keys") if isinstance(document, dict) else None
        if not isinstance(listed, list):
            raise IssuerUnreachable(f"the keys of {settings.name} are no JWKS document")
        keys = [key for key in map(read_public, listed[:_MOST_KEYS]) if key is not None]
        return {key.kid: key for key in keys}

    # -- claims ---------------------------------------------------------------------------------------------------

    def passport(self, token: Unverified, now: int) -> Passport:
        check_type(token.header, self.expected)
        claims, settings = token.claims, self._settings
        expires = check_claims(claims, self.expected, now)
        subject = text_claim(claims, "sub")
        client = next((text_claim(claims, name) for name in ("azp", "client_id") if name in claims), subject)
        roles = frozenset(rule.role for rule in settings.role if rule.fits(claims))
        scopes = scopes_claim(claims) & frozenset(settings.scopes)
        name = claims.get("jti")
        return Passport(
            subject,
            f"{settings.name}:{client}",
            settings.issuer,
            scopes,
            roles,
            expires,
            name[:128] if isinstance(name, str) else "",
        )


def is_safe(address: str) -> bool:
    """Whether documents from this address cannot be changed on the way: with https, or on this machine."""
    parts = urlsplit(address)
    return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK)
