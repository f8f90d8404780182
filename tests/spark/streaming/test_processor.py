"""The processor, as Spark would use it: state that is read and written, processes that come and go."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest
from pyspark.sql import Row
from pyspark.sql.streaming.tws_tester import TwsTester

from spark.streaming.days import heard, random_day, write_day
from tidings.spark.log_source.origin import Mark
from tidings.spark.streaming import unit_state as processor
from tidings.spark.streaming.input.routed_source import Feed, Offset
from tidings.spark.streaming.input.unit_rows import packed_batch
from tidings.spark.streaming.output.notification_rows import notifications_in, table_of
from tidings.spark.streaming.packs import PACKED_ARROW
from tidings.spark.streaming.subscriptions.registrar import Registrar
from tidings.spark.streaming.subscriptions.registry import Registry
from tidings.spark.streaming.unit import Member, Notification, Unit
from tidings.spark.streaming.unit_state import UnitProcessor, Warm


class Cluster:
    """Units in a tester of Spark's, fed by the log in batches."""

    def __init__(self, folder: Path, members: list[Member], log: Path) -> None:
        registrar = Registrar(Registry(folder / "registry"), together=3)
        begun, wrong = registrar.begin(members)
        self.members = [member for member in members if member.spuid not in wrong]
        registrar.registry.publish(Mark(), begun)
        self.feed = Feed(str(log), str(folder / "registry"))
        self.offset = Offset(Mark(), 0)
        self.tester = TwsTester(UnitProcessor("job"))

    def batch(self, last: int) -> Iterator[Notification]:
        end = self.feed.next(self.offset, Mark(last), None)
        packs: dict[int, list[Row]] = {}
        for part in self.feed.parts(self.offset, end):
            for rows in self.feed.read(part):
                for unit, pack in zip(*(column.to_pylist() for column in packed_batch(rows).columns), strict=True):
                    packs.setdefault(unit, []).append(Row(unit=unit, pack=pack))
        for unit, given in packs.items():
            for row in self.tester.test(unit, given):
                batch = pa.RecordBatch.from_pylist([row.asDict()], schema=PACKED_ARROW)
                yield from notifications_in(table_of([batch]))
        self.offset = end


@pytest.mark.parametrize("seed", range(6))
def test_a_unit_goes_on_wherever_it_is_done(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processor, "SLACK", 1_000 * (seed % 2))
    random, day = Random(seed), random_day(seed, commits=50, stays=12)
    for stay in day.stays:
        stay.begins, stay.ends = 0, None
    cluster = Cluster(tmp_path, [stay.member for stay in day.stays], write_day(day, tmp_path / "data"))
    day.stays = [stay for stay in day.stays if stay.member in cluster.members]
    told: list[Notification] = []
    processes = (Warm(), Warm())
    seq = 0
    while seq < 50:
        seq = min(50, seq + random.randint(1, 12))
        if not random.randrange(8):
            processes = (Warm(), Warm())
        monkeypatch.setattr(processor, "_warm", random.choice(processes))
        told.extend(cluster.batch(seq))
    assert heard(told) == day.news()


def test_records_become_a_snapshot_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processor, "SLACK", 0)
    day = random_day(1, commits=60, stays=4)
    for stay in day.stays:
        stay.begins, stay.ends = 0, None
    cluster = Cluster(tmp_path, [stay.member for stay in day.stays], write_day(day, tmp_path / "data"))
    lengths: list[int] = []
    for seq in range(1, 61):
        list(cluster.batch(seq))
        lengths.append(len(cluster.tester.peekListState("records", 1)))
    assert max(lengths) > 2
    assert any(after < before for before, after in pairwise(lengths))


def test_a_process_keeps_no_more_than_it_may() -> None:
    warm = Warm(most=10)
    for number in range(5):
        unit = Unit()
        unit._learn((f"<urn:{number}>", "<urn:p>", f'"{each}"', "") for each in range(4))
        warm.keep("job", number, 1, unit)
    assert [warm.take("job", number) is not None for number in range(5)] == [False, False, False, True, True]
