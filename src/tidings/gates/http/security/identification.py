"""Who sends an HTTP request: found out before anything else, for every path and every way in, and again when its body
has come, which may take a while.

What is wrong with a token is said where somebody asks who it is, and not before: health, the page, the authorisation
server and the questions of browsers that come ahead of a request are for everybody.
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
    """Writes into each request who sends it."""

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
    """Keep a record of an answer, unless whoever made it has kept one: it changes nothing then."""

    async def recorded(message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] < 400 and _ON_RECORD not in scope:
            guard.judge(identified(scope), replace(deed_of(scope), reads=True))
        await send(message)

    return recorded


def _shown(scope: Scope) -> str | None:
    """What a request shows. Raises InvalidRequest."""
    shown = [value for name, value in scope["headers"] if name == _HEADER]
    if len(shown) > 1:
        raise InvalidRequest("there is more than one Authorization header")
    return shown[0].decode("latin-1") if shown else None


def asker_of(scope: Scope) -> Asker:
    """Who sends a request. Raises what is wrong with what they have shown."""
    found = scope[_ASKER]
    if isinstance(found, TidingsError):
        raise found
    assert isinstance(found, Asker)
    return found


def identified(scope: Scope) -> Asker | None:
    """Who sends a request, as far as that is known."""
    found = scope.get(_ASKER)
    return found if isinstance(found, Asker) else None


async def asker_now(guard: Guard, scope: Scope) -> Asker:
    """Who sends a request, once all of it is here: what it has shown may no longer count. Raises what is wrong."""
    asker = asker_of(scope)
    if guard.asks:
        shown = scope[_SHOWN]
        asker = scope[_ASKER] = guard.recall(shown) or await guard.identify(shown)
    return asker


def shown_by(scope: Scope) -> str | None:
    """What a request has shown, to be shown again later."""
    shown = scope.get(_SHOWN)
    return shown if isinstance(shown, str) else None


def administrator(request: Request) -> Asker:
    """Who sends a request, if they may see and change everything. Raises ForAdministrators."""
    asker = asker_of(request.scope)
    if not asker.rights.administer:
        raise ForAdministrators(f"{request.url.path} is for administrators")
    return asker


def deed_of(scope: Scope, target: str = "", commit: int | None = None) -> Deed:
    """A request, as it is put on record."""
    scope[_ON_RECORD] = True
    client = scope.get("client")
    return Deed(f"{scope['method']} {scope['path']}", client[0] if client else "", target, commit)


def judged(guard: Guard, scope: Scope, error: TidingsError) -> TidingsError:
    """An error as the sender of a request is to hear it, and a record of it."""
    found = scope.get(_ASKER)
    return guard.judge(found if isinstance(found, Asker) else None, deed_of(scope), error) or error
