"""Answers CoAP requests, independent of sockets and of aiocoap.

/query      GET, FETCH     the answer to a query
/update     POST           carried out, and durable, when it is answered
/subscribe  GET, FETCH     the answer to a query, with the sequence and the commit; to be observed
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from tidings.broker.subscriptions.subscriber import Parcel, Subscriber
from tidings.gates.answers import delayed_answer, update_answer
from tidings.gates.caller import Caller
from tidings.gates.coap.content import CHANGED, Answer, Asked, Members, read, refusal, written
from tidings.gates.coap.observing import Changed, Observed, Topic
from tidings.gates.errors import BodyTooLarge, TooManyConnections
from tidings.gates.gate import Counts
from tidings.gates.premises import Premises
from tidings.model.errors import TidingsError, internal_error
from tidings.protocol.answers import encode

log = logging.getLogger("tidings")


class Requests:
    """For one gate. `most` is how many observers there may be."""

    def __init__(self, premises: Premises, counts: Counts, most: int) -> None:
        self._premises = premises
        self.counts = counts
        self._most = most
        self._observed: dict[Topic, Observed] = {}
        self._beginning: dict[Topic, asyncio.Lock] = {}
        self.observers = 0

    async def query(self, asked: Asked) -> Answer:
        async def work(members: Members, caller: Caller) -> Answer:
            dataset = members.graphs.dataset(self._premises.base)
            document = await caller.query(members.text, dataset, most=self._premises.max_body)
            return written(document, asked.accept)

        return await self._answer(asked, work)

    async def update(self, asked: Asked) -> Answer:
        async def work(members: Members, caller: Caller) -> Answer:
            dataset = members.graphs.dataset(self._premises.base)
            if members.due is not None:
                delayed = await caller.delay(members.text, members.due, dataset)
                return written(encode(delayed_answer(delayed, members.alias)), asked.accept, CHANGED)
            done = await caller.update(members.text, dataset)
            return written(encode(update_answer(done, members.alias)), asked.accept, CHANGED)

        return await self._answer(asked, work)

    async def _answer(self, asked: Asked, work: Callable[[Members, Caller], Awaitable[Answer]]) -> Answer:
        try:
            members = self._read(asked)
        except TidingsError as error:
            return self.refuse(error)
        return await self._carry_out(members, asked, work)

    async def _carry_out(
        self, members: Members, asked: Asked, work: Callable[[Members, Caller], Awaitable[Answer]]
    ) -> Answer:
        caller: Caller | None = None
        try:
            caller = Caller(self._premises, _Nobody(), self.counts, shown=members.authorization, where=asked.where)
            return await work(members, caller)
        except TidingsError as error:
            return refusal(error)
        except Exception:
            log.exception("internal error while handling a CoAP request")
            return refusal(internal_error())
        finally:
            if caller is not None:
                caller.leave()

    def refuse(self, error: TidingsError) -> Answer:
        """The answer to a request with an error, before anything was done for it."""
        self.counts.errors += 1
        return refusal(error)

    def _read(self, asked: Asked) -> Members:
        """Read a request. Raises what is wrong with it, or with the format that it accepts, before anything is done."""
        if len(asked.payload) > self._premises.max_body:
            raise BodyTooLarge(self._premises.max_body)
        written(b"null", asked.accept)
        members = read(asked)
        members.check(self._premises.base)
        return members

    # -- answers that are observed ----------------------------------------------------------------------------------

    async def look(self, asked: Asked) -> Answer:
        """The present answer to a query: that of its observers, if it has any."""

        async def work(members: Members, _: Caller) -> Answer:
            observed = self._observed.get(Topic.of(members))
            if observed is None:
                observed = self._new(members, asked)
                await observed.begin(members, self._premises.base)
                await observed.end()
            return written(observed.document(), asked.accept)

        return await self._answer(asked, work)

    async def observe(self, asked: Asked, changed: Changed) -> "Observation":
        """Observe an answer: `changed` is called when it changes. Raises the error if the broker refuses."""
        members = self._read(asked)
        if self.observers >= self._most:
            raise TooManyConnections(f"there are {self._most:,} observers, the limit of max_connections")
        topic = Topic.of(members)
        self.observers += 1
        try:
            async with self._beginning.setdefault(topic, asyncio.Lock()):
                observed = self._observed.get(topic)
                if observed is None:
                    observed = self._new(members, asked)
                    await observed.begin(members, self._premises.base)
                    self._observed[topic] = observed
                observed.observers.add(changed)
        except BaseException:
            self.observers -= 1
            raise
        finally:
            self._beginning.pop(topic, None)
        return Observation(self, topic, observed, changed, asked.accept)

    def _new(self, members: Members, asked: Asked) -> Observed:
        return Observed(self._premises, self.counts, Topic.of(members), asked.where)

    def leave(self, topic: Topic, observed: Observed, changed: Changed) -> None:
        """Remove an observer. With the last one, the subscription ends."""
        self.observers -= 1
        observed.observers.discard(changed)
        if not observed.observers:
            if self._observed.get(topic) is observed:
                del self._observed[topic]
            self._premises.broker.spawn(_ended(observed))

    def close(self) -> None:
        """The gate stops."""
        for observed in self._observed.values():
            observed.leave()
        self._observed.clear()


class Observation:
    """One observer of an answer."""

    def __init__(
        self, requests: Requests, topic: Topic, observed: Observed, changed: Changed, accept: int | None
    ) -> None:
        self._requests: Requests | None = requests
        self._topic = topic
        self._observed = observed
        self._changed = changed
        self._accept = accept

    def answer(self) -> Answer:
        """The present answer, or the error with which it ended."""
        failed = self._observed.failed
        return written(self._observed.document(), self._accept) if failed is None else refusal(failed)

    def cancel(self) -> None:
        """Stop observing. Further calls do nothing."""
        requests, self._requests = self._requests, None
        if requests is not None:
            requests.leave(self._topic, self._observed, self._changed)


async def _ended(observed: Observed) -> None:
    try:
        await observed.end()
    except TidingsError as error:
        log.warning("an observed answer cannot be ended: %s", error)


class _Nobody:
    """The link of clients without subscriptions."""

    def deliver(self, subscriber: Subscriber, sequence: int, parcel: Parcel) -> None:
        """There is nothing."""

    def dismiss(self, subscriber: Subscriber, reason: str, code: int) -> None:
        """There is nothing."""

    def close(self, code: int, reason: str) -> None:
        """There is nothing."""
