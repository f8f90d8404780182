"""The graph as it was after an earlier commit, on a copy of the store that is then thrown away.

    graph(n) = graph(now) - (delta(n + 1) + ... + delta(now))

Deltas are exact, so what they have done can be taken back. The log has those that are durable, and those on their way
to it are in memory. No snapshot is needed, and what is near costs little, however long the log is.
"""

from collections.abc import Iterator
from itertools import chain

from tidings.broker.durability.commit_log import CommitLog
from tidings.broker.errors import NoLog, UnknownCommit
from tidings.broker.pending import PendingSeed, PendingUpdate
from tidings.engine.store.store import Store
from tidings.log.entry import Entry
from tidings.log.errors import LogBroken
from tidings.log.journal import Journal
from tidings.log.reading import read
from tidings.model.terms import Quad
from tidings.model.zset import ZSet


def check_past(commit_log: CommitLog, commit: int) -> None:
    """Raises NoLog, UnknownCommit."""
    if commit_log.journal is None:
        raise NoLog
    if commit > commit_log.last_commit:
        raise UnknownCommit(commit, commit_log.last_commit)


def rewind(store: Store, commit_log: CommitLog, commit: int) -> None:
    """In a fork: take back what was committed after this. Raises HistoryGone, LogDamaged, LogBroken."""
    journal = commit_log.journal
    assert journal is not None
    undone: ZSet[Quad] = ZSet()
    at = commit
    for entry in _since(commit_log, journal, commit):
        undone.absorb(entry.delta)
        at = entry.commit
    if at != commit_log.last_commit:  # a write has failed, and what it should have written is nowhere
        raise LogBroken
    store.apply(-undone)


def _since(commit_log: CommitLog, journal: Journal, commit: int) -> Iterator[Entry]:
    """Every later commit, from the disk as far as that can be relied on, and then from memory."""
    durable = journal.durable.commit
    if commit < durable:
        for entry in read(journal.folder, commit):
            if entry.commit > durable:
                break
            if entry.delta:
                yield entry
    waiting = commit_log.group_commit.waiting()
    commits = (pending.entry for pending in waiting if isinstance(pending, PendingUpdate | PendingSeed))
    for entry in chain(commit_log.group_commit.promised, commits):
        if entry.commit > max(commit, durable):
            yield entry
