"""A connection to a broker that restores itself: requests, prepared updates, subscriptions.

    async with connect("ws://localhost:9000/subscribe") as broker:
        await broker.update("INSERT DATA { <lamp> <power> 40 }")
        async with await broker.subscribe("SELECT ?lamp ?power WHERE { ?lamp <power> ?power }") as lamps:
            async for change in lamps:
                print(change.added, change.removed, lamps.rows)

If the socket breaks, the connection opens it again, with growing pauses, and resumes the subscriptions. It sends a
query that was under way again; but not an update, because it does not know whether the broker has executed it.
"""

import asyncio
from collections.abc import Awaitable, Iterable, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from types import TracebackType
from typing import Any, TypeVar

from tidings.client.answers import Answer, Committed, Scheduled, answer_of, when
from tidings.client.discovery import persist, say_waiting, subscribe_address
from tidings.client.errors import CannotConnect, ConnectionLost, NoAnswer, NotUnderstood, Refused
from tidings.client.link import Link, open_link
from tidings.client.login.addresses import host_of
from tidings.client.login.credentials import Shown
from tidings.client.login.login import login_of
from tidings.client.login.showing import Showing
from tidings.client.subscription import Subscription
from tidings.client.terms import bound, to_json
from tidings.client.trust import SYSTEM, Trust
from tidings.model.errors import MayNotSubscribe, TidingsError
from tidings.model.publishers import publisher_name
from tidings.protocol import answers
from tidings.protocol.answers import Cancelled, DelayedAccepted, Notification, QueryAnswer, Unsubscribed, UpdateDone

DEFAULT = "ws://localhost:9000/subscribe"

T = TypeVar("T")


def connect(
    url: str = DEFAULT,
    *,
    timeout: float = 30.0,
    patience: float | None = None,
    wait: float | None = 0.0,
    publisher: str | None = None,
    trust: Trust = SYSTEM,
    credentials: Shown | None = None,
) -> "Connection":
    """A connection to a broker, for `async with`. At an `http://` address, it finds the WebSocket address.

    `timeout` is for one answer. `patience` is how many seconds it tries to restore a broken connection, and `wait` how
    many it waits for a broker that is not up yet; None is without a limit. `publisher` is the name that the log records
    for updates. `trust` is for TLS. `credentials` are for a broker with security.
    """
    return Connection(
        url, timeout=timeout, patience=patience, wait=wait, publisher=publisher, trust=trust, credentials=credentials
    )


