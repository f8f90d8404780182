"""Contexts in the memory of a broker whose graph is elsewhere: fetched when a subscription begins, forgotten when the
last one ends that needs them.

    wish -> patterns of what may concern it -> those that nobody holds yet: fetched, learnt, logged -> it begins here

What changes while a context is fetched is noted, and counts more than what was fetched. The log has what was learnt, so
that a replay goes through the same states, and tells the same numbers.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

from msgspec import Struct

from tidings.broker.durability.commit_log import CommitLog
from tidings.broker.durability.facts import Facts
from tidings.broker.pending import PendingBarrier
from tidings.broker.record.delivery import Delivery
from tidings.broker.record.scratch import kept
from tidings.broker.record.seam import AskedStore, after
from tidings.broker.spawn import Spawn
from tidings.broker.subscriptions.registry import Subscriptions
from tidings.broker.subscriptions.subscriber import Subscriber
from tidings.broker.updates.queue import UpdateQueue
from tidings.engine.contexts import PORTION, Contexts
from tidings.engine.engine import Engine
from tidings.engine.keys import keys_for
from tidings.engine.lutt import ANY_NAMED, Key
from tidings.log.entry import Note
from tidings.model.access import Rights
from tidings.model.errors import ContextTooLarge, MayNotSubscribe
from tidings.model.terms import DEFAULT_GRAPH, Quad
from tidings.sparql.algebra import Dataset

PARTIAL = Note("partial", {})
"""In the log of a broker that has only contexts in memory."""


class Held:
    """Which subscription holds which patterns; what nobody holds any more is forgotten at once."""

    KINDS = ("context", "partial")

    def __init__(self, engine: Engine, contexts: Contexts) -> None:
        self._engine = engine
        self.contexts = contexts
        self._keys: dict[Subscriber, tuple[Key, ...]] = {}
        self.forget = self._forget_at_once
        """What becomes of patterns that nobody holds any more."""
        self.is_partial = False
        """Whether the log says that it is of a broker that has only contexts in memory."""

    def enter(self, subscriber: Subscriber) -> None:
        keys = tuple(dict.fromkeys(self._engine.keys(subscriber.handle)))
        self.contexts.hold(keys)
        self._keys[subscriber] = keys

    def leave(self, subscriber: Subscriber) -> None:
        self.forget(self.contexts.release(self._keys.pop(subscriber, ())))

    def move(self, subscriber: Subscriber, rights: Rights) -> None:
        """Raises MayNotSubscribe if more would have to be seen than is kept here."""
        now = self._engine.core.moment.now
        keys = tuple(keys_for(self._engine, subscriber.text, subscriber.dataset, rights, now=now))
        if not all(map(self.contexts.covers, keys)):
            raise MayNotSubscribe("what you may see now has to be fetched first; subscribe again")
        self.contexts.hold(keys)
        self.leave(subscriber)
        self._keys[subscriber] = keys

    def _forget_at_once(self, keys: list[Key]) -> None:
        for _ in self.contexts.forget(keys):
            pass

    # -- facts ------------------------------------------------------------------------------------------------------

    def restore(self, note: Note) -> None:
        if note.kind == "partial":
            self.is_partial = True
        else:
            self._forget_at_once(_keys(note.content))  # what somebody fetched who never came to hold it
            self.contexts.learn(_quads(note.content))

    def tidy(self) -> None:
        """Everything has been replayed: what nobody holds goes."""
        self._forget_at_once([(None, None, None, DEFAULT_GRAPH), (None, None, None, ANY_NAMED)])

    def notes(self) -> Iterable[Note]:
        """The quads are in the snapshot itself."""
        return (PARTIAL,) if self.is_partial else ()


def held_by(subscriptions: Subscriptions, engine: Engine, facts: Facts) -> Held | None:
    """What subscriptions hold, from here on; None if the whole graph is in memory."""
    if engine.contexts is None:
        return None
    held = subscriptions.context = Held(engine, engine.contexts)
    facts.keep(Held.KINDS, held)
    return held


class _Wanted(Struct, eq=False):
    """Patterns that somebody waits for, who is told once they are held."""

    keys: list[Key]
    held: "asyncio.Future[None]"


class Keeping:
    """Fetches contexts, those together that are waited for at the same time, up to `most` quads in all."""

    def __init__(
        self,
        engine: Engine,
        held: Held,
        record: AskedStore,
        delivery: Delivery,
        commit_log: CommitLog,
        updates: UpdateQueue,
        spawn: Spawn,
        most: int,
    ) -> None:
        self._engine = engine
        self._contexts = held.contexts
        self._record = record
        self._delivery = delivery
        self._commit_log = commit_log
        self._updates = updates
        self._spawn = spawn
        self._most = most
        self._turn = asyncio.Lock()
        self._wanted: list[_Wanted] = []
        self._left: list[Key] = []
        """Patterns that nobody holds any more, whose quads are still here."""
        held.forget = self._forget  # from here on there is a loop that is not to be held up
        self.fetched = 0
        """Quads."""

    @asynccontextmanager
    async def kept(self, text: str, dataset: Dataset | None, rights: Rights) -> AsyncIterator[None]:
        """Everything that concerns a subscription is here, and stays. Raises ContextTooLarge, EndpointAway, and what is
        wrong with its query."""
        keys = keys_for(self._engine, text, dataset, rights, now=self._commit_log.now())
        wanted = _Wanted(keys, asyncio.get_running_loop().create_future())
        self._wanted.append(wanted)
        async with self._turn:
            if wanted in self._wanted:  # else whoever was before has seen to it
                together, self._wanted = self._wanted, []
                await self._hold(together)
        await wanted.held
        try:
            yield
        finally:
            self._forget(self._contexts.release(keys))

    async def _hold(self, wanted: list["_Wanted"]) -> None:
        """Have what some wait for here, and held for each of them; or tell them why not."""
        await self._forget_left()
        keys = dict.fromkeys(key for each in wanted for key in each.keys)
        lacking = [key for key in keys if not self._contexts.covers(key)]
        for each in wanted:
            self._contexts.hold(each.keys)
        try:
            if lacking:
                await self._fetch(lacking)
        except Exception as error:  # noqa: BLE001 -- whatever it is, whoever waits hears of it
            for each in wanted:
                self._forget(self._contexts.release(each.keys))
            if len(wanted) == 1:
                wanted[0].held.set_exception(error)
                return
            for each in wanted:  # one of them asks for too much, perhaps
                await self._hold([each])
        else:
            for each in wanted:
                each.held.set_result(None)

    async def _fetch(self, keys: list[Key]) -> None:
        if self._delivery.outage.trouble is not None:
            raise self._delivery.outage.trouble
        async with self._steady():
            states = after(self._delivery.on_its_way())
            with self._contexts.watched(states):
                found = await self._record.select(keys, self._room())
                quads = await self._learn(kept(found, (quad for quad in states if states[quad])), states)
            barrier = PendingBarrier(asyncio.get_running_loop().create_future())
            self._commit_log.note(Note("context", {"keys": keys, "quads": quads}), barrier)
        self.fetched += len(quads)
        await barrier.durable

    async def _learn(self, found: list[Quad], states: dict[Quad, bool]) -> list[Quad]:
        """Take in what was fetched, in portions: what has changed meanwhile is as `states` say. What is here then."""
        for start in range(0, len(found), PORTION):
            self._contexts.learn(quad for quad in found[start : start + PORTION] if quad not in states)
            await asyncio.sleep(0)
        late = [quad for quad, there in states.items() if there and self._contexts.selects(quad)]
        self._contexts.learn(late)
        return [*(quad for quad in found if quad not in states), *late]

    @asynccontextmanager
    async def _steady(self) -> AsyncIterator[None]:
        """While nothing changes, if the store tells what it has page by page."""
        if not await self._record.in_pages():
            yield
            return
        self._updates.hold()
        try:
            await self._commit_log.idle()
            yield
        finally:
            self._updates.resume()

    def _room(self) -> int:
        room = self._most - len(self._engine.store)
        if room <= 0:
            raise ContextTooLarge(f"{self._most:,} quads are in memory, the limit of max_context", self._most)
        return room

    # -- forgetting -------------------------------------------------------------------------------------------------

    def _forget(self, keys: list[Key]) -> None:
        if keys:
            idle = not self._left
            self._left += keys
            if idle:
                self._spawn(self._forget_soon())

    async def _forget_soon(self) -> None:
        async with self._turn:
            await self._forget_left()

    async def _forget_left(self) -> None:
        """In portions: others have their turns in between."""
        left, self._left = self._left, []
        for _ in self._contexts.forget(left):
            await asyncio.sleep(0)


def _keys(content: dict[str, Any]) -> list[Key]:
    return [(s, p, o, g) for s, p, o, g in content["keys"]]


def _quads(content: dict[str, Any]) -> Iterable[Quad]:
    return ((s, p, o, g) for s, p, o, g in content["quads"])
