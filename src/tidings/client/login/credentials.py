"""The credentials of an application for a broker with security.

    connect("https://broker:8443", credentials=Credentials("lamp-1", "…secret…"))

No secret is in a `repr`, so that none is in a log or a traceback.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from tidings.client.errors import BadCredentials

_TOKEN = re.compile(r"[A-Za-z0-9\-._~+/]+=*")
"""RFC 6750, section 2.1. It excludes characters that could end a header."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """A registered client. `token_url` is where it gets tokens, by default at `/oauth/token` of the broker."""

    id: str
    secret: str = field(repr=False)
    token_url: str | None = None

    def __post_init__(self) -> None:
        if not self.id or not self.secret:
            raise BadCredentials("credentials are the id of a client and its secret; one of the two is empty")


@dataclass(frozen=True, slots=True)
class Token:
    """An access token, given with or without `Bearer`. `due` is when to get the next one, in seconds since 1970, if
    known; without credentials, the client cannot get another one."""

    text: str = field(repr=False)
    due: float | None = None

    def __post_init__(self) -> None:
        scheme, _, rest = self.text.strip().partition(" ")
        text = rest.strip() if scheme.lower() == "bearer" else self.text.strip()
        if not _TOKEN.fullmatch(text):
            raise BadCredentials("this is no token: it has characters that a token cannot have, or none")
        object.__setattr__(self, "text", text)

    @property
    def header(self) -> str:
        return f"Bearer {self.text}"


@dataclass(frozen=True, slots=True)
class CredentialsFile:
    """Credentials in a file, with the present token. If the file does not exist, the client registers `identity` at the
    broker, and creates the file, readable for its owner only."""

    path: str | Path
    identity: str | None = None
    register_url: str | None = None
    token_url: str | None = None


Shown: TypeAlias = Credentials | Token | CredentialsFile
