"""The login of a client at one broker: decides which request comes next, until there is a token. It needs no socket:

    with turn:  wanted() -> request | None        take(request, answer)        token

A token is renewed before it expires. A login costs the broker a hash, and the broker limits the attempts. So all
clients of a process with the same credentials share one login.
"""

import time
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, assert_never
from urllib.parse import quote_plus

import httpx

from tidings.client.errors import BadCredentials, NotUnderstood, Refused
from tidings.client.login.addresses import broker_of
from tidings.client.login.credentials import Credentials, CredentialsFile, Shown, Token
from tidings.client.login.kept import Kept, read_kept, write_kept
from tidings.client.login.turn import Turn
from tidings.client.responses import decoded, refused
from tidings.protocol.errors import UNNAMED

EXPIRED = (401, "invalid_grant")
"""What a broker answers to a token for which another one helps."""
_SECONDS = 30.0
_MARGIN = 60.0
_SHARE = 0.2
"""A token is due this long before it expires: a minute, or this share of its life, if that is less."""
_LEAST = 1.0
"""Whoever gives tokens for less is not asked more often."""


class Login:
    """`broker` is its address over HTTP, unless it does not matter; `clock` tells seconds since 1970."""

    def __init__(self, shown: Shown, broker: str, clock: Callable[[], float] = time.time) -> None:
        self.turn = Turn()
        self._clock = clock
        self._register_url, self._token_url = f"{broker}/oauth/register", f"{broker}/oauth/token"
        self._credentials: Credentials | None = None
        self._token: Token | None = None
        self._file: Path | None = None
        self._identity: str | None = None
        match shown:
            case Token():
                self._token = shown
            case Credentials():
                self._credentials = shown
                self._token_url = shown.token_url or self._token_url
            case CredentialsFile():
                self._open(shown)
            case _:
                assert_never(shown)

    def __repr__(self) -> str:
        return f"Login({self._token_url!r})"

    def _open(self, shown: CredentialsFile) -> None:
        self._file = Path(shown.path)
        self._identity = shown.identity
        self._register_url = shown.register_url or self._register_url
        kept = read_kept(self._file)
        if kept is not None:
            self._credentials = Credentials(kept.client_id, kept.client_secret)
            self._token = kept.current()
        elif shown.identity is None:
            raise BadCredentials(f"{self._file} is not there, and no identity is named that could register")
        self._token_url = shown.token_url or self._token_url

    # -- what there is to show ------------------------------------------------------------------------------------

    @property
    def token(self) -> Token:
        """To be asked for once nothing is wanted."""
        assert self._token is not None
        return self._token

    def now(self) -> float:
        """In seconds since 1970, as `due` of a token is."""
        return self._clock()

    def doubt(self, text: str, error: Refused) -> bool:
        """A broker refused what was shown. Whether there is, or can be, another token to show instead."""
        if (error.status, error.code) != EXPIRED:
            return False
        if self._token is not None and self._token.text != text:
            return True  # somebody else has found out meanwhile
        if self._credentials is None:
            return False
        self._token = Token(text, due=0.0)
        return True

    # -- how to get it --------------------------------------------------------------------------------------------

    def wanted(self) -> httpx.Request | None:
        """The request that leads to a token; None if there is one that will do."""
        token = self._token
        if token is not None and (token.due is None or self._clock() < token.due):
            return None
        if self._credentials is not None:
            return self._token_request(self._credentials)
        return None if self._identity is None else self._registration(self._identity)

    def take(self, request: httpx.Request, answer: httpx.Response) -> None:
        """The answer to what was wanted. Raises Refused, NotUnderstood."""
        if not answer.is_success:
            error = refused(answer)
            if error.status == httpx.codes.NOT_FOUND or error.code == UNNAMED:
                raise NotUnderstood(f"{request.url} gives no tokens: the broker asks nobody, or gives them elsewhere")
            raise error
        content = decoded(answer.content, str(request.url))
        try:
            if self._credentials is None:
                found = content["credentials"]
                self._credentials = Credentials(str(found["client_id"]), str(found["client_secret"]))
            else:
                self._token = self._issued(content)
        except (KeyError, TypeError, ValueError, BadCredentials):
            raise NotUnderstood(f"{request.url} gives no tokens as a broker does") from None  # nor repeats an answer
        if self._file is not None:
            self._keep(self._file, self._credentials)

    def _issued(self, content: dict[str, Any]) -> Token:
        found = content.get("token", content)
        seconds = found.get("expires_in")
        if seconds is None:
            return Token(found["access_token"])
        life = max(float(seconds), _LEAST)
        return Token(found["access_token"], self._clock() + life - min(_MARGIN, _SHARE * life))

    def _keep(self, path: Path, credentials: Credentials) -> None:
        text, due = (None, None) if self._token is None else (self._token.text, self._token.due)
        write_kept(path, Kept(credentials.id, credentials.secret, text, due))

    def _token_request(self, credentials: Credentials) -> httpx.Request:
        """RFC 6749, sections 2.3.1 and 4.4.2."""
        basic = httpx.BasicAuth(quote_plus(credentials.id), quote_plus(credentials.secret))
        request = _post(self._token_url, data={"grant_type": "client_credentials"})
        return next(basic.auth_flow(request))

    def _registration(self, identity: str) -> httpx.Request:
        wanted = {"client_identity": identity, "grant_types": ["client_credentials"]}
        return _post(self._register_url, json={"register": wanted})


@lru_cache(maxsize=256)
def _shared(shown: Shown, broker: str) -> Login:
    return Login(shown, broker)


def login_of(shown: Shown | None, url: str) -> Login | None:
    """The login with what somebody shows, at the broker that an address is of. Raises BadCredentials."""
    if shown is None:
        return None
    return _shared(shown, (None if isinstance(shown, Token) else shown.token_url) or broker_of(url))


def _post(url: str, **sent: Any) -> httpx.Request:
    timeout = httpx.Timeout(_SECONDS).as_dict()
    return httpx.Request("POST", url, headers={"accept": "application/json"}, extensions={"timeout": timeout}, **sent)
