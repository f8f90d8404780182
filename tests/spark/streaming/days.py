"""Days in the life of a graph with subscriptions that come and go: what everybody should be told, by one engine."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

from spark.histories import log_with
from strategies.busy import query, update
from strategies.data import EX, GRAPHS
from tidings.engine.engine import Engine
from tidings.engine.store.store import Store
from tidings.engine.updates.executor import Core
from tidings.log.entry import Entry
from tidings.model.access import Graphs
from tidings.model.errors import GraphExists, GraphMissing
from tidings.model.zset import ZSet
from tidings.protocol.entries import within
from tidings.spark.lake.manifest import File
from tidings.spark.streaming.router import Router
from tidings.spark.streaming.subscriptions.registrar import Registrar
from tidings.spark.streaming.unit import Member, Notification
from tidings.sparql.evaluate.layout import Row

News: TypeAlias = tuple[int, int, Counter[Row], Counter[Row]]
"""Number, commit, rows added and removed."""


@dataclass
class Stay:
    """A subscription, from a commit to a commit, or to the end."""

    member: Member
    begins: int
    ends: int | None = None


@dataclass
class Day:
    """A history, and who was there when."""

    entries: list[Entry] = field(default_factory=list)
    stays: list[Stay] = field(default_factory=list)

    def time(self, seq: int) -> int:
        return self.entries[seq - 1].time if seq else 0

    def graph(self, seq: int) -> Store:
        store = Store()
        for entry in self.entries[:seq]:
            store.apply(entry.delta)
        return store

    def news(self) -> dict[str, list[News]]:
        """What every subscriber is told by an engine that has all of it: of the graphs that it may see."""
        told: dict[str, list[News]] = {}
        for graphs in {stay.member.graphs for stay in self.stays}:
            told |= self._news([stay for stay in self.stays if stay.member.graphs == graphs], graphs)
        return told

    def _news(self, stays: list[Stay], graphs: Graphs) -> dict[str, list[News]]:
        """What is told where there are no other graphs than these."""
        engine = Engine(Core(random=Random(1)))
        here: dict[int, str] = {}
        told: dict[str, list[News]] = {}
        for entry in (Entry(0, 0, ZSet()), *self.entries):
            delta = within(entry.delta, graphs)
            if delta:
                for each in engine.absorb(delta, now=entry.time).notifications:
                    added, removed = Counter(each.changes.added()), Counter(each.changes.removed())
                    told[here[each.subscription.id]].append((each.sequence, entry.commit, added, removed))
            for stay in stays:
                if stay.begins == entry.commit:
                    member = stay.member
                    subscription, answer = engine.subscribe(member.text, member.dataset, now=self.time(entry.commit))
                    here[subscription.id] = member.spuid
                    told[member.spuid] = [(0, entry.commit, Counter(answer), Counter())]
            for stay in stays:
                if stay.ends == entry.commit:
                    number = next(number for number, spuid in here.items() if spuid == stay.member.spuid)
                    engine.unsubscribe(number)
                    del here[number]
        return told


SEEN = (
    Graphs.ALL,
    Graphs(names=frozenset(("",))),
    Graphs(names=frozenset(("", GRAPHS[0]))),
    Graphs(names=frozenset((GRAPHS[1],))),
    Graphs(prefixes=(EX,)),
    Graphs(names=frozenset(("",)), prefixes=(f"{EX}g",)),
)


def random_day(seed: int, commits: int = 60, stays: int = 25, seen: Sequence[Graphs] = (Graphs.ALL,)) -> Day:
    """Everybody may see one or another of some sets of graphs."""
    random, rights = Random(seed), Random(seed)
    core = Core(random=Random(1))
    day = Day()
    time = 1_700_000_000_000_000
    while len(day.entries) < commits:
        time += random.randint(1, 2_000_000)
        try:
            delta = core.update(update(random), now=time)
        except (GraphExists, GraphMissing):
            continue
        if delta:
            day.entries.append(Entry(len(day.entries) + 1, time, delta))
    for number in range(stays):
        begins = random.choice((0, random.randint(0, commits)))
        ends = random.choice((None, random.randint(begins, commits)))
        member = Member(f"sepa://spuid/{number}", query(random), graphs=rights.choice(seen))
        day.stays.append(Stay(member, begins, ends))
    return day


def write_day(day: Day, folder: Path) -> Path:
    return log_with(folder, day.entries)


def seeds_of(
    registrar: Registrar, begun: Iterable[tuple[int, Member]], graph: Iterable[tuple[str, ...]]
) -> tuple[File, ...]:
    """What concerns those who begin, found quad by quad."""
    router = Router()
    for unit, member in begun:
        router.enter(unit, member)
    rows = [
        (unit, *quad)
        for quad in graph
        for unit in router.find([(quad, 1)])  # type: ignore[list-item]
    ]
    if not rows:
        return ()
    folder = registrar.registry.fresh_seeds()
    folder.mkdir()
    path = folder / "part.parquet"
    pq.write_table(pa.table(dict(zip(("unit", *"spog"), map(list, zip(*rows, strict=True)), strict=True))), path)
    return (File(str(path.relative_to(registrar.registry.path)), len(rows), path.stat().st_size),)


def heard(told: Iterable[Notification]) -> dict[str, list[News]]:
    """What came of a job, by subscriber, without the last words."""
    found: dict[str, list[News]] = {}
    for each in told:
        assert each.reason in (None, "it was ended"), each
        news = found.setdefault(each.spuid, [])
        if each.reason is None:
            news.append((each.sequence, each.commit, Counter(each.added), Counter(each.removed)))
    return {spuid: sorted(news, key=lambda item: item[:2]) for spuid, news in found.items()}
