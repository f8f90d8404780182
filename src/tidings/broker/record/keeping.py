"""Keeps contexts, the quads that concern subscriptions, in memory, if the graph is at the store of record. A context is
fetched when a subscription begins, and forgotten when the last subscription that needs it ends.

    request -> patterns of what may concern it -> those that are not held yet: fetched, learnt, logged -> it begins

Changes while a context is fetched are noted, and take precedence over what was fetched. The log has what was learnt, so
a replay goes through the same states and gives the same sequences.

If updates make the contexts too large, the broker ends the subscriptions with the largest ones, until the rest fits.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from msgspec import Struct

from tidings.broker.durability.commit_log import CommitLog
from tidings.broker.pending import PendingBarrier
from tidings.broker.record.delivery import Delivery
from tidings.broker.record.held import Held
from tidings.broker.record.instances import kept
from tidings.broker.record.seam import AskedStore, after
from tidings.broker.spawn import Spawn
from tidings.broker.subscriptions.notifier import Notifier
from tidings.broker.subscriptions.subscriber import Subscriber
from tidings.broker.updates.queue import UpdateQueue
from tidings.engine.contexts import PORTION
from tidings.engine.engine import Engine
from tidings.engine.keys import keys_for
from tidings.engine.lutt import Key
from tidings.log.entry import Note
from tidings.model.access import Rights
from tidings.model.errors import ContextTooLarge
from tidings.model.terms import Quad
from tidings.sparql.algebra import Dataset

log = logging.getLogger("tidings")


class _Wanted(Struct, eq=False):
    """Patterns that a request waits for."""

    keys: list[Key]
    held: "asyncio.Future[None]"
    """Done once they are held and fetched, or with the error."""


class Keeping:
    """Fetches contexts, up to `most` quads in all; what requests wait for at the same time is fetched together."""

    def __init__(
        self,
        engine: Engine,
        held: Held,
        record: AskedStore,
        delivery: Delivery,
        commit_log: CommitLog,
        updates: UpdateQueue,
        notifier: Notifier,
        spawn: Spawn,
        most: int,
    ) -> None:
        self._engine = engine
        self._held = held
        self._contexts = contexts = held.contexts
        self._record = record
        self._delivery = delivery
        self._commit_log = commit_log
        self._updates = updates
        self._notifier = notifier
        self._spawn = spawn
        self._most = most
        self._turn = asyncio.Lock()
        self._wanted: list[_Wanted] = []
        self._left: list[Key] = []
        """Patterns without a holder whose quads are still in memory."""
        self._bounding = False
        held.forget = self._forget  # from here on in portions: an event loop runs now, and must not be blocked
        contexts.most, contexts.overfull = most, self.bound
        self.fetched = 0
        """How many quads it has fetched."""

    @asynccontextmanager
    async def kept(self, text: str, dataset: Dataset | None, rights: Rights) -> AsyncIterator[None]:
        """Within this context, all quads that concern a subscription are in memory. Raises ContextTooLarge,
        EndpointAway, and the errors of its query."""
        keys = keys_for(self._engine, text, dataset, rights, now=self._commit_log.now())
        wanted = _Wanted(keys, asyncio.get_running_loop().create_future())
        self._wanted.append(wanted)
        async with self._turn:
            if wanted in self._wanted:  # otherwise another request has fetched this one's patterns with its own
                together, self._wanted = self._wanted, []
                await self._hold(together)
        await wanted.held
        try:
            yield
        finally:
            self._forget(self._contexts.release(keys))

    async def _hold(self, wanted: list["_Wanted"]) -> None:
        """Fetch the patterns of some requests, and hold them for each; if that fails, pass on the error."""
        await self._forget_left()
        keys = dict.fromkeys(key for each in wanted for key in each.keys)
        lacking = [key for key in keys if not self._contexts.covers(key)]
        for each in wanted:
            self._contexts.hold(each.keys)
        try:
            if lacking:
                with self._contexts.fetching(lacking):
                    await self._fetch(lacking)
        except Exception as error:  # noqa: BLE001 -- the requests that wait get the error, whatever it is
            for each in wanted:
                self._forget(self._contexts.release(each.keys))
            if len(wanted) == 1:
                wanted[0].held.set_exception(error)
                return
            for each in wanted:  # perhaps only one of them asks for too much
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
            if self._is_overfull:  # because updates have added quads meanwhile
                raise self._too_large()
            barrier = PendingBarrier(asyncio.get_running_loop().create_future())
            self._commit_log.note(Note("context", {"keys": keys, "quads": quads}), barrier)
        self.fetched += len(quads)
        await barrier.durable

    async def _learn(self, found: list[Quad], states: dict[Quad, bool]) -> list[Quad]:
        """Add the fetched quads to memory, in portions; for quads that have changed meanwhile, `states` takes
        precedence. Returns the quads that were added."""
        for start in range(0, len(found), PORTION):
            self._contexts.learn(quad for quad in found[start : start + PORTION] if quad not in states)
            await asyncio.sleep(0)
        late = [quad for quad, there in states.items() if there and self._contexts.selects(quad)]
        self._contexts.learn(late)
        return [*(quad for quad in found if quad not in states), *late]

    @asynccontextmanager
    async def _steady(self) -> AsyncIterator[None]:
        """Within this context, nothing changes, if the store returns answers page by page."""
        if not await self._record.in_pages():
            yield
            return
        self._updates.hold()
        try:
            await self._commit_log.idle()
            yield
        finally:
            self._updates.resume()

    # -- the bound --------------------------------------------------------------------------------------------------

    @property
    def _is_overfull(self) -> bool:
        return len(self._engine.store) > self._most

    def _room(self) -> int:
        room = self._most - len(self._engine.store)
        if room <= 0:
            raise self._too_large()
        return room

    def _too_large(self) -> ContextTooLarge:
        return ContextTooLarge(f"{self._most:,} quads are in memory, the limit of max_context", self._most)

    def bound(self) -> None:
        """The contexts may be too large: check this soon."""
        if not self._bounding:
            self._bounding = True
            self._spawn(self._make_room())

    async def _make_room(self) -> None:
        """End the subscriptions with the largest contexts, until the others fit."""
        try:
            async with self._turn:
                await self._forget_left()
                if self._is_overfull:
                    await self._let_go_of_largest()
        finally:
            self._bounding = False

    async def _let_go_of_largest(self) -> None:
        for subscriber in await self._largest():
            if not self._is_overfull:
                return
            if subscriber not in self._held:
                continue  # it has ended meanwhile
            log.warning("a subscription was ended because its context is too large: %s", subscriber.text)
            self._notifier.let_go((subscriber,), f"its context has grown, and {self._too_large()}")
            await self._forget_left()

    async def _largest(self) -> list[Subscriber]:
        """All subscribers, in descending order of their largest pattern; subscribers with the same one are adjacent."""
        sizes: dict[Subscriber, tuple[float, str]] = {}
        for number, (subscriber, keys) in enumerate(self._held.holders()):
            sizes[subscriber] = max(((self._contexts.size(key), str(key)) for key in keys), default=(0.0, ""))
            if not number % PORTION:
                await asyncio.sleep(0)
        return sorted(sizes, key=sizes.__getitem__, reverse=True)

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
        """Forget them in portions, with turns for other tasks in between."""
        left, self._left = self._left, []
        for _ in self._contexts.forget(left):
            await asyncio.sleep(0)
