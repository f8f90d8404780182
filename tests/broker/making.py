"""Brokers to test with, and clients that remember what they were told: in memory, or in a folder; time is by hand."""

import asyncio
import errno
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

from oracles.recomputation import recomputed
from strategies.access import only
from tidings.broker.broker import Broker
from tidings.broker.errors import UnknownSubscription
from tidings.broker.policy import Policy
from tidings.broker.subscriptions.external_answers import ExternalEngine
from tidings.broker.subscriptions.outbox import Bounds
from tidings.broker.subscriptions.subscriber import Parcel, Session, Subscriber
from tidings.broker.updates import queue as room
from tidings.broker.updates.accepted import Done, Outcome
from tidings.engine.contexts import Contexts
from tidings.engine.engine import Engine
from tidings.engine.updates.executor import Core
from tidings.log import journal
from tidings.log.folder import Folder
from tidings.model.access import ALL_RIGHTS, Rights
from tidings.model.errors import MayNotSubscribe, TidingsError
from tidings.model.results import Row
from tidings.model.terms import Quad
from tidings.model.zset import ZSet
from tidings.server import brokers
from tidings.server.config import Settings
from waiting import PATIENCE, until, wait_until

BASE = "http://example.org/"
BEGIN = 1_800_000_000_000_000
"""When tests take place, in microseconds since 1970."""
ALL = "SELECT ?s ?o { ?s <p> ?o }"


class Clock:
    """Time that passes when a test says so: microseconds since 1970, and seconds for durations.

    With a `step`, so many seconds pass whenever somebody looks how long something has taken."""

    def __init__(self, step: float = 0.0) -> None:
        self.micros = BEGIN
        self.seconds = 1000.0
        self.step = step

    def now(self) -> int:
        return self.micros

    def monotonic(self) -> float:
        self.seconds += self.step
        return self.seconds

    def pass_by(self, seconds: float) -> None:
        self.micros += round(seconds * 1e6)
        self.seconds += seconds


# -- brokers ----------------------------------------------------------------------------------------------------


def in_memory(clock: Clock, policy: Policy | None = None, *, contexts: bool = False, **bounds: Any) -> Broker:
    """A broker that forgets; it must still be entered. It may keep `contexts` only."""
    policy = policy or Policy(bounds=Bounds(**bounds), slice_seconds=5.0, planning=PATIENCE)
    engine = Engine(Core(base=BASE))
    if contexts:
        engine.contexts = Contexts(engine.store)
    return Broker(engine, policy, clock=clock.now, monotonic=clock.monotonic)


def opened(clock: Clock, path: Path, external: ExternalEngine | None = None, **changes: Any) -> Broker:
    """The broker that a folder holds; it must still be entered."""
    values: dict[str, Any] = {
        "base": BASE,
        "durability": "os",
        "slice": 5.0,
        "max_planning": PATIENCE,
        "grace": 1e9,
        **changes,
    }
    settings = Settings(**values)
    Folder(path).release()
    return brokers.open_broker(settings, path, lambda _: None, external, brokers.Watch(clock.now, clock.monotonic))


def crashed(path: Path, copy: Path) -> Path:
    """What the disk would have if the broker died now."""
    return Path(shutil.copytree(path, copy))


async def settled(broker: Broker) -> None:
    """Until nothing is on its way: neither updates nor what rests on the disk."""
    for _ in range(3):
        await until(lambda: not (broker.updates.accepted or broker.forks.running or broker.subscriptions.behind))
        await broker.commit_log.group_commit.idle()
        await asyncio.sleep(0)


def insert(n: int) -> str:
    return f"INSERT DATA {{ <s{n}> <p> {n} }}"


def delete(n: int) -> str:
    return f"DELETE DATA {{ <s{n}> <p> {n} }}"


def quads_of(broker: Broker) -> set[tuple[str, ...]]:
    return set(broker.store)


# -- publishers -------------------------------------------------------------------------------------------------


