"""Units, routed to and fed in batches cut anywhere, tell what one engine with the whole graph tells."""

from pathlib import Path
from random import Random

import msgspec
import pytest

from endurance import often
from spark.streaming.days import SEEN, Day, Stay, heard, random_day, seeds_of, write_day
from tidings.model.access import Graphs
from tidings.model.terms import Quad
from tidings.spark.log_source.origin import Mark
from tidings.spark.streaming.errors import DependsOnChance
from tidings.spark.streaming.input.routed_source import Feed, Offset
from tidings.spark.streaming.input.unit_rows import UnitRow, inbox_of
from tidings.spark.streaming.router import Following
from tidings.spark.streaming.subscriptions.registrar import Registrar
from tidings.spark.streaming.subscriptions.registry import Begin, Registry
from tidings.spark.streaming.unit import Arrival, Change, Inbox, Member, Notification, Record, Unit


class Cluster:
    """Does what Spark would do, here: batches of the feed, rows by unit and in any order, units as records."""

    def __init__(self, folder: Path, day: Day, random: Random) -> None:
        self.day, self.random = day, random
        self.log = write_day(day, folder / "data")
        self.registrar = Registrar(Registry(folder / "registry"), together=random.choice((1, 3, 64)))
        self.feed = Feed(str(self.log), str(folder / "registry"))
        self.offset = Offset(Mark(), 0)
        self.records: dict[int, list[Record]] = {}
        self.warm: dict[int, Unit] = {}
        self.told: list[Notification] = []
        self.quads: dict[int, set[Quad]] = {}

    def register(self, seq: int, stays: list[Stay]) -> None:
        """Have some begin after a commit."""
        begun, wrong = self.registrar.begin(stay.member for stay in stays)
        assert all(isinstance(error, DependsOnChance) for error in wrong.values())
        self.day.stays = [stay for stay in self.day.stays if stay.member.spuid not in wrong]
        if begun:
            seeds = seeds_of(self.registrar, ((each.unit, each.member) for each in begun), self.day.graph(seq))
            self.registrar.registry.publish(Mark(seq, self.day.time(seq)), begun, seeds)

    def end(self, stay: Stay) -> None:
        assert stay.ends is not None
        self.registrar.registry.publish(Mark(), self.registrar.end([stay.member.spuid], stay.ends))

    def batch(self, upto: int) -> None:
        end = self.feed.next(self.offset, Mark(upto, self.day.time(upto)), None)
        rows: dict[int, list[UnitRow]] = {}
        for part in self.feed.parts(self.offset, end):
            for given in self.feed.read(part):
                for number, row in given:
                    rows.setdefault(number, []).append(row)
        for number, mine in rows.items():
            self.random.shuffle(mine)
            unit = self.warm.pop(number, None)
            if unit is None:
                unit = Unit.of(self.records.get(number, []))
            self.told.extend(unit.take(inbox_of(mine)))
            whole = number not in self.records or self.random.random() < 0.3
            record = msgspec.msgpack.decode(msgspec.msgpack.encode(unit.record(whole=whole)), type=Record)
            self.records[number] = [record] if whole else [*self.records[number], record]
            if self.random.random() < 0.5:
                self.warm[number] = unit
            self.quads[number] = set(unit.quads())
        self.offset = end
        self.check_contexts()

    def check_contexts(self) -> None:
        """A unit holds what concerns its members, and nothing else."""
        seq = self.offset["seq"]
        router = Following(self.registrar.registry).at(self.offset["version"], seq)
        expected: dict[int, set[Quad]] = {number: set() for number in self.quads}
        for quad in self.day.graph(seq):
            for unit in router.find([(quad, 1)]):
                expected[unit].add(quad)
        assert self.quads == expected


@pytest.mark.parametrize("seed", range(often(5)))
def test_units_tell_what_one_engine_tells(seed: int, tmp_path: Path) -> None:
    live(random_day(seed), Random(seed), tmp_path)


