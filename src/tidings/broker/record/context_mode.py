"""Assembles a broker whose graph is larger than its memory: contexts in memory, the whole graph at the store of record.

The engine knows before the log is replayed that it keeps only contexts (`Engine.contexts`).
"""

from tidings.broker.asking.at_record import AtRecord
from tidings.broker.broker import Broker
from tidings.broker.errors import NotInContextMode
from tidings.broker.record.at_hand import AtHand
from tidings.broker.record.held import PARTIAL
from tidings.broker.record.keeping import Keeping
from tidings.broker.record.mirror import Mirror
from tidings.broker.record.seam import AskedStore
from tidings.broker.record.working_out import WorkingOut


async def begin_in_context_mode(
    broker: Broker, record: AskedStore, patience: float, most: int, *, sole_writer: bool = False
) -> Mirror:
    """Start, and wait until the contexts agree with the store of record; memory has at most `most` quads. The broker
    must have been entered. If it is the `sole_writer` of the store, it works out updates that need only contexts from
    memory.

    Raises NotInContextMode if the log is of a broker that had the whole graph in memory."""
    engine, log, held = broker.engine, broker.commit_log, broker.held
    assert held is not None
    if not held.is_partial:
        if broker.last_commit:
            raise NotInContextMode("the log is of a broker that has the whole graph in memory: use another folder")
        await broker.facts.write(PARTIAL)
    held.tidy()
    mirror = Mirror(broker, record, patience)
    delivery, updates, forks = mirror.delivery, broker.updates, broker.forks
    at_hand = AtHand(engine, updates.slice) if sole_writer else None
    updates.elsewhere = working_out = WorkingOut(engine, record, delivery, forks, updates.whole, most, at_hand)
    broker.asking = AtRecord(engine, record, working_out, log, forks, broker.now, broker.policy)
    broker.admission.context = keeping = Keeping(
        engine, held, record, delivery, log, updates, broker.notifier, broker.spawn, most
    )
    await mirror.begin()
    keeping.bound()
    return mirror


def check_whole(broker: Broker) -> None:
    """Raises NotInContextMode if the log is of a broker in context mode, and this broker is not in that mode."""
    if broker.held is None and broker.facts.is_nobodys(PARTIAL.kind):
        raise NotInContextMode("the log is of a broker in context mode: say `--mode context`, or use another folder")