class Connection:
    """A connection; see the docstring of this module."""

    def __init__(
        self,
        url: str = DEFAULT,
        *,
        timeout: float = 30.0,
        patience: float | None = None,
        wait: float | None = 0.0,
        publisher: str | None = None,
        trust: Trust = SYSTEM,
        credentials: Shown | None = None,
    ) -> None:
        self.url = url
        self.timeout = timeout
        self._trust = trust
        self._login = login_of(credentials, url)
        self._showing = Showing(self._login, timeout, trust)
        self._patience = patience
        self._wait = wait
        self._signature = {} if publisher is None else {"publisher": publisher_name(publisher)}
        self._link: Link | None = None
        self._up = asyncio.Event()
        self._broken = asyncio.Event()
        self._failure: TidingsError | None = None
        self._keeper: asyncio.Task[None] | None = None
        self._renewer: asyncio.Task[None] | None = None
        self._subscriptions: dict[str, Subscription] = {}
        self._starting: dict[str, Subscription] = {}
        self.reconnections = 0

    # -- life ---------------------------------------------------------------------------------------------------

    async def __aenter__(self) -> "Connection":
        await persist(self._open, self._wait, told=say_waiting)
        self._keeper = asyncio.create_task(self._keep())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connection, and end its subscriptions. The broker keeps them for its grace time."""
        tasks = [task for task in (self._keeper, self._renewer) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._link is not None:
            await self._link.close()
        for subscription in self._subscriptions.values():
            subscription.ended()

    async def _open(self) -> None:
        address = await subscribe_address(self.url, self.timeout, self._trust)
        if self._login is not None and host_of(address) != host_of(self.url):
            raise CannotConnect(f"the broker takes subscriptions elsewhere: name {address} to show credentials there")
        token = await self._showing.token()
        self._broken.clear()
        self._link = link = await open_link(
            address, self._notified, self._lost, seconds=self.timeout, trust=self._trust, shown=token
        )
        if not link.is_open:
            raise ConnectionLost("the connection broke as soon as it was made")
        self._up.set()
        if self._renewer is not None:
            self._renewer.cancel()
        self._renewer = asyncio.create_task(self._showing.keep(link, lambda: self.query("ASK {}")))

    def _lost(self, _: ConnectionLost) -> None:
        self._up.clear()
        self._broken.set()

    async def _keep(self) -> None:
        """Whenever the socket breaks, open it again, and resume the subscriptions."""
        while True:
            await self._broken.wait()
            try:
                await self._mend()
            except TidingsError as error:
                self._give_up(error)
                return
            except Exception as error:
                self._give_up(ConnectionLost(f"the connection could not be mended: {error!r}"))
                raise

    def _give_up(self, error: TidingsError) -> None:
        """Leave the connection broken: all requests and subscriptions get the error."""
        self._failure = error
        self._up.set()
        for subscription in self._subscriptions.values():
            subscription.fail(error)

    async def _mend(self) -> None:
        async def attempt() -> None:
            await self._open()
            await self._resume_all()

        await persist(attempt, self._patience)
        self.reconnections += 1

    async def _resume_all(self) -> None:
        for spuid, subscription in list(self._subscriptions.items()):
            resume = {"spuid": spuid, "sequence": subscription.sequence}
            assert self._link is not None
            try:
                await self._begin(self._link, subscription, {**subscription.request, "resume": resume})
            except Refused as error:
                del self._subscriptions[spuid]
                subscription.fail(error)

    # -- requests -----------------------------------------------------------------------------------------------

    async def query(
        self,
        text: str,
        *,
        bindings: Mapping[str, Any] | None = None,
        default_graphs: Iterable[str] = (),
        named_graphs: Iterable[str] = (),
    ) -> Answer:
        """The answer to a query. `bindings` are values for its variables."""
        content = _request(text, bindings, default_graphs, named_graphs)
        while True:
            try:
                return answer_of((await self.ask("query", content, QueryAnswer)).results)
            except ConnectionLost:
                if self._failure is not None:
                    raise

    async def update(
        self,
        text: str,
        *,
        bindings: Mapping[str, Any] | None = None,
        using_graphs: Iterable[str] = (),
        using_named_graphs: Iterable[str] = (),
    ) -> Committed:
        """Execute an update. It is durable when this returns."""
        return await self.publish(_request(text, bindings, using_graphs, using_named_graphs))

    async def schedule(
        self,
        text: str,
        *,
        at: datetime | int | None = None,
        delay: timedelta | float | None = None,
        bindings: Mapping[str, Any] | None = None,
    ) -> Scheduled:
        """Schedule an update for an instant, or after a delay (a number is in seconds)."""
        accepted = await self._publish(_request(text, bindings, (), ()) | when(at, delay), DelayedAccepted)
        return Scheduled(accepted.delayed, accepted.time)

    async def cancel(self, scheduled: Scheduled | str) -> None:
        """Cancel a scheduled update."""
        name = scheduled if isinstance(scheduled, str) else scheduled.id
        await self.ask("cancel", {"delayed": name}, Cancelled)

    async def prepare(self, text: str) -> "Prepared":
        """Send the text of an update once; each execution then sends only the values of its variables."""
        prepared = Prepared(self, text)
        await prepared.check()
        return prepared

    async def publish(self, content: dict[str, Any]) -> Committed:
        """Execute an update, given as the content of its message, in the name of the publisher."""
        done = await self._publish(content, UpdateDone)
        return Committed(done.sequence, done.time, done.added, done.removed)

    async def _publish(self, content: dict[str, Any], expected: type[T]) -> T:
        return await self.ask("update", content | self._signature, expected)

    async def ask(self, kind: str, content: dict[str, Any], expected: type[T]) -> T:
        """The answer to any request of the protocol. Raises NotUnderstood if it has another type than expected."""
        answer = await self._answer(await self._within(self.linked()), kind, content)
        if not isinstance(answer, expected):
            raise NotUnderstood(f"the answer to {kind} is of another kind: {type(answer).__name__}")
        return answer

    async def _answer(self, link: Link, kind: str, content: dict[str, Any], alias: str | None = None) -> answers.Answer:
        """The answer to a request. If the broker refuses the token and there is another, sends the request again."""
        try:
            return await self._within(link.send(kind, content, alias))
        except Refused as error:
            if not await self._showing.another(link, error):
                raise
            return await self._within(link.send(kind, content, alias))

    async def _within(self, work: Awaitable[T]) -> T:
        try:
            async with asyncio.timeout(self.timeout):
                return await work
        except TimeoutError as error:
            raise NoAnswer(f"no answer within {self.timeout:g} s") from error

    @property
    def connected(self) -> bool:
        """Whether the socket is open now. If not, the connection is being restored, or has failed."""
        return self._link is not None and self._link.is_open and self._failure is None

    async def linked(self) -> Link:
        """The link. Waits until there is one."""
        await self._up.wait()
        if self._failure is not None:
            raise self._failure
        assert self._link is not None
        return self._link

    # -- subscriptions ------------------------------------------------------------------------------------------

    async def subscribe(
        self,
        text: str,
        *,
        bindings: Mapping[str, Any] | None = None,
        default_graphs: Iterable[str] = (),
        named_graphs: Iterable[str] = (),
    ) -> Subscription:
        """Subscribe to a query. The first change is the whole answer; `rows` has it when this returns."""
        subscription = Subscription(_request(text, bindings, default_graphs, named_graphs), self._unsubscribe)
        await self._begin(await self.linked(), subscription, subscription.request)
        return subscription

    async def _begin(self, link: Link, subscription: Subscription, content: dict[str, Any]) -> None:
        alias = link.name("subscribe")
        self._starting[alias] = subscription
        try:
            await self._answer(link, "subscribe", content, alias)
        finally:
            self._starting.pop(alias, None)

    def _notified(self, notification: Notification | Unsubscribed) -> None:
        spuid = notification.spuid
        if isinstance(notification, Unsubscribed):  # without a request: the broker has ended the subscription
            ended = self._subscriptions.pop(spuid, None)
            if ended is not None:
                ended.fail(MayNotSubscribe(notification.reason or "the broker ended the subscription"))
            return
        subscription = self._starting.get(str(notification.alias))
        if subscription is not None:
            if subscription.spuid is not None and subscription.spuid != spuid:
                self._subscriptions.pop(subscription.spuid, None)
            self._subscriptions[spuid] = subscription
        else:
            subscription = self._subscriptions.get(spuid)
        if subscription is not None:
            subscription.take(notification)

    async def _unsubscribe(self, subscription: Subscription) -> None:
        spuid = subscription.spuid
        if spuid is not None and self._subscriptions.pop(spuid, None) is not None and self._failure is None:
            with suppress(ConnectionLost):  # then the broker ends it after its grace time, as it is not resumed
                await self.ask("unsubscribe", {"spuid": spuid}, Unsubscribed)
        subscription.ended()


class Prepared:
    """A prepared update; each call binds its variables: `await prepared(lamp=IRI("…"), power=40)`."""

    def __init__(self, connection: Connection, text: str) -> None:
        self._connection = connection
        self._text = text
        self._name = ""
        self._link: Link | None = None
        self.variables: tuple[str, ...] = ()

    async def check(self) -> None:
        """Prepare the update at the broker, again for each new socket: with a socket, its prepared updates end."""
        link = await self._connection.linked()
        if self._link is not link:
            kept = await self._connection.ask("prepare", {"sparql": self._text}, answers.Prepared)
            self._link, self._name = link, kept.prepared
            self.variables = kept.variables

    async def __call__(self, **values: Any) -> Committed:
        """Execute it with some variables bound."""
        await self.check()
        content = {"prepared": self._name, "bindings": {name: to_json(value) for name, value in values.items()}}
        return await self._connection.publish(content)


def _request(
    text: str, bindings: Mapping[str, Any] | None, default: Iterable[str], named: Iterable[str]
) -> dict[str, Any]:
    content: dict[str, Any] = {"sparql": bound(text, bindings) if bindings else text}
    if graphs := _listed(default):
        content["default-graph-uri"] = graphs
    if graphs := _listed(named):
        content["named-graph-uri"] = graphs
    return content


def _listed(graphs: Iterable[str]) -> list[str]:
    return [graphs] if isinstance(graphs, str) else list(graphs)
