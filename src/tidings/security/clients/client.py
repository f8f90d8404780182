"""A registered client. Of its secret, only the argon2id hash is kept."""

import re

from msgspec import Struct

from tidings.security.errors import NotAuthorizedIdentity
from tidings.security.passport import Passport

_IDENTITY = re.compile(r"[A-Za-z0-9._~@/-]{1,128}")


class Client(Struct, frozen=True, omit_defaults=True):
    """Its id is the identity that it registered with. Times are microseconds since 1970."""

    id: str
    hash: str
    since: int
    generation: int
    """Of its tokens: when it was registered, or its tokens were last revoked."""
    roles: frozenset[str] = frozenset()
    scopes: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        return f"Client({self.id!r})"

    def passport(self) -> Passport:
        """The client as one who has shown a token with all of its scopes."""
        return Passport(self.id, self.id, scopes=self.scopes, roles=self.roles)


def identity(text: object) -> str:
    """An identity that can be a client id, in headers, addresses and policies. Raises NotAuthorizedIdentity."""
    if not isinstance(text, str) or not _IDENTITY.fullmatch(text):
        raise NotAuthorizedIdentity("an identity has 1 to 128 of the characters A-Z a-z 0-9 . _ ~ @ / -")
    return text
