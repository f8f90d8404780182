"""For those who run a broker: how it is, who has subscribed to what, what is yet to come."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute

from tidings import __version__
from tidings.broker.broker import Broker
from tidings.broker.errors import ShuttingDown
from tidings.broker.subscriptions.subscriber import Subscriber
from tidings.broker.updates.schedule import Delayed
from tidings.engine.explain import is_incremental
from tidings.gates.answers import delayed_answer
from tidings.gates.http.monitoring.metrics import Metrics
from tidings.gates.http.monitoring.status import status
from tidings.gates.http.responses import Envelope
from tidings.gates.http.routing import accept_of, route, whole
from tidings.log.errors import LogBroken
from tidings.model.errors import NotAllowed, TidingsError
from tidings.model.terms import iri_text

T = TypeVar("T")
PAGE = 100
MOST_PER_PAGE = 1_000


class Operations:
    """The handlers, on one broker."""

    def __init__(self, broker: Broker, *, read_only: bool) -> None:
        self._broker = broker
        self._read_only = read_only
        self._started = broker.chronicle.clock()
        self._metrics = Metrics(broker, self._started)

    def routes(self) -> list[BaseRoute]:
        return [
            route("/healthz", self._health, "GET", "HEAD"),
            route("/metrics", self._metrics.answer, "GET", "HEAD"),
            route("/status", self._status, "GET", "HEAD"),
            route("/subscriptions", self._subscriptions, "GET", "HEAD"),
            route("/subscriptions/{spuid}", self._subscription, "GET", "HEAD"),
            route("/delayed", self._agenda, "GET", "HEAD"),
            route("/delayed/{id}", self._delayed, "GET", "HEAD", "DELETE"),
        ]

    async def _health(self, _: Request) -> Response:
        """Whether updates are welcome, in a word and a status."""
        error: TidingsError | None = None
        try:
            self._broker.chronicle.check()
        except LogBroken as broken:
            error = broken
        if self._broker.ending:
            error = ShuttingDown("the broker is stopping")
        if error is not None:
            return Envelope({"status": error.code, "version": __version__, **error.to_json()}, error.status)
        return Envelope({"status": "ok", "version": __version__})

    async def _status(self, _: Request) -> Response:
        return Envelope(status(self._broker, self._started))

    # -- subscriptions ------------------------------------------------------------------------------------------

    async def _subscriptions(self, request: Request) -> Response:
        """All of them; `after` a position, the rest; `since` a position, who came and who ended."""
        after, since = (request.query_params.get(name) for name in ("after", "since"))
        held = self._broker.subscriptions
        roll = held.roll
        ended = None if since is None else roll.ended_since(since)
        start = after if after is not None else (since if ended is not None else None)
        page, more = _page(request, roll.all() if start is None else roll.after(start))
        content: dict[str, Any] = {
            "total": len(held), "version": roll.end, "subscriptions": [self._shown(each) for each in page]
        }  # fmt: skip
        if ended is not None:
            content["ended"] = ended
        return Envelope(content | ({"after": roll.position(page[-1])} if more else {}))

    async def _subscription(self, request: Request) -> Response:
        subscriber = self._broker.subscriptions.find(request.path_params["spuid"])
        explained = self._broker.subscriptions.explain(subscriber)
        wanted = request.query_params.get("format")
        if wanted == "text" or (wanted is None and (accept_of(request) or "").startswith("text/plain")):
            return PlainTextResponse(explained.to_text() + "\n", headers={"vary": "accept"})
        return Envelope(self._shown(subscriber) | {"explain": explained.to_json()}, headers={"vary": "accept"})

    def _shown(self, subscriber: Subscriber) -> dict[str, Any]:
        dataset = subscriber.dataset
        away = self._broker.subscriptions.absence(subscriber)
        return {
            "spuid": subscriber.spuid,
            "alias": subscriber.alias,
            "sparql": subscriber.text,
            "default-graph-uri": [iri_text(name) for name in (dataset and dataset.default) or ()],
            "named-graph-uri": [iri_text(name) for name in (dataset and dataset.named) or ()],
            "sequence": subscriber.sequence,
            "connected": subscriber.session is not None,
            "incremental": is_incremental(subscriber.handle.spu.explain()),
        } | ({} if away is None else {"away": away})

    # -- delayed updates ----------------------------------------------------------------------------------------

    async def _agenda(self, request: Request) -> Response:
        after = request.query_params.get("after")
        agenda = self._broker.delays.agenda
        rest = iter(agenda)
        if after is not None:
            last = agenda.find(after)
            rest = _behind(rest, last)
        page, more = _page(request, rest)
        content: dict[str, Any] = {"total": len(agenda), "delayed": [_delayed(each) for each in page]}
        return Envelope(content | ({"after": page[-1].id} if more else {}))

    async def _delayed(self, request: Request) -> Response:
        number = request.path_params["id"]
        if request.method != "DELETE":
            return Envelope(_delayed(self._broker.delays.agenda.find(number)))
        if self._read_only:
            raise NotAllowed("this endpoint is read-only")
        return Envelope({"cancelled": _delayed(await self._broker.delays.cancel(number))})


def _delayed(delayed: Delayed) -> dict[str, Any]:
    return delayed_answer(delayed).to_json() | {"sparql": delayed.text}


def _behind(items: Iterable[T], last: T) -> Iterator[T]:
    """What follows an item."""
    rest = iter(items)
    for item in rest:
        if item is last:
            break
    return rest


def _page(request: Request, items: Iterator[T]) -> tuple[list[T], bool]:
    """As many as were asked for, and whether there are more."""
    limit = max(1, whole(request.query_params.get("limit"), "limit", PAGE, MOST_PER_PAGE))
    page = list(islice(items, limit))
    return page, next(items, None) is not None
