"""The section `oauth` of a profile: the addresses at which an application gets its credentials and tokens.

    {"enable": true, "register": "https://…/oauth/register", "tokenRequest": "https://…/oauth/token"}

A token is only for the broker that the profile itself names. Primitives with another address are sent without a token.
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
    """`register` and `token` are the addresses for registration and tokens; by default, of the profile's broker."""
    broker: str = ""
    """The address of that broker over HTTP."""
    homes: frozenset[Origin] = frozenset()
    """The origins to which the client may show a token."""

    def shown_at(self, url: str, credentials: Shown | None) -> Shown | None:
        """The credentials that an application shows at an address, completed with the addresses of the profile."""
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
    """Read the section. It does not contain the address of the broker, which `at_home` adds."""
    members = mistakes.members(value, path, _MEMBERS)
    enable = members.get("enable")
    if enable is not None and not isinstance(enable, bool):
        mistakes.add(below(path, "enable"), f"must be true or false, not {shown(enable)}")
        enable = None
    return OAuth(
        enable, _address(members, "register", path, mistakes), _address(members, "tokenRequest", path, mistakes)
    )


def at_home(oauth: OAuth, level: Level) -> OAuth:
    """The section completed with the addresses of the profile's broker."""
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