@pytest.mark.parametrize("seed", range(100, 100 + often(7)))
def test_units_tell_what_an_engine_tells_that_has_just_the_graphs_that_may_be_seen(seed: int, tmp_path: Path) -> None:
    cluster = live(random_day(seed, seen=SEEN), Random(seed), tmp_path)
    seen: dict[int, set[Graphs]] = {}
    for _, commands in cluster.registrar.registry.everything():
        for command in commands:
            if isinstance(command, Begin):
                seen.setdefault(command.unit, set()).add(command.member.graphs)
    assert {len(graphs) for graphs in seen.values()} == {1}  # who may see other graphs shares nothing
    for number, quads in cluster.quads.items():
        (graphs,) = seen[number]
        assert all(graphs.has(quad[3]) for quad in quads)


def live(day: Day, random: Random, folder: Path) -> Cluster:
    """Have a cluster live through a day, and compare what it tells."""
    cluster = Cluster(folder, day, random)
    commits = len(day.entries)
    to_come = {stay.member.spuid: random.randint(stay.begins, commits) for stay in day.stays}
    to_end = {stay.member.spuid for stay in day.stays if stay.ends is not None}
    for now in range(commits + 1):
        # Whoever begins says so when its commit is there, or later; the job may be behind that commit or past it.
        for begins in range(now + 1):
            coming = [stay for stay in day.stays if stay.begins == begins and to_come[stay.member.spuid] == now]
            cluster.register(begins, coming)
        for stay in day.stays:
            if stay.member.spuid in to_end and max(stay.ends or 0, to_come[stay.member.spuid]) <= now:
                stay.ends = now  # it ends when it says so: what it was told cannot be taken back
                cluster.end(stay)
                to_end.remove(stay.member.spuid)
        if random.random() < 0.2 or now == commits:
            cluster.batch(
                now if random.random() < 0.5 or now == commits else random.randint(cluster.offset["seq"], now)
            )
    assert heard(cluster.told) == day.news()
    assert {each.spuid for each in cluster.told if each.reason} == {
        stay.member.spuid for stay in day.stays if stay.ends is not None
    }
    return cluster


def test_who_asks_something_else_begins_anew(tmp_path: Path) -> None:
    day = random_day(5, commits=20, stays=0)
    cluster = Cluster(tmp_path, day, Random(1))
    first, second = (Member("sepa://spuid/x", f"SELECT * {{ <http://example.org/n{n}> ?p ?o }}") for n in (1, 2))
    day.stays = [Stay(first, 0)]
    cluster.register(0, day.stays)
    cluster.batch(8)
    cluster.end(Stay(first, 0, 12))
    cluster.register(12, [Stay(second, 12)])
    cluster.batch(20)
    before, after = Day(day.entries, [Stay(first, 0, 12)]).news(), Day(day.entries, [Stay(second, 12)]).news()
    told = [each for each in cluster.told if each.reason is None]
    assert heard(each for each in told if each.commit <= 12 and not (each.commit == 12 and not each.sequence)) == before
    assert heard(each for each in told if each.commit > 12 or (each.commit == 12 and not each.sequence)) == after
    assert [each.commit for each in cluster.told if each.reason] == [12]


def test_a_context_that_grows_too_large_is_reported_and_let_go() -> None:
    unit = Unit(largest=3)
    member = Member("sepa://spuid/large", "SELECT * { ?s <urn:p> ?o }")
    changes = [Change(seq, seq, (f"<urn:{seq}>", "<urn:p>", "<urn:o>", ""), 1) for seq in range(1, 6)]
    told = list(unit.take(Inbox(changes, {1: Arrival(0, 0, [member])})))
    assert [(each.sequence, each.commit) for each in told] == [(0, 0), (1, 1), (2, 2), (3, 3), (4, 4), (5, 4)]
    assert told[-1].reason is not None
    assert "4 quads concern it" in told[-1].reason
    assert not list(unit.take(Inbox([Change(9, 9, ("<urn:9>", "<urn:p>", "<urn:o>", ""), 1)])))
    assert len(unit) == 0
