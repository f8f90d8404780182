"""The keys of our own tokens: the newest signs, those before it verify until the last token they signed has expired.

    key_added    kid, public JWK, since      the private half is in the vault before this is written
    key_dropped  kid                         the key was compromised: no token that it signed is valid any more

The log has only public keys. After a crash between the two steps, the vault has a key that is not used.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec
from msgspec import Struct

from tidings.protocol.entries import Note
from tidings.security.keys.key_vault import Vault
from tidings.security.keys.signing_key import Jwk, SigningKey, VerifyingKey, read_public


class _Published(Struct, frozen=True):
    jwk: Jwk
    since: int
    key: VerifyingKey


class KnownKey(Struct, frozen=True):
    """The public facts about a valid key."""

    kid: str
    algorithm: str
    since: int
    signs: bool


class KeyRing:
    """Our keys, oldest first. `clock` tells microseconds since 1970; a token lives `lifetime` of them at most."""

    KINDS = ("key_added", "key_dropped")

    def __init__(self, vault: Vault, clock: Callable[[], int], lifetime: int) -> None:
        self._vault = vault
        self._clock = clock
        self._lifetime = lifetime
        self._keys: dict[str, _Published] = {}
        self._signing: SigningKey | None = None
        self.changed: Callable[[], None] = lambda: None
        """Called when a key no longer counts."""

    @property
    def signing(self) -> SigningKey | None:
        """What signs; None before there is any, or if the vault has lost it. Raises KeysUnusable."""
        newest = next(reversed(self._keys), None)
        if newest is None:
            return None
        if self._signing is None or self._signing.kid != newest:
            self._signing = self._vault.find(newest)
        return self._signing

    @property
    def since(self) -> int:
        """When the newest key began to sign."""
        return next((each.since for each in reversed(self._keys.values())), 0)

    def find(self, kid: str) -> VerifyingKey | None:
        published = self._keys.get(kid)
        return published.key if published is not None and not self._is_over(kid) else None

    def jwks(self) -> dict[str, Any]:
        """All public keys that count, as a JWKS document (RFC 7517)."""
        return {"keys": [each.jwk for kid, each in self._keys.items() if not self._is_over(kid)]}

    def __iter__(self) -> Iterator[KnownKey]:
        """All that count, oldest first."""
        newest = next(reversed(self._keys), None)
        for kid, each in self._keys.items():
            if not self._is_over(kid):
                yield KnownKey(kid, str(each.jwk["alg"]), each.since, kid == newest)

    def addition(self, key: SigningKey) -> Note:
        """The note that a key, which the vault has already, signs from now on."""
        return Note("key_added", {"kid": key.kid, "public": key.public(), "since": self._clock()})

    def expired(self) -> list[str]:
        """Keys that have not signed for so long that all their tokens have expired."""
        return [kid for kid in self._keys if self._is_over(kid)]

    def forget(self, kid: str) -> None:
        """Remove an expired key. This needs no note in the log."""
        self._keys.pop(kid, None)
        self._vault.forget(kid)

    def _is_over(self, kid: str) -> bool:
        """Whether its successor has signed for longer than a token lives."""
        successor = next((each for each in self._behind(kid)), None)
        return successor is not None and self._clock() > successor.since + self._lifetime

    def _behind(self, kid: str) -> Iterator[_Published]:
        names = iter(self._keys)
        for name in names:
            if name == kid:
                break
        return (self._keys[name] for name in names)

    # -- the ledger ---------------------------------------------------------------------------------------------

    def restore(self, note: Note) -> None:
        content = msgspec.convert(note.content, _Fact)
        if note.kind == "key_dropped":
            self._keys.pop(content.kid, None)
            self._signing = None
            self.changed()
            return
        key = read_public(content.public)
        if key is not None and content.kid not in self._keys:
            self._keys[content.kid] = _Published(content.public, content.since, key)

    def notes(self) -> Iterable[Note]:
        for kid, each in self._keys.items():
            yield Note("key_added", {"kid": kid, "public": each.jwk, "since": each.since})


class _Fact(Struct):
    kid: str
    public: dict[str, Any] = {}
    since: int = 0
