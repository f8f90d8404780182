"""Endpoints for operators: health, status, connections, subscriptions, delayed updates, reconciliation."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

from msgspec import to_builtins
from msgspec.structs import asdict
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute

from tidings import __version__
from tidings.broker.approximate.clause import text_of
from tidings.broker.broker import Broker
from tidings.broker.errors import ShuttingDown, UnknownDelayed
from tidings.broker.ownership import may_manage
from tidings.broker.subscriptions.roll import Sees
from tidings.broker.subscriptions.subscriber import Subscriber
from tidings.broker.updates.schedule import Delayed
from tidings.engine.explain import Explained, is_incremental
from tidings.gates.answers import delayed_answer
from tidings.gates.asking import Asker, Guard
from tidings.gates.figures import Figures, no_figures
from tidings.gates.gate import Gate, gate_status
from tidings.gates.http.monitoring.connections import Connections
from tidings.gates.http.monitoring.metrics import Metrics
from tidings.gates.http.monitoring.status import lake_status, seen_by, status
from tidings.gates.http.responses import Envelope
from tidings.gates.http.routing import accept_of, page_of, route
from tidings.gates.http.security.identification import administrator, asker_of, deed_of
from tidings.gates.quotas import Quotas
from tidings.log.errors import LogBroken
from tidings.model.access import Rights
from tidings.model.errors import BadRequest, NotAllowed, TidingsError
from tidings.model.graph_patterns import written
from tidings.model.terms import iri_text

T = TypeVar("T")


class Operations:
    """The handlers, on one broker."""

    def __init__(
        self,
        broker: Broker,
        guard: Guard,
        quotas: Quotas,
        *,
        read_only: bool,
        figures: Figures = no_figures,
        gates: Sequence[Gate] = (),
    ) -> None:
        self._broker = broker
        self._guard = guard
        self._read_only = read_only
        self._started = broker.now()
        self._gates = gates
        self._connections = Connections(broker)
        self._metrics = Metrics(broker, guard, quotas, self._started, figures, gates)

    def routes(self) -> list[BaseRoute]:
        return [
            route("/healthz", self._health, "GET", "HEAD", public=True),
            route("/metrics", self._metrics.answer, "GET", "HEAD"),
            route("/status", self._status, "GET", "HEAD"),
            route("/reconcile", self._reconcile, "POST"),
            route("/connections", self._connections.answer, "GET", "HEAD"),
            route("/subscriptions", self._subscriptions, "GET", "HEAD"),
            route("/subscriptions/{spuid}", self._subscription, "GET", "HEAD"),
            route("/delayed", self._agenda, "GET", "HEAD"),
            route("/delayed/{id}", self._delayed, "GET", "HEAD", "DELETE"),
        ]

    async def _health(self, _: Request) -> Response:
        """Whether the broker accepts updates, as a word and an HTTP status."""
        error: TidingsError | None = None
        try:
            self._broker.check_log()
        except LogBroken as broken:
            error = broken
        if self._broker.ending:
            error = ShuttingDown("the broker is stopping")
        if error is not None:
            return Envelope({"status": error.code, "version": __version__, **error.to_json()}, error.status)
        return Envelope({"status": "ok", "version": __version__})

    async def _status(self, request: Request) -> Response:
        rights = asker_of(request.scope).rights
        content = status(self._broker.status(rights), self._started)
        content["gates"] = {gate.name: gate_status(gate) for gate in self._gates}
        lake = self._broker.queries.lake
        content["lake"] = None if lake is None else lake_status(await lake.status())
        return Envelope(seen_by(content, rights) if self._guard.asks else content)

    async def _reconcile(self, request: Request) -> Response:
        """Compare with the endpoint behind the broker. `right` says whose content is right; `dry` changes nothing."""
        asker, given = administrator(request), request.query_params
        right, dry = given.get("right", "endpoint"), given.get("dry", "false")
        if right not in ("endpoint", "broker") or dry not in ("true", "false"):
            raise BadRequest("right is endpoint or broker, and dry is true or false")
        if self._read_only:
            raise NotAllowed("this endpoint is read-only")
        found = await self._broker.reconcile("broker" if right == "broker" else "endpoint", dry=dry == "true")
        if self._guard.asks:
            self._guard.judge(asker, deed_of(request.scope, right))
        return Envelope(to_builtins(found))

    # -- subscriptions ------------------------------------------------------------------------------------------

    async def _subscriptions(self, request: Request) -> Response:
        """The subscriptions that the asker may see: the next page `after` a position, those that began and ended
        `since` a position, or with `order=cost`, the most expensive."""
        asker = asker_of(request.scope)
        sees, rights = _sees(asker), asker.rights
        if (order := request.query_params.get("order")) is not None:
            return self._dearest(request, order, sees, rights)
        after, since = (request.query_params.get(name) for name in ("after", "since"))
        roll = self._broker.roll
        ended = None if since is None else roll.ended_since(since, sees)
        start = after if after is not None else (since if ended is not None else None)
        page, more = page_of(request, roll.all(sees) if start is None else roll.after(start, sees))
        shown = [self._shown(each, rights) for each in page]
        content: dict[str, Any] = {"total": roll.count(sees), "version": roll.end, "subscriptions": shown}
        if ended is not None:
            content["ended"] = ended
        return Envelope(content | ({"after": roll.position(page[-1])} if more else {}))

    def _dearest(self, request: Request, order: str, sees: Sees, rights: Rights) -> Response:
        """The most expensive subscriptions, as one page only, because the order changes all the time."""
        if order != "cost" or {"after", "since"} & request.query_params.keys():
            raise BadRequest("order can only be cost, and goes with neither after nor since")
        page, _ = page_of(request, self._broker.dearest(sees))
        roll = self._broker.roll
        shown = [self._shown(each, rights) for each in page]
        return Envelope({"total": roll.count(sees), "version": roll.end, "subscriptions": shown})

    async def _subscription(self, request: Request) -> Response:
        asker = asker_of(request.scope)
        subscriber = self._broker.find(request.path_params["spuid"], asker.subject, asker.rights)
        explained = self._broker.explain(subscriber, asker.rights)
        wanted = request.query_params.get("format")
        if wanted == "text" or (wanted is None and (accept_of(request) or "").startswith("text/plain")):
            return PlainTextResponse(explained.to_text() + "\n", headers={"vary": "accept"})
        return Envelope(
            self._shown(subscriber, asker.rights) | {"explain": explained.to_json()}, headers={"vary": "accept"}
        )

    def _shown(self, subscriber: Subscriber, rights: Rights) -> dict[str, Any]:
        dataset, seen = subscriber.dataset, subscriber.rights.subscribe
        away = self._broker.absence(subscriber)
        limited = {} if seen.everything else {"graphs": written(seen)}
        explained = self._broker.explain(subscriber, rights)
        return (
            limited
            | {
                "spuid": subscriber.spuid,
                "alias": subscriber.alias,
                "sparql": text_of(subscriber.text) or subscriber.text,
                "default-graph-uri": [iri_text(name) for name in (dataset and dataset.default) or ()],
                "named-graph-uri": [iri_text(name) for name in (dataset and dataset.named) or ()],
                "sequence": subscriber.sequence,
                "connected": subscriber.session is not None,
                "incremental": is_incremental(explained.plan),
                "cost": _cost(explained),
            }
            | ({} if away is None else {"away": away})
        )

    # -- delayed updates ----------------------------------------------------------------------------------------

    async def _agenda(self, request: Request) -> Response:
        after = request.query_params.get("after")
        sees = _sees(asker_of(request.scope))
        waiting = [each for each in self._broker.schedule if sees(each.owner)]
        rest = iter(waiting)
        if after is not None:
            rest = _behind(rest, self._delayed_of(request, after))
        page, more = page_of(request, rest)
        content: dict[str, Any] = {"total": len(waiting), "delayed": [_delayed(each) for each in page]}
        return Envelope(content | ({"after": page[-1].id} if more else {}))

    async def _delayed(self, request: Request) -> Response:
        number = request.path_params["id"]
        if request.method != "DELETE":
            return Envelope(_delayed(self._delayed_of(request, number)))
        if self._read_only:
            raise NotAllowed("this endpoint is read-only")
        self._delayed_of(request, number)
        asker = asker_of(request.scope)
        cancelled = await self._broker.cancel_delayed(number, asker.subject, asker.rights)
        if self._guard.asks:
            self._guard.judge(asker, deed_of(request.scope, number))
        return Envelope({"cancelled": _delayed(cancelled)})

    def _delayed_of(self, request: Request, number: str) -> Delayed:
        """A delayed update by its name. Raises UnknownDelayed, also if the asker may not know of it."""
        found = self._broker.schedule.find(number)
        if not _sees(asker_of(request.scope))(found.owner):
            raise UnknownDelayed(f"no update waits as {number}")
        return found


def _cost(explained: Explained) -> dict[str, float] | None:
    """What the plan of a subscription has cost, and how many share it; None if an external engine answers it."""
    cost = explained.cost
    return None if cost is None else {**asdict(cost), "subscribers": explained.subscribers}


def _sees(asker: Asker) -> Sees:
    return lambda owner: may_manage(owner, asker.subject, asker.rights)


def _delayed(delayed: Delayed) -> dict[str, Any]:
    return delayed_answer(delayed).to_json() | {"sparql": delayed.text}


def _behind(items: Iterable[T], last: T) -> Iterator[T]:
    """The items after this one."""
    rest = iter(items)
    for item in rest:
        if item is last:
            break
    return rest
