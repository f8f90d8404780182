"""Verifies tokens, by issuer, key, signature and claims, and caches the passports of valid ones.

    recall    a token that was verified before: a look-up, cheap enough for every message
    identify  any token; it may have to fetch a key from the issuer

Refused tokens are not cached, because there may be any number of them.
"""

from collections.abc import Callable, Iterable
from typing import Protocol

from tidings.security.errors import InvalidGrant, InvalidRequest, UnsupportedGrantType
from tidings.security.keys.signing_key import VerifyingKey
from tidings.security.passport import ANONYMOUS, Passport
from tidings.security.tokens.claims import Expected
from tidings.security.tokens.compact import Unverified, read_token

REMEMBERED = 10_000
_LONGEST_REMEMBERED = 4096
"""Characters: longer tokens are verified each time, so that memory is bounded."""


class Issuer(Protocol):
    """Whose tokens count."""

    @property
    def expected(self) -> Expected: ...

    def key(self, kid: str) -> VerifyingKey | None:
        """A key that is known; None if the issuer has to be asked, or there is none."""

    async def refresh(self, kid: str) -> None:
        """Ask for a key that is not known. Raises InvalidGrant, IssuerUnreachable."""

    def passport(self, token: Unverified, now: int) -> Passport:
        """Of a token whose signature is right. Raises InvalidRequest, InvalidGrant."""


class Verification:
    """`clock` tells microseconds since 1970."""

    def __init__(self, issuers: Iterable[Issuer], clock: Callable[[], int], remembered: int = REMEMBERED) -> None:
        self._issuers = {issuer.expected.issuer: issuer for issuer in issuers}
        self._clock = clock
        self._remembered = remembered
        self._known: dict[str, tuple[int, Passport]] = {}
        """Until when each counts."""

    def __len__(self) -> int:
        return len(self._known)

    def recall(self, token: str) -> Passport | None:
        """Whose token this is, if it was verified before and still counts."""
        known = self._known.get(token)
        return known[1] if known is not None and self._clock() < known[0] else None

    def forget(self) -> None:
        """Verify everything anew: some tokens no longer count."""
        self._known.clear()

    async def identify(self, authorization: str | None) -> Passport:
        """Who shows this header, or this member of a message. Raises what is wrong with it."""
        if authorization is None:
            return ANONYMOUS
        token = bearer(authorization)
        return self.recall(token) or await self.verify(token)

    async def verify(self, text: str) -> Passport:
        """Whose token this is. Raises InvalidRequest, InvalidGrant, IssuerUnreachable."""
        token = read_token(text)
        named, kid, algorithm = token.claims.get("iss"), token.header.get("kid", ""), token.header.get("alg")
        if not isinstance(kid, str) or not isinstance(algorithm, str):
            raise InvalidRequest("the token does not say how it is signed")
        issuer = self._issuers.get(named) if isinstance(named, str) else None
        if issuer is None:
            raise InvalidRequest("the token is of an issuer that is not known here")
        key = issuer.key(kid)
        if key is None:
            await issuer.refresh(kid)
            key = issuer.key(kid)
            if key is None:
                raise InvalidGrant("the token is signed with a key that its issuer does not have")
        key.check(text, algorithm)
        passport = issuer.passport(token, self._clock())
        self._remember(text, passport, passport.expires + issuer.expected.leeway)
        return passport

    def _remember(self, text: str, passport: Passport, until: int) -> None:
        if len(text) <= _LONGEST_REMEMBERED and self._remembered:
            while len(self._known) >= self._remembered:
                del self._known[next(iter(self._known))]
            self._known[text] = (until, passport)


def bearer(authorization: str) -> str:
    """The token of an Authorization header; on sockets, some clients write the bare token.

    Raises InvalidRequest, UnsupportedGrantType."""
    scheme, _, token = authorization.strip().partition(" ")
    if not token:
        scheme, token = "bearer", scheme
        if token.lower() in ("bearer", "basic", ""):
            raise InvalidRequest("there is no token")
    if scheme.lower() != "bearer":
        raise UnsupportedGrantType("the Authorization header is not of the kind Bearer")
    return token.strip()
