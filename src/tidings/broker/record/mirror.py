"""A broker with the whole graph both in memory and in a store of record: how it starts, and how an outage ends.

start    finishes the commits that a crash interrupted; commits what others changed in the store meanwhile
outage   sends the store again what it has lost; if it still differs, an operator has to decide which side is right
"""

import asyncio
import logging
from collections.abc import Iterable
from itertools import chain

from tidings.broker.broker import Broker
from tidings.broker.record.delivery import Delivery
from tidings.broker.record.giving_back import give_back
from tidings.broker.record.intents import WITHDRAWN
from tidings.broker.record.outage import Outage
from tidings.broker.record.reconciliation import Reconciliation
from tidings.broker.record.seam import Reconciled, RecordStatus, Side, States, StoreOfRecord, before
from tidings.log.entry import Entry
from tidings.model.errors import EndpointAway, EndpointDiffers, EndpointRefused
from tidings.model.terms import Quad
from tidings.model.zset import ZSet

log = logging.getLogger("tidings")

_LOOK = 0.1
"""Seconds between two checks whether to go on waiting."""
BATCH = 50_000
"""Quads of one commit, if the broker has to take over many when it starts."""


class Mirror:
    """The store of record of one broker, which must have been entered."""

    def __init__(self, broker: Broker, record: StoreOfRecord, patience: float) -> None:
        self._broker = broker
        self._record = record
        self._begun = False
        self.reconciliation = Reconciliation(record, broker.engine, broker.commit_log, broker.updates, broker.notifier)
        self.outage = Outage(record, broker.updates, broker.intents, broker.facts, broker.spawn, self, patience)
        self.delivery = Delivery(record, broker.commit_log, broker.intents, self.outage, broker.spawn)
        broker.commit_log.delivery, broker.record = self.delivery, self

    async def begin(self) -> None:
        """Wait until the broker agrees with the store, however long that takes. If the store is away, and the broker
        has a log, the broker starts from its log.

        Without a log, raises the error of the store, unless it is EndpointAway."""
        self.outage.begin(EndpointAway("the endpoint has not been asked yet"), unknown=True)
        has_log, clock = self._broker.last_commit > 0, asyncio.get_running_loop().time
        deadline = clock() + self.outage.patience
        while not await self.outage.over(_LOOK) and not self._broker.ending:
            trouble = self.outage.trouble
            if self.outage.trying or clock() < deadline:
                continue
            deadline += self.outage.patience
            if has_log:
                log.warning("the broker starts without its endpoint, from its log: %s", trouble)
                return
            if trouble is not None and not isinstance(trouble, EndpointAway):
                raise trouble
            log.warning("the broker waits for its endpoint: %s", trouble)

    # -- for the end of an outage -----------------------------------------------------------------------------------

    async def finish_intent(self) -> None:
        """Finish the commits that a crash interrupted: their publishers may have been told that they succeeded. Undo
        them, with all later ones, if the publishers may have been told that they failed, or if the store refuses
        them."""
        intents = self._broker.intents
        if self._begun or not (left := intents.open):
            return
        if intents.taken_back:
            await self._take_back(left)
            return
        for number, commits in enumerate(left):
            try:
                await self._bring_about({quad: weight > 0 for quad, weight in _net(commits).items()})
            except EndpointRefused as error:  # then the store has never confirmed these commits
                log.warning("the endpoint refuses commits that a crash interrupted: %s", error)
                await self._take_back(left[number:])
                return
            log.warning("%d commits that a crash interrupted are now at the endpoint", len(commits))
            for entry in commits:
                await self._commit(entry)

    async def _take_back(self, intents: list[tuple[Entry, ...]]) -> None:
        commits = list(chain.from_iterable(intents))
        log.warning("%d commits that a crash interrupted are undone at the endpoint", len(commits))
        # The comparison in `recheck` finds the states that the store refuses.
        await give_back(self._record, before(_net(commits)))
        await self._broker.facts.write(WITHDRAWN)

    async def _bring_about(self, states: States) -> None:
        await self._record.take({quad: states[quad] for quad in await self._record.lacking(states)})

    async def _commit(self, entry: Entry) -> None:
        await self.reconciliation.commit(entry.delta, entry.notes, entry.time)
        self._broker.intents.agree(entry.delta)
        for note in entry.notes:
            self._broker.facts.restore(note)

    async def recheck(self, *, lost: bool) -> None:
        found = await self._record.compare(self._broker.store)
        differences = found.differences
        if differences and (lost or self._begun):
            raise EndpointDiffers(
                f"the endpoint has lost changes that it had confirmed, and differs in {len(differences):,} quads: "
                "`tidings reconcile --right broker` gives them back, `--right endpoint` forgets them"
            )
        if not self._begun:
            for batch in _batches(differences):
                await self.reconciliation.commit(batch)
        self._begun = True

    async def learn(self, delta: ZSet[Quad]) -> None:
        """Commit changes that others made in the store, without those that memory has already. Raises EndpointAway."""
        store, contexts = self._broker.store, self._broker.engine.contexts
        if contexts is not None:
            delta = contexts.part(delta)
        exact = {quad: weight for quad, weight in delta.items() if (quad in store) == (weight < 0)}
        if exact:
            await self.reconciliation.commit(ZSet.owning(exact))

    # -- for operators ----------------------------------------------------------------------------------------------

    async def reconcile(self, right: Side = "endpoint", *, dry: bool = False) -> Reconciled:
        """Make both sides equal. Raises EndpointAway, EndpointRefused."""
        result = await self.reconciliation.run(right, dry=dry)
        if not dry and right == "endpoint":
            self._broker.intents.agreed.clear()  # the store is right, even if it had agreed to other states
        return result

    def status(self) -> RecordStatus:
        trouble, delivery, reconciliation = self.outage.trouble, self.delivery, self.reconciliation
        return RecordStatus(
            state="ok" if trouble is None else trouble.code,
            reason="" if trouble is None else str(trouble),
            age=self.outage.age(),
            waiting=len(delivery),
            requests=delivery.requests,
            commits=delivery.commits,
            outages=self.outage.count,
            reconciled=reconciliation.last,
            reconciled_at=reconciliation.last_at,
            reconciliations=reconciliation.runs,
        )


def _net(commits: Iterable[Entry]) -> ZSet[Quad]:
    net: ZSet[Quad] = ZSet()
    for entry in commits:
        net.absorb(entry.delta)
    return net


def _batches(delta: ZSet[Quad]) -> list[ZSet[Quad]]:
    """A delta in batches, removals first, so that a quad with a new spelling never exists twice."""
    items = sorted(delta.items(), key=lambda item: item[1])
    return [ZSet.owning(dict(items[start : start + BATCH])) for start in range(0, len(items), BATCH)]
