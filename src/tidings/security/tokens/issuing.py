"""Our own tokens: made for a client that has shown its secret, and read back.

iss, aud, sub, client_id, scope, iat, nbf, exp, jti     RFC 9068
gen     the generation of the client's tokens: all of an older one are revoked at once
"""

from collections.abc import Callable
from uuid import uuid4

import msgspec
from msgspec import Struct

from tidings.security.clients.client import Client
from tidings.security.errors import InvalidGrant, KeysUnusable
from tidings.security.keys.key_ring import KeyRing
from tidings.security.keys.signing_key import VerifyingKey
from tidings.security.passport import Passport
from tidings.security.tokens.claims import MICROS, Expected, check_claims, check_type, scopes_claim, text_claim
from tidings.security.tokens.compact import Unverified
from tidings.security.tokens.revocation import Revocations

TYPE = "at+jwt"


class Issued(Struct, frozen=True):
    """A token, and for how many seconds it counts."""

    text: str
    seconds: int
    token: str
    """Its identifier."""


class OwnIssuer:
    """Makes tokens and reads them. `clock` tells microseconds since 1970; `find` finds clients by their ids."""

    def __init__(
        self,
        expected: Expected,
        keys: KeyRing,
        revocations: Revocations,
        find: Callable[[str], Client | None],
        clock: Callable[[], int],
        seconds: int,
    ) -> None:
        self.expected = expected
        self._keys = keys
        self._revocations = revocations
        self._find = find
        self._clock = clock
        self._seconds = seconds
        self.issued = 0
        """Tokens since the start."""

    def issue(self, client: Client, scopes: frozenset[str]) -> Issued:
        """A token for a client. Raises KeysUnusable."""
        key = self._keys.signing
        if key is None:
            raise KeysUnusable("there is no key to sign tokens with")
        now = self._clock() // MICROS
        claims = {
            "iss": self.expected.issuer,
            "aud": self.expected.audience,
            "sub": client.id,
            "client_id": client.id,
            "scope": " ".join(sorted(scopes)),
            "iat": now,
            "nbf": now,
            "exp": now + self._seconds,
            "jti": uuid4().hex,
            "gen": client.generation,
        }
        self.issued += 1
        return Issued(key.sign(msgspec.json.encode(claims), TYPE), self._seconds, str(claims["jti"]))

    def key(self, kid: str) -> VerifyingKey | None:
        return self._keys.find(kid)

    async def refresh(self, kid: str) -> None:
        """There is nobody to ask: a key that we do not know is none of ours. Raises InvalidGrant."""
        raise InvalidGrant("the token is signed with a key that is not known, or no longer")

    def passport(self, token: Unverified, now: int) -> Passport:
        """What a token of ours says whose signature is right. Raises InvalidRequest, InvalidGrant."""
        check_type(token.header, self.expected)
        claims = token.claims
        expires = check_claims(claims, self.expected, now)
        subject, name = text_claim(claims, "sub"), text_claim(claims, "jti")
        client = self._find(text_claim(claims, "client_id"))
        if (
            client is None
            or client.id != subject
            or claims.get("gen") != client.generation
            or name in self._revocations
        ):
            raise InvalidGrant("the token was revoked")
        scopes = scopes_claim(claims) & client.scopes
        return Passport(subject, client.id, self.expected.issuer, scopes, client.roles, expires, name)
