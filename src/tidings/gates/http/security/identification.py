"""Identifies the client of every HTTP request before it is handled, and again when its body has arrived, which may take
a while.

An invalid token is an error only for handlers that ask for the client: health, the page, the authorisation server and
the preflight requests of browsers are open to all.
"""

from msgspec.structs import replace
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tidings.gates.asking import EVERYBODY, Asker, Deed, Guard
from tidings.gates.errors import ForAdministrators
from tidings.model.errors import TidingsError
from tidings.security.errors import InvalidRequest

_ASKER = "tidings.asker"
_SHOWN = "tidings.authorization"
_ON_RECORD = "tidings.on_record"
_HEADER = b"authorization"


class Identification:
    """Middleware that writes the client into the scope of each request."""

    def __init__(self, app: ASGIApp, guard: Guard) -> None:
        self._app = app
        self._guard = guard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            if self._guard.asks:
                try:
                    scope[_SHOWN] = shown = _shown(scope)
                    scope[_ASKER] = self._guard.recall(shown) or await self._guard.identify(shown)
                except TidingsError as error:
                    scope[_ASKER] = error
                send = _recorded(self._guard, scope, send)
            else:
                scope[_ASKER] = EVERYBODY
        await self._app(scope, receive, send)


def _recorded(guard: Guard, scope: Scope, send: Send) -> Send:
    """Writes a successful request to the audit log as a read, unless its handler has written it."""

    async def recorded(message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] < 400 and _ON_RECORD not in scope:
            guard.judge(identified(scope), replace(deed_of(scope), reads=True))
        await send(message)

    return recorded


def _shown(scope: Scope) -> str | None:
    """The Authorization header of a request. Raises InvalidRequest."""
    shown = [value for name, value in scope["headers"] if name == _HEADER]
    if len(shown) > 1:
        raise InvalidRequest("there is more than one Authorization header")
    return shown[0].decode("latin-1") if shown else None


def asker_of(scope: Scope) -> Asker:
    """The client of a request. Raises what is wrong with its token."""
    found = scope[_ASKER]
    if isinstance(found, TidingsError):
        raise found
    assert isinstance(found, Asker)
    return found


def identified(scope: Scope) -> Asker | None:
    """The client of a request, if it is identified."""
    found = scope.get(_ASKER)
    return found if isinstance(found, Asker) else None


async def asker_now(guard: Guard, scope: Scope) -> Asker:
    """Identify the client again once the body has arrived: its token may have ended. Raises what is wrong with it."""
    asker = asker_of(scope)
    if guard.asks:
        shown = scope[_SHOWN]
        asker = scope[_ASKER] = guard.recall(shown) or await guard.identify(shown)
    return asker


def shown_by(scope: Scope) -> str | None:
    """The Authorization header of a request, for later use."""
    shown = scope.get(_SHOWN)
    return shown if isinstance(shown, str) else None


def administrator(request: Request) -> Asker:
    """The client of a request, if it is an administrator. Raises ForAdministrators."""
    asker = asker_of(request.scope)
    if not asker.rights.administer:
        raise ForAdministrators(f"{request.url.path} is for administrators")
    return asker


def deed_of(scope: Scope, target: str = "", commit: int | None = None) -> Deed:
    """A request as an entry of the audit log."""
    scope[_ON_RECORD] = True
    client = scope.get("client")
    return Deed(f"{scope['method']} {scope['path']}", client[0] if client else "", target, commit)


def judged(guard: Guard, scope: Scope, error: TidingsError) -> TidingsError:
    """Write an error to the audit log. Returns the error as the client is to get it."""
    found = scope.get(_ASKER)
    return guard.judge(found if isinstance(found, Asker) else None, deed_of(scope), error) or error
