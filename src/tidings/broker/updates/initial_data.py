"""Loads the initial data: a new broker commits quads from files, like any others."""

from collections.abc import Callable, Iterable
from itertools import islice

from tidings.broker.broker import Broker
from tidings.broker.pending import PendingSeed
from tidings.log.entry import Note
from tidings.model.terms import Quad
from tidings.model.zset import ZSet

BATCH = 50_000


async def seed(broker: Broker, quads: Callable[[], Iterable[Quad]]) -> bool:
    """Commit quads in batches. If there are commits already, read nothing and return False.

    If loading is interrupted, the next start loads all the data again; quads that are there already change nothing."""
    if broker.last_commit and not broker.seeding.unfinished:
        return False
    await broker.facts.write(Note("seeding", {}))
    rest = iter(quads())
    while batch := list(islice(rest, BATCH)):
        delta = await broker.asking.news(batch)
        if delta:
            await _commit(broker, delta)
    await broker.facts.write(Note("seeded", {}))
    return True


async def _commit(broker: Broker, delta: ZSet[Quad]) -> None:
    log = broker.commit_log
    entry = log.next_entry(delta, log.now())
    commit = broker.engine.absorb(delta, now=entry.time)
    broker.notifier.end_failed(commit.failures)
    broker.stragglers.begin(commit.behind, entry.commit)
    log.commit(PendingSeed(entry, commit))
    await log.settled()
