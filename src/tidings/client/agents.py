"""Agents of an application: producers, consumers and aggregators, each bound to primitives of its profile by name.

    app = Application("lighting.jsap")

    @app.aggregator("PRESENCE", "SWITCH")
    def lamp_on(row):
        return {"lamp": row["lamp"], "status": "ON"}

    app.run()

A *producer* has an update, a *consumer* has a query, and an *aggregator* has both: it responds to changes of the query
with updates. A combinatorial aggregator gets one added row at a time and has no state; a sequential one gets whole
changes, and has a state. All agents of an application share their connections, one for each broker; updates go to any
SPARQL endpoint that the profile names.
"""

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, TypeAlias, TypeVar

from tidings.client.answers import Answer, Committed, Row, Scheduled
from tidings.client.connection import Connection
from tidings.client.endpoint import Endpoint
from tidings.client.errors import CannotConnect, ConnectionLost, NoAnswer
from tidings.client.jsap.primitives import Primitive
from tidings.client.jsap.profile import Jsap, load
from tidings.client.login.credentials import Shown
from tidings.client.subscription import Change, Subscription
from tidings.client.trust import SYSTEM, Trust

_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 5.0

log = logging.getLogger("tidings.client")

S = TypeVar("S")
A = TypeVar("A", bound="Consumer")
Values: TypeAlias = Mapping[str, Any]
Updates: TypeAlias = Values | Iterable[Values] | None
"""The result of an aggregator's rule: the values of one update, of several, or None."""
Rule: TypeAlias = Callable[[Row], Updates | Awaitable[Updates]]
StatefulRule: TypeAlias = Callable[[S, Change], Updates | Awaitable[Updates]]
Listener: TypeAlias = Callable[[Change], Awaitable[None] | None]


class Producer:
    """Publishes an update of the profile: `await producer(lamp=IRI("…"), status="ON")`."""

    def __init__(self, application: "Application", primitive: Primitive) -> None:
        self._application = application
        self.primitive = primitive

    async def __call__(self, **values: Any) -> Committed | None:
        """Publish the update. Brokers return what it did, plain SPARQL endpoints do not (None)."""
        primitive = self.primitive
        return await self._application.endpoint(primitive).update(
            primitive.bind(values),
            using_graphs=primitive.dataset.default,
            using_named_graphs=primitive.dataset.named,
        )

    async def later(self, *, at: Any = None, delay: Any = None, **values: Any) -> Scheduled:
        """Schedule the update for an instant, or after a delay in seconds."""
        primitive = self.primitive
        return await self._application.endpoint(primitive).schedule(
            primitive.bind(values),
            at=at,
            delay=delay,
            using_graphs=primitive.dataset.default,
            using_named_graphs=primitive.dataset.named,
        )


class Consumer:
    """Subscribes to a query of the profile, and passes each change to a listener. `rows` is the present answer."""

    def __init__(
        self, application: "Application", primitive: Primitive, values: Values, listener: Listener | None = None
    ) -> None:
        self._application = application
        self.primitive = primitive
        self._values = values
        self._listener = listener
        self._live: Subscription | None = None

    @property
    def rows(self) -> list[Row]:
        return [] if self._live is None else self._live.rows

    async def subscribe(self) -> Subscription:
        """Subscribe, unless that is done; the first change is the whole answer."""
        if self._live is None:
            primitive = self.primitive
            connection = await self._application.connection(primitive)
            self._live = await connection.subscribe(
                primitive.bind(self._values),
                default_graphs=primitive.dataset.default,
                named_graphs=primitive.dataset.named,
            )
        return self._live

    async def run(self) -> None:
        """Pass on changes until the subscription ends."""
        async for change in await self.subscribe():
            await self.changed(change)

    async def changed(self, change: Change) -> None:
        if self._listener is not None:
            await _awaited(self._listener(change))


class Aggregator(Consumer):
    """A combinatorial aggregator: its rule gets one added row at a time."""

    def __init__(
        self, application: "Application", query: Primitive, update: Primitive, values: Values, rule: Rule
    ) -> None:
        super().__init__(application, query, values)
        self._rule = rule
        self.produce = Producer(application, update)

    async def changed(self, change: Change) -> None:
        for row in change.added:
            await self._publish(await _awaited(self._rule(row)))

    async def _publish(self, updates: Updates) -> None:
        if updates is None:
            return
        for values in [updates] if isinstance(updates, Mapping) else updates:
            await self._insist(values)

    async def _insist(self, values: Values) -> None:
        """Publish, and repeat that until the broker is reachable, so that no result of the rule is lost.

        An update whose outcome is unknown is sent again, so it may be executed twice."""
        pause = _FIRST_PAUSE
        while True:
            try:
                await self.produce(**values)
            except (CannotConnect, ConnectionLost, NoAnswer) as error:
                log.warning("%s could not be published, and is tried again: %s", self.produce.primitive.name, error)
                await asyncio.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)
            else:
                return


