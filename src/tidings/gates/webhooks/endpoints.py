"""The HTTP endpoints with which clients make, see, retry and end their web hooks.

POST /webhooks {"url": …, "sparql": …}      201, with the secret, which is never shown again
POST /webhooks {"inbox": …, "sparql": …}    the same, for the inbox of a resource: Linked Data Notifications
GET  /webhooks, /webhooks/{id}              their state
POST /webhooks/{id}/retry                   tries the next attempt of a hook now, also if it is parked
DELETE /webhooks/{id}
"""

from typing import Any

import msgspec
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from tidings.broker.ownership import may_manage
from tidings.gates.asking import Asker, Guard
from tidings.gates.http.limits import read_body
from tidings.gates.http.responses import Envelope
from tidings.gates.http.routing import page_of, route
from tidings.gates.http.security.identification import asker_now, asker_of, deed_of
from tidings.gates.webhooks.deliveries import Deliveries
from tidings.gates.webhooks.errors import UnknownWebhook
from tidings.gates.webhooks.hooks import Hook, State
from tidings.model.errors import BadRequest
from tidings.protocol.echo import Alias
from tidings.protocol.instants import shown
from tidings.protocol.messages import Graphs

_UNKEPT = {"cache-control": "no-store"}
_Names = str | list[str] | None


class Registration(Struct, frozen=True, rename={"default": "default-graph-uri", "named": "named-graph-uri"}):
    """What is asked for."""

    sparql: str
    url: str | None = None
    inbox: str | None = None
    """A resource, whose inbox is to be found."""
    default: _Names = None
    named: _Names = None
    alias: Alias = None

    @property
    def graphs(self) -> Graphs:
        return Graphs(_names(self.default), _names(self.named))


class WebhookEndpoints:
    """The handlers, for one gate."""

    def __init__(self, deliveries: Deliveries, guard: Guard, max_body: int) -> None:
        self._deliveries = deliveries
        self._guard = guard
        self._max_body = max_body

    def routes(self) -> list[BaseRoute]:
        return [
            route("/webhooks", self._all, "GET", "HEAD", "POST"),
            route("/webhooks/{id}", self._one, "GET", "HEAD", "DELETE"),
            route("/webhooks/{id}/retry", self._retry, "POST"),
        ]

    async def _all(self, request: Request) -> Response:
        if request.method == "POST":
            return await self._make(request)
        asker = asker_of(request.scope)
        mine = [state for state in self._deliveries.hooks if _is_of(state, asker)]
        after = request.query_params.get("after")
        known = [state.hook.id for state in mine]
        rest = iter(mine[known.index(after) + 1 :] if after in known else mine)
        page, more = page_of(request, rest)
        content: dict[str, Any] = {"total": len(mine), "webhooks": [self._shown(state) for state in page]}
        return Envelope(content | ({"after": page[-1].hook.id} if more else {}))

    async def _make(self, request: Request) -> Response:
        body = await read_body(request, self._max_body)
        asker = await asker_now(self._guard, request.scope)
        try:
            registration = msgspec.json.decode(body, type=Registration)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise BadRequest(f"the web hook cannot be read: {error}") from error
        hook = await self._made(registration, asker.subject)
        self._record(request, asker, hook.id)
        content = self._shown(self._deliveries.hooks.find(hook.id)) | {"secret": self._deliveries.secret(hook.id)}
        return Envelope({"webhook": content}, 201, {"location": f"/webhooks/{hook.id}", **_UNKEPT})

    async def _made(self, registration: Registration, owner: str | None) -> Hook:
        asked = registration.sparql, registration.graphs, registration.alias, owner
        match registration.url, registration.inbox:
            case str(url), None:
                return await self._deliveries.make(url, *asked)
            case None, str(target):
                return await self._deliveries.notify(target, *asked)
            case _:
                raise BadRequest("a web hook has a url, or the resource whose inbox is to be notified as inbox")

    async def _one(self, request: Request) -> Response:
        state = self._find(request)
        if request.method == "DELETE":
            await self._deliveries.end(state.hook.id)
            self._record(request, asker_of(request.scope), state.hook.id)
        return Envelope({"webhook": self._shown(state)})

    async def _retry(self, request: Request) -> Response:
        state = self._find(request)
        await self._deliveries.wake(state.hook.id)
        self._record(request, asker_of(request.scope), state.hook.id)
        return Envelope({"webhook": self._shown(self._deliveries.hooks.find(state.hook.id))})

    def _find(self, request: Request) -> State:
        """Raises UnknownWebhook, also if it belongs to another client."""
        name = request.path_params["id"]
        state = self._deliveries.hooks.find(name)
        if not _is_of(state, asker_of(request.scope)):
            raise UnknownWebhook(f"there is no web hook {name[:100]}")
        return state

    def _record(self, request: Request, asker: Asker, name: str) -> None:
        if self._guard.asks:
            self._guard.judge(asker, deed_of(request.scope, name))

    def _shown(self, state: State) -> dict[str, Any]:
        hook, letter, parked = state.hook, state.letter, state.parked
        failure = self._deliveries.failure(hook.id)
        content: dict[str, Any] = {
            "id": hook.id, "url": hook.url, "spuid": hook.spuid, "sparql": hook.sparql, "alias": hook.alias,
            "default-graph-uri": hook.default, "named-graph-uri": hook.named, "made": shown(hook.made),
            "status": "parked" if parked else "retrying" if failure else "delivering" if letter else "idle",
            "delivered": state.number - (letter is not None),
        }  # fmt: skip
        if hook.target is not None:
            content["inbox"] = hook.target
        if parked is not None:
            content |= {"parked": shown(parked.since), "reason": parked.reason}
        elif failure is not None:
            content["reason"] = failure
        if letter is not None:
            content["waiting"] = {"number": letter.number, "since": shown(letter.since)}
        return content


def _is_of(state: State, asker: Asker) -> bool:
    return may_manage(state.hook.owner, asker.subject, asker.rights)


def _names(given: _Names) -> tuple[str, ...]:
    if given is None:
        return ()
    return (given,) if isinstance(given, str) else tuple(given)
