"""The lake as a folder: what is there, who may write, what is left over."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tidings.spark.errors import BeyondHistory, LakeDamaged, LakeInUse, LakeUnusable
from tidings.spark.lake.lake import Lake
from tidings.spark.lake.manifest import IngestedBatch, Snapshot
from tidings.spark.lake.travel import commit_at, plan, time_of
from tidings.spark.log_source.data_source import ARROW
from tidings.spark.log_source.origin import Mark


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake.make(tmp_path / "lake")


def put(lake: Lake, first: int, last: int) -> IngestedBatch:
    """A batch of commits that have a change each, at ten times their number."""
    folder = lake.fresh("changes", first)
    folder.mkdir()
    seqs = list(range(first, last + 1))
    columns = [seqs, [10 * seq for seq in seqs], *([name] * len(seqs) for name in ("add", *"spog", "by"))]
    arrays = [pa.array(values, field.type) for values, field in zip(columns, ARROW, strict=True)]
    pq.write_table(pa.table(arrays, schema=ARROW), folder / "part-0.parquet")
    found = lake.found(folder)
    batch = IngestedBatch(*found.range("seq"), *found.range("time"), found.files)
    lake.publish(batch)
    return batch


def test_a_lake_ends_with_the_last_commit_of_its_last_batch(lake: Lake) -> None:
    assert lake.end() == Mark()
    batch = put(lake, 1, 5)
    assert (batch.first, batch.last, batch.since, batch.until, batch.rows) == (1, 5, 10, 50, 5)
    put(lake, 6, 7)
    assert lake.end() == Mark(7, 70)
    assert Lake.make(lake.path).end() == Lake(lake.path).end() == lake.end()


def test_an_instant_stands_for_the_last_commit_up_to_it(lake: Lake) -> None:
    put(lake, 1, 5)
    put(lake, 6, 9)
    at = {9: Mark(), 10: Mark(1, 10), 55: Mark(5, 50), 60: Mark(6, 60), 79: Mark(7, 70), 1000: Mark(9, 90)}
    assert {instant: commit_at(lake, instant) for instant in at} == at
    assert time_of(lake, 7) == Mark(7, 70)
    assert time_of(lake, 0) == Mark()
    with pytest.raises(BeyondHistory, match="to commit 9"):
        time_of(lake, 10)


def test_a_plan_starts_from_the_nearest_snapshot(lake: Lake) -> None:
    one, two, three = put(lake, 1, 5), put(lake, 6, 9), put(lake, 10, 12)
    lake.publish(Snapshot(5, 50, ()))
    assert plan(lake, 4) == (0, (), one.files, 4)
    assert plan(lake, 5) == (5, (), (), 5)
    assert plan(lake, 9) == (5, (), two.files, 9)
    assert plan(lake, 12) == (5, (), two.files + three.files, 12)
    with pytest.raises(BeyondHistory):
        plan(lake, 13)


def test_a_file_that_is_missing_or_short_is_damage(lake: Lake) -> None:
    batch = put(lake, 1, 5)
    path = lake.path / batch.files[0].path
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(LakeDamaged, match="bytes"):
        lake.paths(batch.files)
    path.unlink()
    with pytest.raises(LakeDamaged, match="missing"):
        lake.paths(batch.files)


def test_one_process_writes_at_a_time(lake: Lake) -> None:
    with lake.locked(), pytest.raises(LakeInUse), Lake(lake.path).locked():
        pass
    with lake.locked():
        pass


def test_leftovers_go_and_what_is_there_stays(lake: Lake) -> None:
    batch = put(lake, 1, 5)
    left = lake.fresh("changes", 6)
    left.mkdir()
    (left / "part-0.parquet").write_bytes(b"half")
    lake.sweep()
    assert not left.exists()
    assert lake.paths(batch.files)


def test_retired_batches_go_when_nobody_reads_them_any_more(lake: Lake) -> None:
    parts = [put(lake, 1, 5), put(lake, 6, 7)]
    whole = put(lake, 1, 7)
    lake.sweep()
    assert lake.batches() == [whole]
    assert all(lake.paths(part.files) for part in parts)
    lake.sweep(grace=-1)
    assert lake.batches() == [whole]
    assert len(list((lake.path / "manifests").iterdir())) == len(list((lake.path / "changes").iterdir())) == 1


def test_a_folder_with_other_things_in_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").touch()
    with pytest.raises(LakeUnusable, match=r"letter\.txt"):
        Lake.make(tmp_path)
    with pytest.raises(LakeUnusable, match="not a history lake"):
        Lake(tmp_path)
    (tmp_path / "lake.json").write_text("[]")
    with pytest.raises(LakeUnusable):
        Lake(tmp_path)
    (tmp_path / "lake.json").write_text('{"format":"tidings-lake","version":9,"id":"x"}')
    with pytest.raises(LakeUnusable, match="version 9"):
        Lake(tmp_path)
    with pytest.raises(LakeUnusable, match="cannot be used"):
        Lake.make(tmp_path / "letter.txt")
