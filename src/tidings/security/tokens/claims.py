"""Checks the claims of a token by RFC 7519, section 4.1, and requires those that it leaves optional."""

from math import isfinite
from typing import Any

from msgspec import Struct

from tidings.security.errors import InvalidGrant, InvalidRequest

_LONGEST = 512
"""Characters of a name."""
MICROS = 1_000_000


class Expected(Struct, frozen=True):
    """What the tokens of one issuer have to say; `leeway` is in microseconds, by which clocks may differ."""

    issuer: str
    audience: str
    types: frozenset[str]
    leeway: int


def check_type(header: dict[str, Any], expected: Expected) -> None:
    """Raise InvalidRequest for what is signed, but is no access token."""
    kind = header.get("typ", "")
    if not isinstance(kind, str) or kind.lower().removeprefix("application/") not in expected.types:
        raise InvalidRequest(f"the token is of the type {str(kind)[:40]!r}, and not an access token")


def check_claims(claims: dict[str, Any], expected: Expected, now: int) -> int:
    """When the token expires, in microseconds since 1970. Raises InvalidRequest, InvalidGrant."""
    if claims.get("iss") != expected.issuer:
        raise InvalidRequest("the token is of another issuer")
    if expected.audience not in _audience(claims):
        raise InvalidRequest("the token is for another audience")
    expires = _instant(claims, "exp")
    if expires is None:
        raise InvalidRequest("the token has no `exp`")
    if now >= expires + expected.leeway:
        raise InvalidGrant("the token has expired")
    for name in ("nbf", "iat"):
        begins = _instant(claims, name)
        if begins is not None and now < begins - expected.leeway:
            raise InvalidGrant(f"the token is not valid yet, by its `{name}`")
    return expires


def text_claim(claims: dict[str, Any], name: str) -> str:
    """A claim that must be there, and be a name. Raises InvalidRequest."""
    value = claims.get(name)
    if not isinstance(value, str) or not 0 < len(value) <= _LONGEST:
        raise InvalidRequest(f"the `{name}` of the token is not a name")
    return value


def scopes_claim(claims: dict[str, Any]) -> frozenset[str]:
    """The scopes: words of a text (RFC 8693), or a list, as some issuers write it. Raises InvalidRequest."""
    value = claims.get("scope", claims.get("scp", ""))
    words = value.split() if isinstance(value, str) else value
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise InvalidRequest("the `scope` of the token is no text")
    return frozenset(words)


def _audience(claims: dict[str, Any]) -> list[str]:
    value = claims.get("aud")
    audience = [value] if isinstance(value, str) else value
    if not isinstance(audience, list) or not all(isinstance(each, str) for each in audience):
        raise InvalidRequest("the `aud` of the token is neither a text nor a list of texts")
    return audience


def _instant(claims: dict[str, Any], name: str) -> int | None:
    value = claims.get(name)
    if value is None and name not in claims:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value) or abs(value) > 1e12:
        raise InvalidRequest(f"the `{name}` of the token is no instant")
    return round(value * MICROS)
