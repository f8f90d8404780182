"""What a broker begins with: quads from files, committed like any others, if nothing was ever committed."""

from collections.abc import Callable, Iterable
from itertools import islice

from tidings.broker.broker import Broker
from tidings.log.entry import Note
from tidings.model.errors import TidingsError
from tidings.model.terms import Quad
from tidings.model.zset import ZSet

_BATCH = 50_000


async def seed(broker: Broker, quads: Callable[[], Iterable[Quad]]) -> bool:
    """Commit quads in batches; False, and nothing is read, if there are commits already. Raises what goes wrong.

    If it is interrupted, the next start does it again: what is there already changes nothing."""
    if broker.chronicle.seq and not broker.seeding:
        return False
    await _note(broker, "seeding")
    rest = iter(quads())
    while batch := list(islice(rest, _BATCH)):
        store = broker.engine.core.store
        delta = ZSet.owning({quad: 1 for quad in store.spelled(batch) if quad not in store})
        if delta:
            await _commit(broker, delta)
    await _note(broker, "seeded")
    return True


async def _commit(broker: Broker, delta: ZSet[Quad]) -> None:
    now = broker.chronicle.now()
    sequence = broker.chronicle.seq + 1
    commit = broker.engine.absorb(delta, now=now)
    broker.chronicle.commit(delta, now, (), lambda: broker.subscriptions.tell(sequence, now, commit), _ignore)
    await broker.chronicle.settled()


async def _note(broker: Broker, kind: str) -> None:
    note = Note(kind, {})
    broker.restore_note(note)
    broker.chronicle.note(note, lambda: None, _ignore)
    await broker.chronicle.settled()


def _ignore(_: TidingsError) -> None:
    """Whoever waits for it hears of it."""
