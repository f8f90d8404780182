"""Revoked tokens that have not expired yet, by their identifiers.

    token_revoked    token, expires

Expired ones are forgotten, so there are never more than were issued within the lifetime of a token.
"""

from collections.abc import Callable, Iterable

import msgspec
from msgspec import Struct

from tidings.protocol.entries import Note

_SLACK = 1024
"""Revocations that are added before expired ones are looked for."""


class _Revoked(Struct):
    token: str
    expires: int


class Revocations:
    """`clock` tells microseconds since 1970; tokens may be accepted for `leeway` of them after they have expired."""

    KINDS = ("token_revoked",)

    def __init__(self, clock: Callable[[], int], leeway: int = 0) -> None:
        self._clock = clock
        self._leeway = leeway
        self._expires: dict[str, int] = {}
        self._next_look = _SLACK
        self.changed: Callable[[], None] = lambda: None
        """Called when a token no longer counts."""

    def __len__(self) -> int:
        return len(self._expires)

    def __contains__(self, token: str) -> bool:
        return token in self._expires

    @staticmethod
    def revocation(token: str, expires: int) -> Note:
        return Note("token_revoked", {"token": token, "expires": expires})

    def restore(self, note: Note) -> None:
        fact = msgspec.convert(note.content, _Revoked)
        self._expires[fact.token] = fact.expires
        if len(self._expires) > self._next_look:
            self._forget_expired()
        self.changed()

    def notes(self) -> Iterable[Note]:
        self._forget_expired()
        return [self.revocation(token, expires) for token, expires in self._expires.items()]

    def _forget_expired(self) -> None:
        oldest = self._clock() - self._leeway
        self._expires = {token: expires for token, expires in self._expires.items() if expires > oldest}
        self._next_look = 2 * len(self._expires) + _SLACK
