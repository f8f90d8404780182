"""The endpoints of the authorisation server: read its requests from HTTP, and write its answers.

No response may be cached, errors included (RFC 6749, section 5.1).
"""

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from tidings.gates.http.limits import read_body
from tidings.gates.http.responses import Envelope, refusal
from tidings.gates.http.routing import Handler, route
from tidings.model.errors import TidingsError
from tidings.security.errors import InvalidClient, TooManyAttempts
from tidings.security.oauth.requests import LONGEST_BODY, OAuthRequest
from tidings.security.oauth.server import AuthorisationServer, OAuthAnswer

METADATA = "/.well-known/oauth-authorization-server"
_UNKEPT = {"cache-control": "no-store", "pragma": "no-cache"}
_PUBLIC = {"cache-control": "public, max-age=300"}
"""Other services that verify our tokens fetch new keys after five minutes at the latest."""


class AuthorisationEndpoints:
    """The handlers for one server. `address_of` returns the address of a client, also behind a proxy."""

    def __init__(self, server: AuthorisationServer, address_of: Callable[[Request], str] | None = None) -> None:
        self._server = server
        self._address_of = address_of or _peer

    def routes(self) -> list[BaseRoute]:
        return [
            route("/oauth/register", self._post(self._server.register), "POST", public=True),
            route("/oauth/token", self._post(self._server.token), "POST", public=True),
            route("/oauth/revoke", self._post(self._server.revoke), "POST", public=True),
            route("/oauth/jwks", self._jwks, "GET", "HEAD", public=True),
            route(METADATA, self._metadata, "GET", "HEAD", public=True),
        ]

    def _post(self, serve: Callable[[OAuthRequest], Awaitable[OAuthAnswer]]) -> Handler:
        async def handle(request: Request) -> Response:
            try:
                answer = await serve(await self._read(request))
            except TidingsError as error:
                return refusal(error, _UNKEPT | _advice(error))
            return Envelope(answer.content, answer.status, _UNKEPT)

        return handle

    async def _read(self, request: Request) -> OAuthRequest:
        headers = request.headers
        return OAuthRequest(
            await read_body(request, LONGEST_BODY),
            headers.get("content-type", ""),
            ", ".join(headers.getlist("accept")),
            headers.get("authorization"),
            self._address_of(request),
        )

    async def _jwks(self, _: Request) -> Response:
        answer = self._server.jwks()
        return Envelope(answer.content, answer.status, _PUBLIC)

    async def _metadata(self, _: Request) -> Response:
        answer = self._server.metadata()
        return Envelope(answer.content, answer.status, _PUBLIC)


def _advice(error: TidingsError) -> dict[str, str]:
    """Headers that tell the client how to authenticate (RFC 6749, section 5.2), or when to retry."""
    match error:
        case InvalidClient():
            return {"www-authenticate": 'Basic realm="tidings"'}
        case TooManyAttempts():
            return {"retry-after": str(error.data()["seconds"])}
        case _:
            return {}


def _peer(request: Request) -> str:
    return request.client.host if request.client is not None else ""
