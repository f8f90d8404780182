"""The settings of security: those of its own file, and those of the broker, which override them.

Without a file, only an administrator may do anything. If no grant makes anybody an administrator, the first start
registers the client `admin`, with a grant of its own.
"""

from pathlib import Path

from msgspec.structs import replace

from tidings.model.formats.grammar import ABSOLUTE_IRI
from tidings.security.clients.identities import Rule
from tidings.security.errors import BadPolicy
from tidings.security.issuers.provider import is_safe
from tidings.security.policy.grants import Grant
from tidings.security.settings import SecuritySettings, read_settings
from tidings.server.config import BadSetting, Settings

ADMIN = "admin"
ADMINISTRATORS = "administrators"
_EVERYTHING = Grant(to=f"role:{ADMINISTRATORS}", update=("*",), subscribe=("*",), administer=True)
OPEN, CLOSED = "open", "closed"


def read_choices(settings: Settings, address: str) -> SecuritySettings:
    """The effective settings; `address` is the broker's URL, if the settings have none. Raises BadSetting."""
    chosen = _of_file(settings.security, settings.issuer or address)
    issuer = settings.issuer or chosen.issuer
    if not is_safe(issuer) or not ABSOLUTE_IRI.fullmatch(issuer):
        raise BadSetting(f"issuer: {issuer!r} is neither an https address nor one of this machine")
    tokens = chosen.tokens
    if settings.token_seconds is not None:
        if not 1 <= settings.token_seconds <= 86_400:
            raise BadSetting("token_seconds: a token counts for 1 to 86,400 s")
        tokens = replace(tokens, seconds=settings.token_seconds)
    return replace(
        chosen,
        issuer=issuer,
        audience=settings.audience or chosen.audience,
        tokens=tokens,
        identity=_rules(settings.registration, chosen.identity),
        grant=granted(chosen),
    )


def granted(chosen: SecuritySettings) -> tuple[Grant, ...]:
    """The grants of a file, and one for the client `admin` if none makes anybody an administrator."""
    return chosen.grant if any(grant.administer for grant in chosen.grant) else (*chosen.grant, _EVERYTHING)


def needs_administrator(chosen: SecuritySettings) -> bool:
    """Whether no grant makes anybody an administrator."""
    return _EVERYTHING in chosen.grant


def read_file(path: str, address: str) -> SecuritySettings:
    """The file of security; `address` is the issuer if the file has none. Raises BadSetting."""
    try:
        text = Path(path).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadSetting(f"security: {path}: {getattr(error, 'strerror', None) or error}") from error
    try:
        return read_settings(text, path, issuer=address)
    except BadPolicy as error:
        raise BadSetting(f"security: {error}") from error


def _of_file(path: str | None, address: str) -> SecuritySettings:
    return SecuritySettings(issuer=address) if path is None else read_file(path, address)


def _rules(registration: tuple[str, ...], others: tuple[Rule, ...]) -> tuple[Rule, ...]:
    """The identities that may register: those of the settings if there are any, otherwise those of the file."""
    if not registration:
        return others
    if CLOSED in registration:
        return ()
    return tuple(Rule("*" if name == OPEN else name) for name in registration)
