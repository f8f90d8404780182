"""What an operator writes into the file of security, in TOML; mistakes are named with their place.

issuer = "https://broker.example.org:8443"

[tokens]                     seconds = 3600, leeway = 30, algorithm = "RS256", rotate = 7776000
[[identity]]                 identity = "lamp-*", roles = ["lamps"]
[[provider]]                 name = "city", issuer = "https://login.example.org", audience = "tidings"
[[grant]]                    to = "role:lamps", update = ["http://example.org/lamps/*"]
"""

import tomllib
from typing import Any

import msgspec
from msgspec import Struct

from tidings.security.clients.identities import Rule
from tidings.security.clients.secrets import Cost
from tidings.security.errors import BadPolicy
from tidings.security.issuers.provider import ProviderSettings, is_safe
from tidings.security.keys.signing_key import Algorithm
from tidings.security.limits import Rate
from tidings.security.policy.grants import Grant, read_grants


class TokenSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """Times are seconds."""

    seconds: int = 3600
    """How long a token counts."""
    leeway: float = 30.0
    """By how much clocks may differ."""
    algorithm: Algorithm = "RS256"
    rotate: float = 90 * 24 * 3600.0
    """After how long a new key signs."""
    remembered: int = 10_000
    """Tokens whose verification is remembered."""


class LoginSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """How often one may try."""

    by_address: Rate = Rate(60, 5)
    by_client: Rate = Rate(20, 0.5)


class SecuritySettings(Struct, frozen=True, forbid_unknown_fields=True):
    issuer: str
    """Our own address, as tokens name it."""
    audience: str | None = None
    """Whom tokens are for; the issuer, unless it is said."""
    clients: int = 100_000
    """The most that may be registered."""
    tokens: TokenSettings = TokenSettings()
    logins: LoginSettings = LoginSettings()
    hashes: Cost = Cost()
    identity: tuple[Rule, ...] = ()
    provider: tuple[ProviderSettings, ...] = ()
    grant: tuple[Grant, ...] = ()


def read_settings(text: str, source: str = "the file of security", issuer: str | None = None) -> SecuritySettings:
    """`issuer` is ours if the text names none. Raises BadPolicy, which names the place of the mistake."""
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadPolicy(f"{source}: {error}") from error
    if issuer is not None:
        content.setdefault("issuer", issuer)
    try:
        settings = msgspec.convert(content, SecuritySettings)
        read_grants(content.get("grant", []))
    except msgspec.ValidationError as error:
        raise BadPolicy(f"{source}: {str(error).replace('`$.', '`')}") from error
    except BadPolicy as error:
        raise BadPolicy(f"{source}: {error}") from error
    _check(settings, source)
    return settings


def _check(settings: SecuritySettings, source: str) -> None:
    tokens, names = settings.tokens, [provider.name for provider in settings.provider]
    issuers = [settings.issuer, *(provider.issuer for provider in settings.provider)]
    rates = (settings.logins.by_address, settings.logins.by_client)
    wrong: list[tuple[Any, str]] = [
        (not is_safe(settings.issuer), f"issuer: {settings.issuer!r} is no https address"),
        (not 1 <= tokens.seconds <= 86_400, "tokens.seconds: a token counts for 1 to 86,400 s"),
        (not 0 <= tokens.leeway <= 300, "tokens.leeway: clocks may differ by 0 to 300 s"),
        (tokens.rotate <= tokens.seconds, "tokens.rotate: a key signs for longer than a token counts"),
        (
            any(rate.burst < 1 or rate.per_second <= 0 for rate in rates),
            "logins: burst is at least 1, per_second above 0",
        ),
        (len(set(issuers)) < len(issuers), "provider: two have the same issuer, or that of the broker"),
        (len(set(names)) < len(names), "provider: two have the same name"),
        (any(not name or ":" in name for name in names), "provider: a name is not empty and has no colon"),
        (
            not all(is_safe(provider.issuer) for provider in settings.provider),
            "provider: an issuer is no https address",
        ),
    ]
    for is_wrong, what in wrong:
        if is_wrong:
            raise BadPolicy(f"{source}: {what}")
