"""The section `oauth` of a profile: the addresses at which an application gets its credentials and tokens.

    {"enable": true, "register": "https://…/oauth/register", "tokenRequest": "https://…/oauth/token"}

A token is only for the broker that the profile itself names. A primitive with another address is sent without a token.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, assert_never
from urllib.parse import urlsplit

from tidings.client.jsap.addresses import Level, http_address, ws_address
from tidings.client.jsap.mistakes import Mistakes, below, shown
from tidings.client.login.addresses import Origin, broker_of, origin_of
from tidings.client.login.credentials import Credentials, CredentialsFile, Shown, Token

_MEMBERS = ("enable", "register", "tokenRequest")


@dataclass(frozen=True, slots=True)
class OAuth:
    """`enable` is None if the profile does not say."""

    enable: bool | None = None
    register: str | None = None
    token: str | None = None
    """Where clients register and get tokens: at the broker of the profile, unless it says otherwise."""
    broker: str = ""
    """The address of that broker over HTTP."""
    homes: frozenset[Origin] = frozenset()
    """Where a token may be shown."""

    def shown_at(self, url: str, credentials: Shown | None) -> Shown | None:
        """What an application shows at an address, of the credentials that it was given."""
        if credentials is None or self.enable is False or origin_of(url) not in self.homes:
            return None
        match credentials:
            case Token():
                return credentials
            case Credentials():
                return replace(credentials, token_url=credentials.token_url or self.token)
            case CredentialsFile():
                return replace(
                    credentials,
                    register_url=credentials.register_url or self.register,
                    token_url=credentials.token_url or self.token,
                )
            case _:
                assert_never(credentials)


def read_oauth(value: object, path: str, mistakes: Mistakes) -> OAuth:
    """The section, which does not say where the broker is."""
    members = mistakes.members(value, path, _MEMBERS)
    enable = members.get("enable")
    if enable is not None and not isinstance(enable, bool):
        mistakes.add(below(path, "enable"), f"must be true or false, not {shown(enable)}")
        enable = None
    return OAuth(
        enable, _address(members, "register", path, mistakes), _address(members, "tokenRequest", path, mistakes)
    )


def at_home(oauth: OAuth, level: Level) -> OAuth:
    """The same, with the places that the profile itself names."""
    nothing = Level(None, {}, {})
    http, ws = http_address("query", nothing, level).url, ws_address(nothing, level)
    broker = broker_of(http)
    return replace(
        oauth,
        register=oauth.register or f"{broker}/oauth/register",
        token=oauth.token or f"{broker}/oauth/token",
        broker=broker,
        homes=frozenset({origin_of(http), origin_of(ws)}),
    )


def _address(members: Mapping[str, Any], name: str, path: str, mistakes: Mistakes) -> str | None:
    url = members.get(name)
    if url is None:
        return None
    if isinstance(url, str) and url.startswith(("http://", "https://")) and urlsplit(url).hostname:
        return url
    mistakes.add(below(path, name), f"must be an address that starts with https:// or http://, not {shown(url)}")
    return None
