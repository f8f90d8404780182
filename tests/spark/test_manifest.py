"""Which batches are there, and which are due to be merged."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.spark.errors import LakeDamaged
from tidings.spark.lake import manifest
from tidings.spark.lake.manifest import File, IngestedBatch, Snapshot, covering, due


def batch(first: int, last: int, *, rows: int = 1, level: int = 0) -> IngestedBatch:
    return IngestedBatch(first, last, first, last, (File(f"changes/{first}-{last}/a.parquet", rows, 1),), level)


def test_a_manifest_is_read_as_it_was_written(tmp_path: Path) -> None:
    manifest.write(tmp_path, batch(1, 5))
    manifest.write(tmp_path, Snapshot(5, 7, ()))
    assert manifest.read_batches(tmp_path) == [batch(1, 5)]
    assert manifest.read_snapshots(tmp_path) == [Snapshot(5, 7, ())]


def test_half_a_manifest_is_not_there(tmp_path: Path) -> None:
    (tmp_path / f"{batch(1, 5).name}.tmp").write_bytes(b"{")
    assert manifest.read_batches(tmp_path) == []


def test_an_altered_manifest_is_damage(tmp_path: Path) -> None:
    manifest.write(tmp_path, batch(1, 5))
    path = tmp_path / batch(1, 5).name
    path.write_bytes(path.read_bytes().replace(b'"rows":1', b'"rows":2'))
    with pytest.raises(LakeDamaged, match="checksum"):
        manifest.read_batches(tmp_path)


def test_a_renamed_manifest_is_damage(tmp_path: Path) -> None:
    manifest.write(tmp_path, batch(1, 5))
    (tmp_path / batch(1, 5).name).rename(tmp_path / batch(1, 6).name)
    with pytest.raises(LakeDamaged, match="another"):
        manifest.read_batches(tmp_path)


def test_a_merged_batch_covers_those_it_was_made_of() -> None:
    whole = batch(1, 6, level=1)
    assert covering([batch(1, 2), batch(3, 6), whole, batch(7, 9)]) == [whole, batch(7, 9)]


@pytest.mark.parametrize("batches", [[batch(2, 3)], [batch(1, 2), batch(4, 5)], [batch(1, 3), batch(3, 5)]])
def test_commits_that_are_missing_or_there_twice_are_damage(batches: list[IngestedBatch]) -> None:
    with pytest.raises(LakeDamaged, match="commits"):
        covering(batches)


@given(st.lists(st.integers(1, 50), max_size=200), st.integers(2, 5), st.integers(1, 500))
def test_merging_keeps_every_commit_and_leaves_few_small_batches(sizes: list[int], fan: int, most: int) -> None:
    batches: list[IngestedBatch] = []
    for rows in sizes:
        seq = batches[-1].last + 1 if batches else 1
        batches.append(batch(seq, seq, rows=rows))
        while run := due(batches, fan, most):
            merged = batch(run[0].first, run[-1].last, rows=sum(each.rows for each in run), level=run[0].level + 1)
            assert merged.rows <= most
            batches = covering([*batches, merged])
    assert sum(each.rows for each in batches) == sum(sizes)
    assert not due(batches, fan, most)
