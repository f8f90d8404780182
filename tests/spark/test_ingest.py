"""From a log into the lake and back out: exactly once, whatever happens on the way."""

import random
import shutil
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

from gates.wire import serving
from spark.histories import history, log_with, replayed, rows_in, rows_of
from tidings.cli.commands.operation import history as command
from tidings.log.errors import LogDamaged
from tidings.log.layout import segment_path, segments
from tidings.log.snapshot import read_snapshot
from tidings.model.formats.rdf import RdfFormat, parse_rdf
from tidings.protocol.instants import shown
from tidings.spark.errors import CheckpointForeign, LakeDamaged, LakeUnusable, LogDiverged, SparkFailed
from tidings.spark.lake import travel
from tidings.spark.lake.ingest import Ingest
from tidings.spark.lake.lake import Lake
from tidings.spark.lake.manifest import IngestedBatch, Snapshot
from tidings.spark.lake.writing import Upkeep, append, merge
from tidings.spark.log_source.data_source import FORMAT, TidingsLog, batches
from tidings.spark.session import session

pytestmark = pytest.mark.spark
BUSY = Upkeep(fan=3, large=1_000, snapshot_every=150)
"""Merges and snapshots all the time."""


def ingest(spark: SparkSession, lake: Lake, log: Path | str, commits: int = 1000, upkeep: Upkeep = BUSY) -> None:
    Ingest(spark, lake, str(log), commits=commits, upkeep=upkeep).run()


def test_the_graph_at_any_commit_is_what_the_engine_makes_of_the_log(spark: SparkSession, tmp_path: Path) -> None:
    histories = {seed: history(seed, 150) for seed in (1, 2)}
    frames = []
    expected = set()
    for seed, entries in histories.items():
        lake = Lake.make(tmp_path / f"lake{seed}")
        ingest(spark, lake, log_with(tmp_path / f"data{seed}", entries), commits=30 if seed == 1 else 100)
        assert rows_in(lake) == rows_of(entries)
        assert lake.snapshots()
        chance = random.Random(seed)
        edge = lake.snapshots()[0].commit
        for at in {1, 150, edge, edge - 1, min(edge + 1, 150), chance.randint(2, 149)}:
            tags = f.lit(seed).alias("seed"), f.lit(at).alias("at")
            frames.append(travel.quads(spark, lake, at).select(*tags, *"spog"))
            expected |= {(seed, at, *quad) for quad in replayed(entries, at)}
    whole = frames[0]
    for frame in frames[1:]:
        whole = whole.unionAll(frame)
    found = [tuple(row) for row in whole.collect()]
    assert len(found) == len(set(found))
    assert set(found) == expected


def test_small_batches_are_merged(spark: SparkSession, tmp_path: Path) -> None:
    entries = history(5, 90)
    lake = Lake.make(tmp_path / "lake")
    ingest(spark, lake, log_with(tmp_path / "data", entries), 10, Upkeep(fan=3, snapshot_every=10**9))
    assert [(each.first, each.last, each.level) for each in lake.batches()] == [(1, 90, 2)]
    lake.sweep(grace=-1)
    assert rows_in(lake) == rows_of(entries)


def test_a_lake_from_before_publishers_were_known_is_read_and_merged(spark: SparkSession, tmp_path: Path) -> None:
    entries = [entry for entry in history(14, 20) if entry.delta]
    lake = Lake.make(tmp_path / "lake")
    folder = lake.fresh("changes", 1)
    folder.mkdir()
    old = pa.Table.from_batches(batches(iter(entries[:10]))).drop_columns("by")
    pq.write_table(old, folder / "part-0.parquet")
    found = lake.found(folder)
    lake.publish(IngestedBatch(*found.range("seq"), *found.range("time"), found.files))
    ingest(spark, lake, log_with(tmp_path / "data", entries), upkeep=Upkeep(fan=3))
    expected = [row if row[0] > 10 else (*row[:-1], None) for row in rows_of(entries)]
    assert len(lake.batches()) == 2
    assert rows_in(lake) == expected
    frame = travel.changes(spark, lake)
    assert Counter(row["by"] for row in frame.select("by").collect()) == Counter(row[-1] for row in expected)
    merge(spark, lake, lake.batches())
    assert len(lake.batches()) == 1
    assert rows_in(lake) == expected
    assert travel.commit_at(lake, entries[4].time) == travel.time_of(lake, 5)


