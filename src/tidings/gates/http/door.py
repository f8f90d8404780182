"""The first middleware: checks the Host and Origin of every request, and names the security headers of responses."""

from starlette.types import ASGIApp, Receive, Scope, Send

from tidings.gates.http.responses import refusal
from tidings.gates.visitors import Visitors
from tidings.model.errors import TidingsError

_OPEN = "/healthz"
"""Health checks may use any host name; this path tells nothing about the data."""
_MOST_LET_IN = 64
_OF_BROWSERS = (b"origin", b"sec-fetch-site")

_VARY = {"vary": "origin"}

SECURITY = (
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
    ("content-security-policy", "frame-ancestors 'none'"),
    ("x-frame-options", "DENY"),
)
"""Headers of every response: no sniffing of content types, no framing by other pages, no Referer."""


class Door:
    """Passes on the requests that `Visitors` accepts, and refuses the others without reading their bodies."""

    def __init__(self, app: ASGIApp, visitors: Visitors) -> None:
        self._app = app
        self._visitors = visitors

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] != _OPEN:
            headers = dict(scope["headers"])
            host = headers.get(b"host")
            let_in = self._visitors.let_in
            if host not in let_in or any(name in headers for name in _OF_BROWSERS):
                try:
                    self._check(headers)
                except TidingsError as error:
                    await refusal(error, _VARY)(scope, receive, send)
                    return
                if len(let_in) < _MOST_LET_IN:
                    let_in.add(host)
        await self._app(scope, receive, send)

    def _check(self, headers: dict[bytes, bytes]) -> None:
        names = (b"host", b"origin", b"sec-fetch-site", b"sec-fetch-mode")
        found = (headers.get(name) for name in names)
        self._visitors.check(*(None if value is None else value.decode("latin-1") for value in found))
