"""The identity of a client, once it is verified. It does not contain rights."""

from msgspec import Struct

_NOTHING: frozenset[str] = frozenset()


class Passport(Struct, frozen=True):
    """Somebody, as a token that was verified names them. Times are microseconds since 1970."""

    subject: str = ""
    client: str = ""
    """The client id; that of an external issuer has the name of the issuer and a colon before it, as no id of ours."""
    issuer: str = ""
    scopes: frozenset[str] = _NOTHING
    roles: frozenset[str] = _NOTHING
    expires: int = 0
    token: str = ""
    """The identifier of the token, by which it can be revoked; it opens nothing."""

    @property
    def is_anonymous(self) -> bool:
        return not self.subject


ANONYMOUS = Passport()
"""Somebody who has shown no token."""