def test_what_is_appended_later_is_taken_in_later_and_nothing_twice(spark: SparkSession, tmp_path: Path) -> None:
    entries = history(6, 60)
    lake = Lake.make(tmp_path / "lake")
    data = log_with(tmp_path / "data", [entry for entry in entries if entry.commit <= 40])
    ingest(spark, lake, data)
    ingest(spark, lake, data)
    assert lake.end().commit == 40
    log_with(data, [entry for entry in entries if entry.commit > 40])
    shutil.rmtree(lake.path / "checkpoint")  # lost
    ingest(spark, lake, data)
    assert rows_in(lake) == rows_of(entries)


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_crash_around_the_manifest_loses_and_doubles_nothing(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    entries = history(7, 60)
    lake = Lake.make(tmp_path / "lake")
    data = log_with(tmp_path / "data", entries)
    publish = Lake.publish

    def dies(self: Lake, made: IngestedBatch | Snapshot) -> None:
        if moment == "after":
            publish(self, made)
        if isinstance(made, IngestedBatch) and made.last == 40:
            raise LakeUnusable("the power is gone")
        if moment == "before":
            publish(self, made)

    with monkeypatch.context() as patch:
        patch.setattr(Lake, "publish", dies)
        with pytest.raises(LakeUnusable, match="the power is gone"):
            ingest(spark, lake, data, 20)
    assert lake.end().commit == (20 if moment == "before" else 40)
    ingest(spark, lake, data, 20)
    assert rows_in(lake) == rows_of(entries)


def test_a_batch_that_comes_again_adds_only_what_is_new(spark: SparkSession, tmp_path: Path) -> None:
    entries = history(13, 40)
    lake = Lake.make(tmp_path / "lake")
    spark.dataSource.register(TidingsLog)
    log = spark.read.format(FORMAT).option("last", 30)
    some = log.load(str(log_with(tmp_path / "data", entries)))
    assert append(lake, some) is not None
    assert append(lake, some) is None
    whole = spark.read.format(FORMAT).load(str(tmp_path / "data"))
    added = append(lake, whole)
    assert added is not None
    assert (added.first, added.last) == (31, 40)
    assert rows_in(lake) == rows_of(entries)


def test_damage_in_the_log_is_told_and_nothing_is_written(spark: SparkSession, tmp_path: Path) -> None:
    data = log_with(tmp_path / "data", history(8, 200))
    lake = Lake.make(tmp_path / "lake")
    segment_path(data, segments(data)[1]).unlink()
    with pytest.raises(LogDamaged, match="missing") as told:
        ingest(spark, lake, data)
    assert told.value.__cause__ is not told.value, "whoever looks for the cause would never find it"
    assert lake.batches() == []


def test_another_log_or_another_checkpoint_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    lake, other = Lake.make(tmp_path / "lake"), Lake.make(tmp_path / "other")
    data = log_with(tmp_path / "data", history(9, 30))
    ingest(spark, lake, data)
    with pytest.raises(LogDiverged, match="another log"):
        ingest(spark, lake, log_with(tmp_path / "data2", history(10, 40)))
    with pytest.raises(CheckpointForeign, match="another"):
        Ingest(spark, other, str(data), checkpoint=lake.path / "checkpoint").run()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").touch()
    with pytest.raises(CheckpointForeign, match=r"job\.json"):
        Ingest(spark, other, str(data), checkpoint=tmp_path / "mine").run()
    for path in (lake.path / "manifests").iterdir():
        path.unlink()  # as if the lake came back from a backup, and its checkpoint did not
    log_with(data, [entry for entry in history(9, 31) if entry.commit == 31])
    with pytest.raises(CheckpointForeign, match="goes on from commit 31"):
        ingest(spark, lake, data)


def test_a_lake_that_lost_a_file_says_so(spark: SparkSession, tmp_path: Path) -> None:
    lake = Lake.make(tmp_path / "lake")
    ingest(spark, lake, log_with(tmp_path / "data", history(11, 10)))
    (lake.path / lake.batches()[0].files[0].path).unlink()
    with pytest.raises(LakeDamaged, match="missing"):
        travel.quads(spark, lake, 10)


def test_an_unknown_master_is_said_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidings.spark.session.running", lambda: None)
    with pytest.raises(SparkFailed, match="no master 'moon'"):
        session("moon")


@pytest.mark.server
def test_the_command_line_from_a_broker_to_a_broker_as_it_was(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def call(*words: object) -> None:
        arguments = [*map(str, words), "--lake", str(tmp_path / "lake")]
        assert command.run(command.parser().parse_intermixed_args(arguments)) == 0

    with serving(tmp_path, "--data", "data") as broker:
        for number in range(6):
            broker.update(f"DELETE WHERE {{ <urn:s> <urn:p> ?o }} ; INSERT DATA {{ <urn:s> <urn:p> {number} }}")
        call("ingest", "--log", broker.http)
    said = capsys.readouterr().err
    assert "6 commits, 11 changes" in said
    lake = Lake(tmp_path / "lake")
    call("as-of", "--at", 3, "--output", tmp_path / "then.nq")
    text = (tmp_path / "then.nq").read_bytes()
    assert [quad[2] for quad in parse_rdf(text, RdfFormat.N_QUADS)] == [
        '"2"^^<http://www.w3.org/2001/XMLSchema#integer>'
    ]
    call("as-of", "--at", shown(lake.end().time), "--data", tmp_path / "then")
    taken = read_snapshot(tmp_path / "then")
    assert taken is not None
    assert taken.commit == 6
    with serving(tmp_path, "--data", "then") as broker:
        assert broker.query("SELECT ?o { ?s ?p ?o }")[0]["o"]["value"] == "5"
    call("info")
    assert "commits    1 to 6" in capsys.readouterr().out