class SequentialAggregator(Aggregator, Generic[S]):
    """A sequential aggregator: its rule gets whole changes, and a state that it may modify."""

    def __init__(
        self,
        application: "Application",
        query: Primitive,
        update: Primitive,
        values: Values,
        rule: StatefulRule[S],
        state: S,
    ) -> None:
        super().__init__(application, query, update, values, lambda _: None)
        self._stateful = rule
        self.state = state

    async def changed(self, change: Change) -> None:
        await self._publish(await _awaited(self._stateful(self.state, change)))


class Application:
    """The agents of a profile. They work within `async with`, or until `run` is interrupted. `publisher` is the name
    that the log records for their updates. `credentials` are shown to the broker of the profile."""

    def __init__(
        self,
        profile: Jsap | Path | str | Mapping[str, Any],
        *,
        timeout: float = 30.0,
        wait: float | None = 0.0,
        publisher: str | None = None,
        trust: Trust = SYSTEM,
        credentials: Shown | None = None,
    ) -> None:
        self._waits = wait
        self._trust = trust
        self._credentials = credentials
        self.profile = profile if isinstance(profile, Jsap) else load(profile)
        self._timeout = timeout
        self._publisher = publisher
        self._agents: list[Consumer] = []
        self._connections: dict[str, asyncio.Task[Connection]] = {}
        self._endpoints: dict[str, Endpoint] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._working = False

    # -- agents -------------------------------------------------------------------------------------------------

    def producer(self, update: str) -> Producer:
        return Producer(self, self.profile.update(update))

    def consumer(self, query: str, /, **values: Any) -> Callable[[Listener], Consumer]:
        """Decorates a function that is called with every change, beginning with the first answer."""
        primitive = self.profile.query(query)
        return lambda listener: self._add(Consumer(self, primitive, values, listener))

    def aggregator(self, query: str, update: str, /, **values: Any) -> Callable[[Rule], Aggregator]:
        """Decorates a function from an added row to the values of one update, of several, or None."""
        pair = self.profile.query(query), self.profile.update(update)
        return lambda rule: self._add(Aggregator(self, *pair, values, rule))

    def sequential(
        self, query: str, update: str, /, *, state: S, **values: Any
    ) -> Callable[[StatefulRule[S]], SequentialAggregator[S]]:
        """Decorates a function from the state and a change to the values of updates; it may modify the state."""
        pair = self.profile.query(query), self.profile.update(update)
        return lambda rule: self._add(SequentialAggregator(self, *pair, values, rule, state))

    async def query(self, name: str, /, **values: Any) -> Answer:
        """The answer to a query of the profile, without a subscription."""
        primitive = self.profile.query(name)
        return await self.endpoint(primitive).query(
            primitive.bind(values), default_graphs=primitive.dataset.default, named_graphs=primitive.dataset.named
        )

    def _add(self, agent: A) -> A:
        self._agents.append(agent)
        if self._working:
            self._tasks.append(asyncio.create_task(agent.run()))
        return agent

    # -- connections --------------------------------------------------------------------------------------------

    async def connection(self, primitive: Primitive) -> Connection:
        """The connection to the broker of a query. All agents with that broker share it."""
        address = primitive.ws
        if address not in self._connections:
            shown = self.profile.oauth.shown_at(address, self._credentials)
            made = Connection(address, timeout=self._timeout, wait=self._waits, trust=self._trust, credentials=shown)
            self._connections[address] = asyncio.create_task(made.__aenter__())
        return await self._connections[address]

    def endpoint(self, primitive: Primitive) -> Endpoint:
        """The HTTP endpoint of an update or a query, with the method that the profile specifies."""
        http = primitive.http
        key = f"{http.method} {http.url}"
        if key not in self._endpoints:
            self._endpoints[key] = Endpoint(
                http.url,
                timeout=self._timeout,
                wait=self._waits,
                method=http.method,
                publisher=self._publisher,
                trust=self._trust,
                credentials=self.profile.oauth.shown_at(http.url, self._credentials),
            )
        return self._endpoints[key]

    # -- life ---------------------------------------------------------------------------------------------------

    async def __aenter__(self) -> "Application":
        """Subscribe all agents, and start them."""
        try:
            await asyncio.gather(*(agent.subscribe() for agent in self._agents))
        except BaseException:
            await self.close()
            raise
        self._tasks = [asyncio.create_task(agent.run()) for agent in self._agents]
        self._working = True
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def wait(self) -> None:
        """Wait until an agent fails, or all have ended. Raises the error of an agent that failed."""
        if self._tasks:
            done, _ = await asyncio.wait(self._tasks, return_when=asyncio.FIRST_EXCEPTION)
            for task in done:
                task.result()

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks = []
        self._working = False
        for made in self._connections.values():
            if not made.cancel() and not made.cancelled() and made.exception() is None:
                await made.result().close()
        for endpoint in self._endpoints.values():
            await endpoint.close()

    def run(self) -> None:
        """Work until Ctrl+C, or until an agent fails."""

        async def work() -> None:
            async with self:
                await self.wait()

        try:
            asyncio.run(work())
        except KeyboardInterrupt:
            return


async def _awaited(outcome: Any) -> Any:
    return await outcome if inspect.isawaitable(outcome) else outcome
