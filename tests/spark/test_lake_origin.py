"""A lake as an origin: the commits that went into it, in their order."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from spark.histories import history
from tidings.log.entry import Entry
from tidings.spark.errors import LakeDamaged, LakeUnusable
from tidings.spark.lake.lake import Lake
from tidings.spark.lake.manifest import IngestedBatch
from tidings.spark.log_source.data_source import batches
from tidings.spark.log_source.lake_origin import LakeOrigin
from tidings.spark.log_source.origin import Mark, checked, origin_of

ENTRIES = [entry for entry in history(4, 60) if entry.delta]


def lake_with(path: Path, entries: list[Entry], commits: int, *, by: bool = True) -> Lake:
    """A lake of some batches, each in two files and in the order of predicates, as Spark writes them."""
    lake = Lake.make(path)
    for start in range(0, len(entries), commits):
        part = entries[start : start + commits]
        table = pa.Table.from_batches(batches(iter(part))).sort_by("p")
        if not by:
            table = table.drop_columns("by")
        folder = lake.fresh("changes", part[0].commit)
        folder.mkdir()
        half = len(table) // 2
        for number, piece in enumerate((table[:half], table[half:])):
            pq.write_table(piece, folder / f"{number}.parquet")
        first, last = part[0], part[-1]
        lake.publish(IngestedBatch(first.commit, last.commit, first.time, last.time, lake.found(folder).files))
    return lake


def known(entries: Iterator[Entry] | list[Entry]) -> list[tuple[object, ...]]:
    return [(each.commit, each.time, dict(each.delta.items()), each.publisher) for each in entries]


@pytest.mark.parametrize("rows", [1, 40, 10_000])
def test_a_lake_tells_the_commits_that_went_into_it(tmp_path: Path, rows: int) -> None:
    lake_with(tmp_path / "lake", ENTRIES, 25)
    origin = LakeOrigin(tmp_path / "lake", rows)
    assert (origin.first(), origin.end()) == (1, Mark(60, ENTRIES[-1].time))
    for after, last in ((0, 60), (0, 1), (24, 26), (30, 30), (59, 99)):
        assert known(origin.commits(after, last)) == known(ENTRIES[after:last])


def test_a_name_stands_for_a_lake(tmp_path: Path) -> None:
    lake = lake_with(tmp_path / "lake", ENTRIES, 60, by=False)
    start = Mark(10, ENTRIES[9].time)
    found = list(checked(origin_of(f"lake:{lake.path}"), start, lake.end()))
    assert [each.commit for each in found] == list(range(11, 61))
    assert {each.publisher for each in found} == {None}


def test_an_empty_lake_has_no_commits(tmp_path: Path) -> None:
    Lake.make(tmp_path / "lake")
    origin = LakeOrigin(tmp_path / "lake")
    assert (origin.end(), list(origin.commits(0, 10))) == (Mark(), [])


def test_what_is_no_lake_or_damaged_is_said(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    with pytest.raises(LakeUnusable):
        origin_of(f"lake:{tmp_path / 'other'}")
    lake = lake_with(tmp_path / "lake", ENTRIES, 60)
    path = next((lake.path / "changes").rglob("*.parquet"))
    path.write_bytes(b"x" * path.stat().st_size)
    with pytest.raises(LakeDamaged):
        list(LakeOrigin(lake.path).commits(0, 60))
