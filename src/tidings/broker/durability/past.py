"""Restores the graph after an earlier commit, in a fork, on its copy of the store.

    graph(n) = graph(now) - (delta(n + 1) + ... + delta(now))

Deltas are exact, so applying their negation reverses them. Durable deltas are in the log, later ones in memory. This
needs no snapshot, and costs as much as the commits since then, however long the log is.
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
    """Runs in a fork: reverse everything after this commit. Raises HistoryGone, LogDamaged, LogBroken."""
    journal = commit_log.journal
    assert journal is not None
    undone: ZSet[Quad] = ZSet()
    at = commit
    for entry in _since(commit_log, journal, commit):
        undone.absorb(entry.delta)
        at = entry.commit
    if at != commit_log.last_commit:  # a write failed, so the last commits are neither on disk nor in memory
        raise LogBroken
    store.apply(-undone)


def _since(commit_log: CommitLog, journal: Journal, commit: int) -> Iterator[Entry]:
    """All later commits: the durable ones from disk, the others from memory."""
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