class Replies:
    """What publishers were answered, in the order of the answers."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self.outcomes: list[tuple[int, Outcome]] = []
        self._next = 0

    def submit(self, text: str) -> int:
        number, self._next = self._next, self._next + 1
        self._broker.submit(text, None, lambda outcome: self.outcomes.append((number, outcome)))
        return number

    @property
    def order(self) -> list[int]:
        return [number for number, _ in self.outcomes]

    def done(self) -> list[Done]:
        return [outcome for _, outcome in self.outcomes if isinstance(outcome, Done)]

    def errors(self) -> list[TidingsError]:
        return [outcome for _, outcome in self.outcomes if isinstance(outcome, TidingsError)]


# -- subscribers ------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Known:
    """A subscription as its client knows it."""

    text: str
    spuid: str = ""
    sequence: int = -1
    answer: Counter[Row] = field(default_factory=Counter)
    commits: list[int] = field(default_factory=list)
    resumed: list[bool] = field(default_factory=list)
    reasons: list[str | None] = field(default_factory=list)

    def begin(self, parcel: Parcel) -> None:
        self.sequence = 0
        self.commits = [parcel.commit]
        self.answer = Counter(parcel.changes.added())
        assert not list(parcel.changes.removed())

    def hear(self, sequence: int, parcel: Parcel) -> None:
        """Fold in a change: the next one, and nothing that was not there."""
        assert sequence == self.sequence + 1, (self.sequence, sequence)
        self.sequence = sequence
        self.commits.append(parcel.commit)
        self.reasons.append(parcel.reason)
        for row, weight in parcel.changes.items():
            self.answer[row] += weight
            assert self.answer[row] >= 0, f"{row} was taken away, and was not there"
        self.answer = +self.answer

    def check(self, broker: Broker, rights: Rights = ALL_RIGHTS) -> None:
        """What was told adds up to what a fresh query answers, over exactly the graphs that may be subscribed to."""
        store = broker.store if rights is ALL_RIGHTS else only(broker.store, rights.subscribe)
        assert self.answer == recomputed(self.text, store, now=broker.commit_log.time, base=BASE), self.text


class Line:
    """One connection. While it is down nobody has noticed yet: what is sent is lost."""

    def __init__(self, client: "Client", broker: Broker) -> None:
        self._client = client
        self.down = False
        self.closed: list[int] = []
        self.dismissed: dict[str, str] = {}
        """Subscriptions that were ended, and why."""
        self.session: Session = broker.connect(self)

    def deliver(self, subscriber: Subscriber, sequence: int, parcel: Parcel) -> None:
        if not self.down and not self.closed:
            self._client.known[subscriber.spuid].hear(sequence, parcel)

    def dismiss(self, subscriber: Subscriber, reason: str, code: int) -> None:
        self.dismissed[subscriber.spuid] = reason

    def close(self, code: int, reason: str) -> None:
        self.closed.append(code)


class Client:
    """A subscriber with a memory, and a connection that may break; who it is, and what it may do."""

    def __init__(self, broker: Broker, owner: str | None = None, rights: Rights = ALL_RIGHTS) -> None:
        self.owner = owner
        self.rights = rights
        self.known: dict[str, Known] = {}
        self.errors: list[TidingsError] = []
        self.broker = broker
        self.line = Line(self, broker)

    def subscribe(self, text: str) -> None:
        """Subscribe; `known` has it once it was answered."""
        line = self.line

        def answered(subscriber: Subscriber, parcel: Parcel, resumed: bool) -> None:
            assert not resumed
            if not line.down and not line.closed:
                known = self.known[subscriber.spuid] = Known(text, subscriber.spuid)
                known.begin(parcel)

        self.broker.subscribe(
            line.session, text, None, None, answered, self.errors.append, rights=self.rights, owner=self.owner
        )

    def resume(self, spuid: str, sequence: int | None = None) -> None:
        """Take a subscription up again, after what was seen last or another number; if it is gone, begin anew."""
        line = self.line
        known = self.known[spuid]

        def answered(subscriber: Subscriber, parcel: Parcel, resumed: bool) -> None:
            if line.down or line.closed:
                return
            known.resumed.append(resumed)
            if resumed:
                assert subscriber.spuid == known.spuid
                known.hear(subscriber.sequence, parcel)
                return
            assert subscriber.sequence == 0
            self.known.pop(known.spuid, None)
            known.spuid = subscriber.spuid
            self.known[known.spuid] = known
            known.begin(parcel)

        def refused(error: TidingsError) -> None:
            again = isinstance(error, UnknownSubscription) or (
                isinstance(error, MayNotSubscribe) and self.rights.subscribe
            )
            if again and line.session.open:
                self.broker.subscribe(
                    line.session,
                    known.text,
                    None,
                    None,
                    answered,
                    refused,
                    rights=self.rights,
                    owner=self.owner,
                )
            else:
                self.errors.append(error)

        seen = known.sequence if sequence is None else sequence
        try:
            self.broker.resume(line.session, spuid, seen, None, answered, refused, asker=self.owner, rights=self.rights)
        except UnknownSubscription as error:
            refused(error)

    def unsubscribe(self, spuid: str, done: Callable[[], None] = lambda: None) -> None:
        self.broker.unsubscribe(self.line.session, spuid, done, asker=self.owner, rights=self.rights)
        del self.known[spuid]

    def lose(self) -> None:
        """The connection breaks, and the broker notices."""
        self.line.down = True
        self.broker.disconnect(self.line.session)

    def come_back(self, broker: Broker | None = None) -> None:
        """Connect again; nothing is resumed yet."""
        self.broker = broker or self.broker
        self.line = Line(self, self.broker)

    def take_up(self, broker: Broker) -> None:
        """Connect to a broker that was started again, and resume everything."""
        self.come_back(broker)
        for spuid in list(self.known):
            self.resume(spuid)

    def fill(self) -> None:
        self.broker.filled(self.line.session)

    def drain(self) -> None:
        self.broker.drained(self.line.session)

    @property
    def only(self) -> Known:
        (known,) = self.known.values()
        return known

    def check(self) -> None:
        for known in self.known.values():
            known.check(self.broker, self.rights)


# -- trouble ----------------------------------------------------------------------------------------------------


@contextmanager
def full_disk() -> Iterator[None]:
    """Nothing can be written to any log."""
    with mock.patch.object(journal, "os", _FullDisk()):
        yield


class _FullDisk:
    """The operating system as the log sees it, without room on its disk."""

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)

    def write(self, file: int, data: memoryview) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class Gate:
    """Work that goes aside waits for this; it is a file, because a fork sees nothing else of what happens here."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def open(self) -> None:
        self._path.touch()

    def pass_through(self) -> None:
        wait_until(self._path.exists)


@contextmanager
def work_aside_waits_for(gate: Gate) -> Iterator[None]:
    """Updates with a text of more than a hundred characters are worked out aside, and not before the gate opens."""
    work_out = Engine.work_out

    def slowly(*arguments: Any, **named: Any) -> ZSet[Quad]:
        gate.pass_through()
        return work_out(*arguments, **named)

    with mock.patch.object(room, "LONG_TEXT", 100), mock.patch.object(Engine, "work_out", slowly):
        yield


def long(text: str) -> str:
    """An update that is worked out aside."""
    return text.ljust(101)
