"""Gives a request that came through a trusted proxy the address, scheme and host of the client."""

from starlette.types import ASGIApp, Receive, Scope, Send

from tidings.gates.errors import BadForwarding
from tidings.gates.forwarding import Proxies
from tidings.gates.http.responses import refusal

PROXIED = "proxied"
"""A key in the state of a request: it came through a proxy, so addresses in the response must lead there, too."""


class Forwarded:
    """Middleware around everything else, used only if the settings trust proxies."""

    def __init__(self, app: ASGIApp, proxies: Proxies) -> None:
        self._app = app
        self._proxies = proxies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["client"] is not None:
            headers = ((name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"])
            try:
                hop = self._proxies.origin(scope["client"][0], headers)
            except BadForwarding as error:
                await refusal(error)(scope, receive, send)
                return
            if hop is not None:
                scope["client"] = (hop.client, 0)
                scope.setdefault("state", {})[PROXIED] = True
                if hop.secure is not None:
                    scope["scheme"] = "https" if hop.secure else "http"
                if hop.host is not None:
                    others = [header for header in scope["headers"] if header[0] != b"host"]
                    scope["headers"] = [(b"host", hop.host.encode("latin-1")), *others]
        await self._app(scope, receive, send)
