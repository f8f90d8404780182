"""Restores a broker from a snapshot and the log after it, through the same parts that handle requests."""

from tidings.broker.broker import Broker
from tidings.log.entry import Entry


def begin_at(broker: Broker, commit: int, time: int) -> None:
    """Set the commit number and the time after the store was filled from a snapshot."""
    broker.commit_log.last_commit, broker.commit_log.time = commit, time
    broker.notifier.last_commit = commit


def replay(broker: Broker, entry: Entry) -> None:
    """Apply an entry of the log. No client is connected yet."""
    commit_log, notifier = broker.commit_log, broker.notifier
    commit_log.time = max(commit_log.time, entry.time)
    if entry.delta:
        commit = broker.engine.absorb(entry.delta, now=entry.time)
        commit_log.last_commit = entry.commit
        broker.intents.replayed(entry)
        notifier.end_failed(commit.failures)
        notifier.notify(entry.commit, entry.time, commit)
    for note in entry.notes:
        broker.facts.restore(note)
