"""A commit log on paper: a journal that is told when to fail and how long to take, and who hears what became of it."""

import asyncio
import errno
import threading
from collections.abc import Callable
from typing import TypeVar, cast

from tidings.broker.durability.commit_log import CommitLog
from tidings.broker.pending import Pending, PendingBarrier, PendingSeed, PendingUnsubscription
from tidings.engine.commit import Commit
from tidings.log.entry import Entry, Note
from tidings.log.errors import LogBroken, LogWriteFailed
from tidings.log.journal import Durability, Journal
from tidings.model.errors import TidingsError
from tidings.model.terms import Quad
from tidings.model.zset import ZSet
from waiting import PATIENCE

P = TypeVar("P", bound=Pending)


class Sheet(list[Entry]):
    """A batch on paper."""

    def __init__(self, entries: list[Entry], later: tuple[Entry, ...] = ()) -> None:
        super().__init__(entries)
        self.later = later


class Paper:
    """A journal that remembers batches, fails when it is told to, and takes the time it is given."""

    def __init__(self) -> None:
        self.seq = 0
        self.pending: list[Entry] = []
        self.batches: list[list[Entry]] = []
        self.closed = False
        self.failing = 0
        self.broken = False
        self.busy: threading.Event | None = None
        self.writing = threading.Event()
        """Whether it is at work on a batch."""

    def append(self, entry: Entry) -> None:
        if self.broken:
            raise LogBroken
        assert entry.commit == self.seq + bool(entry.delta)
        self.pending.append(entry)
        self.seq = entry.commit

    def take(self) -> Sheet | None:
        batch, self.pending = self.pending, []
        later = tuple(entry for entry in batch if len(entry.delta) > 1)
        return Sheet(batch, later) if batch else None

    @property
    def has_more(self) -> bool:
        return bool(self.pending)

    def write(self, batch: list[Entry]) -> None:
        self.writing.set()
        if self.busy is not None:
            assert self.busy.wait(PATIENCE)
        if self.failing:
            self.failing -= 1
            raise LogWriteFailed(OSError(errno.ENOSPC, "No space left on device"))
        self.batches.append(batch)

    def discard(self) -> None:
        self.pending = []
        self.seq = max((entry.commit for batch in self.batches for entry in batch), default=0)

    def close(self) -> None:
        self.closed = True


async def turns() -> None:
    """The loop goes round some times: whatever would happen by itself has happened."""
    for _ in range(10):
        await asyncio.sleep(0)


class Scene:
    """A commit log on paper, and what was settled and undone."""

    def __init__(self, durability: Durability) -> None:
        self.paper = Paper()
        journal = cast(Journal, self.paper)
        self.log = CommitLog(lambda: 1)
        self.log.begin(self)
        self.log.attach(journal, durability)
        self.group_commit = self.log.group_commit
        self.said: list[str] = []
        self.then: dict[str, Callable[[], None]] = {}
        """What is done when something is settled."""
        self._names: dict[int, tuple[str, Pending]] = {}

    def commit(self, name: str, size: int = 1) -> None:
        """One with several changes is large."""
        delta: ZSet[Quad] = ZSet([(("<s>", "<p>", f'"{name} {number}"', ""), 1) for number in range(size)])
        self.log.commit(self._named(name, PendingSeed(self.log.next_entry(delta, 1), Commit(delta, []))))

    def note(self, name: str) -> None:
        self.log.note(Note("remark", {"name": name}), self._named(name, PendingUnsubscription(None)))

    def wait(self, name: str) -> None:
        """Something that writes nothing."""
        self.log.wait(self._named(name, PendingUnsubscription(None)))

    def _named(self, name: str, pending: P) -> P:
        self._names[id(pending)] = (name, pending)
        return pending

    def settle(self, pending: Pending) -> None:
        if isinstance(pending, PendingBarrier):
            if not pending.durable.done():
                pending.durable.set_result(None)
            return
        name = self._names[id(pending)][0]
        self.said.append(name)
        if name in self.then:
            self.then[name]()
        if isinstance(pending, PendingSeed):
            self.log.publish(pending.entry)

    def undo(self, pending: Pending, error: TidingsError) -> None:
        if isinstance(pending, PendingBarrier):
            pending.durable.set_exception(error)
            return
        self.said.append(f"no {self._names[id(pending)][0]}")
        if isinstance(pending, PendingSeed):
            self.log.take_back(pending.entry)

    @property
    def sizes(self) -> list[int]:
        return [len(batch) for batch in self.paper.batches]
