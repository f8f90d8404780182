"""What a broker begins with: quads from files, committed like any others, if nothing was ever committed."""

import asyncio
from collections.abc import Callable, Iterable
from itertools import islice

from tidings.broker.broker import Broker
from tidings.broker.pending import PendingBarrier, PendingSeed
from tidings.log.entry import Note
from tidings.model.terms import Quad
from tidings.model.zset import ZSet

BATCH = 50_000


async def seed(broker: Broker, quads: Callable[[], Iterable[Quad]]) -> bool:
    """Commit quads in batches; False, and nothing is read, if there are commits already. Raises what goes wrong.

    If it is interrupted, the next start does it again: what is there already changes nothing."""
    if broker.last_commit and not broker.seeding:
        return False
    await _note(broker, "seeding")
    rest = iter(quads())
    while batch := list(islice(rest, BATCH)):
        delta = ZSet.owning({quad: 1 for quad in broker.store.spelled(batch) if quad not in broker.store})
        if delta:
            await _commit(broker, delta)
    await _note(broker, "seeded")
    return True


async def _note(broker: Broker, kind: str) -> None:
    note = Note(kind, {})
    broker.restore_note(note)
    barrier = PendingBarrier(asyncio.get_running_loop().create_future())
    broker.commit_log.note(note, barrier)
    await barrier.durable


async def _commit(broker: Broker, delta: ZSet[Quad]) -> None:
    log = broker.commit_log
    entry = log.next_entry(delta, log.now())
    commit = broker.engine.absorb(delta, now=entry.time)
    broker.notifier.end_failed(commit.failures)
    log.commit(PendingSeed(entry, commit))
    await log.settled()
