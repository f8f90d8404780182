"""The identity of a client, once it is verified. It does not contain rights."""

from msgspec import Struct

_NOTHING: frozenset[str] = frozenset()


class Passport(Struct, frozen=True):
    """The identity from a verified token. Times are microseconds since 1970."""

    subject: str = ""
    client: str = ""
    """The client id. An id from an external issuer is prefixed with the name of the issuer and a colon."""
    issuer: str = ""
    scopes: frozenset[str] = _NOTHING
    roles: frozenset[str] = _NOTHING
    expires: int = 0
    token: str = ""
    """The identifier of the token, by which it can be revoked. It is no secret."""

    @property
    def is_anonymous(self) -> bool:
        return not self.subject


ANONYMOUS = Passport()
"""A client without a token."""
