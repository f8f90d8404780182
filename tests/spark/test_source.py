"""The data source without Spark: offsets, slices, Arrow."""

import itertools
from pathlib import Path

import pytest
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxRows

from spark.histories import history, log_with, rows_of
from tidings.log.layout import segment_path, segments
from tidings.spark.errors import SparkFailed, WorkerError, from_worker
from tidings.spark.log_source.data_source import SMALL, BatchReader, Slice, StreamReader, TidingsLog, batches, slices
from tidings.spark.log_source.origin import Mark

ENTRIES = [entry for entry in history(1, 100) if entry.delta]
END = {"seq": 100, "time": ENTRIES[-1].time}


@pytest.fixture
def log(tmp_path: Path) -> str:
    return str(log_with(tmp_path / "data", ENTRIES))


def stream(log: str, **options: str) -> StreamReader:
    return StreamReader({"path": log} | options)


def test_changes_become_arrow_batches_of_whole_commits() -> None:
    made = list(batches(iter(ENTRIES), rows=10))
    assert len(made) > 10
    rows = [row for each in made for row in zip(*(column.to_pylist() for column in each.columns), strict=True)]
    assert [(row[0], *row[2:]) for row in rows] == [
        (entry.commit, "add" if weight > 0 else "remove", *quad, entry.publisher)
        for entry in ENTRIES
        for quad, weight in entry.delta.items()
    ]
    assert all(
        len(set(one["seq"].to_pylist()) & set(two["seq"].to_pylist())) == 0 for one, two in itertools.pairwise(made)
    )


def test_a_change_says_who_published_it_and_null_if_that_is_not_known() -> None:
    (made,) = batches(iter(ENTRIES))
    assert made.schema.names[-1] == "by"
    assert dict(zip(made["seq"].to_pylist(), made["by"].to_pylist(), strict=True)) == {
        entry.commit: entry.publisher for entry in ENTRIES
    }
    assert {entry.publisher for entry in ENTRIES} == {None, "alice", "été"}


def test_an_offset_is_a_commit_and_its_time(log: str) -> None:
    reader = stream(log)
    assert reader.initialOffset() == {"seq": 0, "time": 0}
    assert reader.latestOffset({"seq": 0, "time": 0}, reader.getDefaultReadLimit()) == END
    assert reader.latestOffset(END, ReadAllAvailable()) == END
    assert reader.reportLatestOffset() == END


def test_a_batch_has_no_more_commits_than_it_may(log: str) -> None:
    reader = stream(log, commits="30")
    limit = reader.getDefaultReadLimit()
    assert isinstance(limit, ReadMaxRows)
    assert reader.latestOffset({"seq": 0, "time": 0}, limit) == {"seq": 30, "time": ENTRIES[29].time}
    assert reader.latestOffset({"seq": 90, "time": 0}, limit) == END
    assert reader.latestOffset({"seq": 0, "time": 0}, ReadAllAvailable()) == END


def test_with_available_now_later_commits_wait(tmp_path: Path) -> None:
    folder = log_with(tmp_path, ENTRIES[:50])
    reader = stream(str(folder))
    reader.prepareForTriggerAvailableNow()
    log_with(folder, ENTRIES[50:])
    assert reader.latestOffset({"seq": 0, "time": 0}, ReadAllAvailable())["seq"] == 50


def test_slices_make_up_the_range() -> None:
    assert slices(Mark(5, 1), Mark(5, 1), 4) == []
    assert slices(Mark(0), Mark(10, 1), 4) == [Slice(Mark(0), Mark(10, 1))]
    many = slices(Mark(7, 1), Mark(7 + 10 * SMALL, 2), 4)
    assert len(many) == 4
    assert many[0] == Slice(Mark(7, 1), Mark(7 + 10 * SMALL // 4))
    assert isinstance(many[-1], Slice)
    assert many[-1].end == Mark(7 + 10 * SMALL, 2)


def test_a_reader_reads_what_the_log_has(log: str) -> None:
    reader = BatchReader({"path": log, "after": "10", "last": "60"})
    (only,) = reader.partitions()
    found = [row for each in reader.read(only) for row in each.to_pylist()]
    assert len(found) == len(rows_of(ENTRIES[10:60]))


def test_damage_fails_with_a_code_that_survives_the_way_through_the_jvm(log: str) -> None:
    first = segment_path(Path(log), segments(Path(log))[0])
    first.write_bytes(first.read_bytes().replace(b"add", b"bad", 1))
    reader = stream(log)
    (only,) = reader.partitions({"seq": 0, "time": 0}, END)
    with pytest.raises(WorkerError) as raised:
        list(reader.read(only))
    text = (
        f"org.apache.spark.SparkException: boom\n  pipeline.errors.WorkerError: {raised.value}\n\tat java.lang.Thread"
    )
    error = from_worker(RuntimeError(text))
    assert error.code == "log_damaged"
    assert "checksum" in str(error)


def test_what_spark_says_is_one_line() -> None:
    error = from_worker(
        RuntimeError("An error occurred\n\tat x\nCaused by: java.io.IOException: No space left\n\tat y")
    )
    assert isinstance(error, SparkFailed)
    assert str(error).endswith("Caused by: java.io.IOException: No space left")


@pytest.mark.parametrize("options", [{}, {"path": "x", "after": "-1"}, {"path": "x", "commits": "many"}])
def test_options_that_make_no_sense_are_refused(options: dict[str, str]) -> None:
    with pytest.raises(WorkerError, match="bad_request"):
        TidingsLog(options).streamReader(None)  # type: ignore[arg-type]
