"""The login of a client at one broker: decides which request comes next, until there is a token. It needs no socket:

    with turn:  wanted() -> request | None        take(request, answer)        token

A token is renewed before it expires. Each login costs the broker a password hash, and the broker limits attempts. So
all clients of a process with the same credentials share one login.
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
"""Status and code of a broker's refusal after which another token may help."""
_SECONDS = 30.0
_MARGIN = 60.0
_SHARE = 0.2
"""A token is due `_MARGIN` seconds before it expires, or this share of its lifetime, if that is less."""
_LEAST = 1.0
"""The least lifetime of a token in seconds; a shorter one counts as this long."""


class Login:
    """A login. `broker` is the broker's HTTP address, unless the credentials name their own address for tokens; `clock`
    gives seconds since 1970."""

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

    # -- the present token ----------------------------------------------------------------------------------------

    @property
    def token(self) -> Token:
        """The present token; call this only once `wanted` returns None."""
        assert self._token is not None
        return self._token

    def now(self) -> float:
        """Seconds since 1970, as in `Token.due`."""
        return self._clock()

    def doubt(self, text: str, error: Refused) -> bool:
        """The broker refused the token with this text. Returns whether there is, or can be, another one."""
        if (error.status, error.code) != EXPIRED:
            return False
        if self._token is not None and self._token.text != text:
            return True  # another request has replaced it meanwhile
        if self._credentials is None:
            return False
        self._token = Token(text, due=0.0)
        return True

    # -- getting a token ------------------------------------------------------------------------------------------

    def wanted(self) -> httpx.Request | None:
        """The next request on the way to a token; None if there is a valid one."""
        token = self._token
        if token is not None and (token.due is None or self._clock() < token.due):
            return None
        if self._credentials is not None:
            return self._token_request(self._credentials)
        return None if self._identity is None else self._registration(self._identity)

    def take(self, request: httpx.Request, answer: httpx.Response) -> None:
        """Take the answer to the request of `wanted`. Raises Refused, NotUnderstood."""
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
            # `from None`: the cause could show the answer, with its secrets.
            raise NotUnderstood(f"{request.url} gives no tokens as a broker does") from None
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
    """The login with these credentials at the broker of an address. Raises BadCredentials."""
    if shown is None:
        return None
    return _shared(shown, (None if isinstance(shown, Token) else shown.token_url) or broker_of(url))


def _post(url: str, **sent: Any) -> httpx.Request:
    timeout = httpx.Timeout(_SECONDS).as_dict()
    return httpx.Request("POST", url, headers={"accept": "application/json"}, extensions={"timeout": timeout}, **sent)
