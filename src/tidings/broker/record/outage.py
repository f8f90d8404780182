"""Handles an outage of the store of record, which is away, refuses updates, or has lost data: updates wait, and are
refused after a while.

    begin -> updates held -> ask the store again and again -> deliver what it lacks -> check its recent states
          -> updates go on, beginning with those that were undone

Queries and subscriptions go on from memory; the broker knows when it last agreed with the store.
"""

import asyncio
import logging
from itertools import takewhile
from typing import Protocol

from tidings.broker.durability.facts import Facts
from tidings.broker.record.giving_back import give_back
from tidings.broker.record.intents import WITHDRAWN, Intents
from tidings.broker.record.seam import StoreOfRecord, before
from tidings.broker.spawn import Spawn
from tidings.broker.updates.queue import UpdateQueue
from tidings.model.errors import EndpointAway, TidingsError
from tidings.model.terms import Quad
from tidings.model.zset import ZSet

_FIRST_PAUSE = 0.05
_LONGEST_PAUSE = 2.0
_LOOK = 0.25
"""Seconds between two checks for updates that have waited too long."""

log = logging.getLogger("tidings")


class Examiner(Protocol):
    """Examines a store of record that is reachable again, before the outage ends."""

    async def finish_intent(self) -> None:
        """Finish or undo the commits that a crash interrupted."""

    async def recheck(self, *, lost: bool) -> None:
        """Compare the whole store, because its content is unknown, or it has `lost` data. Raises EndpointDiffers."""

    async def learn(self, delta: ZSet[Quad]) -> None:
        """Commit states of the store that it refuses to change."""


class Outage:
    """Holds updates while the store of record is unusable, and ends when it is usable again. An update may wait for
    `patience` seconds."""

    def __init__(
        self,
        record: StoreOfRecord,
        updates: UpdateQueue,
        intents: Intents,
        facts: Facts,
        spawn: Spawn,
        examiner: Examiner,
        patience: float,
    ) -> None:
        self._record = record
        self._updates = updates
        self._intents = intents
        self._facts = facts
        self._spawn = spawn
        self._examiner = examiner
        self.patience = patience
        self._owed: dict[Quad, bool] = {}
        """States to restore in the store before anything else."""
        self.trouble: TidingsError | None = None
        """The reason why updates wait; None if there is no outage."""
        self._over = asyncio.Event()
        self._over.set()
        self._unknown = self._lost = False
        self._since = 0.0
        self.trying = False
        """Whether an examination of the store is under way, which may take long."""
        self.count = 0

    def owe(self, delta: ZSet[Quad]) -> None:
        """A commit was undone: the store has to get the state before it. The last commit is undone first, so the
        state before the first one remains."""
        self._owed.update(before(delta))
        self._intents.disagree(delta)
        if self.trouble is None:
            self.begin(EndpointAway("a commit that the log could not take is being taken back"))

    def begin(self, trouble: TidingsError, *, unknown: bool = False) -> None:
        """Hold updates until the store is usable. `unknown`: its whole content has to be compared."""
        self._unknown |= unknown
        already, self.trouble = self.trouble is not None, trouble
        if already:
            return
        self.count += isinstance(trouble, EndpointAway) and not unknown
        self._since = asyncio.get_running_loop().time()
        self._over.clear()
        self._updates.hold()
        self._spawn(self._end())

    def age(self) -> float:
        """Seconds since the outage began; 0 if there is none."""
        return 0.0 if self.trouble is None else asyncio.get_running_loop().time() - self._since

    async def over(self, seconds: float) -> bool:
        """Wait until the outage is over, or for some seconds. Returns whether it is over."""
        try:
            async with asyncio.timeout(seconds):
                await self._over.wait()
        except TimeoutError:
            return False
        return True

    async def _end(self) -> None:
        """Wait until the store is usable, or the broker ends; then let updates go on."""
        if self.count:
            log.warning("the endpoint is away or refuses updates, so updates wait: %s", self.trouble)
        async with asyncio.TaskGroup() as group:
            refusing = group.create_task(self._refuse_late())
            well = await self._becomes_well()
            refusing.cancel()
        if well:
            self.trouble, self.trying = None, False
            self._over.set()
            self._updates.resume()

    async def _becomes_well(self) -> bool:
        pause = _FIRST_PAUSE
        while not await self._is_well():
            if self._updates.ending and not self._updates.accepted:
                return False
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
        return True

    async def _refuse_late(self) -> None:
        """Refuse updates that have waited too long, regardless of how long the store takes to answer."""
        while True:
            assert self.trouble is not None
            self._updates.refuse_waiting(self.patience, self.trouble)
            await asyncio.sleep(_LOOK)

    async def _is_well(self) -> bool:
        self.trying = True
        try:
            await self._record.greet()
            await self._examiner.finish_intent()
            await self._pay()
            await self._look()
        except TidingsError as error:
            if type(error) is not type(self.trouble):
                log.warning("the endpoint cannot take updates yet: %s", error)
            self.trouble, self.trying = error, False
            return False
        return True

    async def _pay(self) -> None:
        """Restore the states before the commits that were undone."""
        while self._owed:
            states = dict(self._owed)
            refused = await give_back(self._record, states)
            if refused:
                await self._examiner.learn(ZSet.owning({quad: -1 if there else 1 for quad, there in refused.items()}))
            self._owed = {quad: there for quad, there in self._owed.items() if states.get(quad) is not there}
            if not self._owed:
                await self._facts.write(WITHDRAWN)

    async def _look(self) -> None:
        """Check whether the store still has the states that it agreed to; send those at the end that it has lost."""
        agreed = self._intents.agreed
        lacking = set(await self._record.lacking(agreed))
        # A store restored from a backup lacks the latest states. If it has these, others removed what it lacks.
        lost = list(takewhile(lacking.__contains__, reversed(agreed)))
        if lost:
            log.warning(
                "the endpoint has lost %d of the last %d changes; the broker sends them again", len(lost), len(agreed)
            )
            await give_back(self._record, {quad: agreed[quad] for quad in lost})  # `recheck` finds what it refuses
            self._lost = True
        if self._unknown or self._lost:
            await self._examiner.recheck(lost=self._lost)
            self._unknown = self._lost = False
