"""What goes wrong around the lake is told in one line, by its name, and nothing is left half done."""

import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pyarrow.parquet as pq
import pytest

pytest.importorskip("pyspark")

from pyspark import SparkContext
from pyspark.sql import SparkSession

from ports import free_port
from spark.histories import history, log_with, rows_in, rows_of
from tidings.cli.commands.operation import history as command
from tidings.log.errors import LogDamaged
from tidings.log.layout import segment_path, segments
from tidings.model.errors import TidingsError
from tidings.spark.errors import LakeDamaged, OutOfMemory, SparkFailed, WorkerLate, from_worker
from tidings.spark.lake.ingest import Ingest
from tidings.spark.lake.lake import Lake
from tidings.spark.lake.writing import Upkeep
from tidings.spark.log_source.origin import FolderOrigin, Mark, checked
from tidings.spark.masters import check_master
from tidings.spark.session import STARTS, session, started_again, translated
from waiting import PATIENCE

# -- nobody there ---------------------------------------------------------------------------------------------------


@pytest.fixture
def port() -> int:
    """One that nobody listens at."""
    return free_port()


@pytest.mark.parametrize("form", ["spark://127.0.0.1:{}", "k8s://https://127.0.0.1:{}", "k8s://127.0.0.1:{}"])
def test_a_master_that_nobody_answers_at_is_named(port: int, form: str) -> None:
    with pytest.raises(SparkFailed, match=f"nobody answers at the master {form.format(port)}: .*refused"):
        check_master(form.format(port))


def test_a_master_that_says_nothing_is_waited_for_as_long_as_one_likes(monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []

    def silent(_: tuple[str, int], patience: float) -> socket.socket:
        waited.append(patience)
        raise TimeoutError

    monkeypatch.setattr(socket, "create_connection", silent)
    with pytest.raises(SparkFailed, match=r"h1:7077 did not answer in 2 s; h2:9 did not answer in 2 s"):
        check_master("spark://h1,h2:9", patience=4)
    assert waited == [2, 2]


def test_one_of_several_masters_is_enough(port: int) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        check_master(f"spark://127.0.0.1:{port},127.0.0.1:{server.getsockname()[1]}")


@pytest.mark.parametrize("address", ["spark://host:port", "spark://:7077", "spark://a:1,", "k8s://https://"])
def test_a_master_without_an_address_is_refused(address: str) -> None:
    with pytest.raises(SparkFailed, match="no address"):
        check_master(address)


def test_yarn_is_not_found_without_its_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HADOOP_CONF_DIR", raising=False)
    monkeypatch.delenv("YARN_CONF_DIR", raising=False)
    with pytest.raises(SparkFailed, match="HADOOP_CONF_DIR"):
        check_master("yarn")
    monkeypatch.setenv("YARN_CONF_DIR", "/etc/hadoop")
    check_master("yarn")


def test_no_session_is_made_where_nobody_is(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidings.spark.session.running", lambda: None)
    with pytest.raises(SparkFailed, match="nobody answers"):
        session(f"spark://127.0.0.1:{port}")
    with pytest.raises(SparkFailed, match="'much' is no amount of memory"):
        session("local[2]", memory="much")


# -- not enough memory ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "Job aborted.\nCaused by: java.lang.OutOfMemoryError: Java heap space\n\tat java.util.Arrays",
        "[INVALID_DRIVER_MEMORY.SYSTEM_MEMORY] Insufficient driver memory: System memory 1 must be at least 2.",
        "[UNABLE_TO_ACQUIRE_MEMORY] Unable to acquire 65536 bytes of memory, got 0.",
        "Traceback (most recent call last):\n  File ...\nMemoryError\n",
    ],
)
def test_a_job_without_enough_memory_says_what_to_raise(text: str) -> None:
    told = from_worker(RuntimeError(text))
    assert isinstance(told, OutOfMemory)
    assert "--memory 4g" in str(told)
    assert "\n" not in str(told)


@pytest.mark.parametrize(
    ("code", "kind", "told"), [(52, OutOfMemory, "--memory 4g"), (-9, SparkFailed, r"exit code -9.*killed")]
)
def test_a_jvm_that_ends_says_how(
    monkeypatch: pytest.MonkeyPatch, code: int, kind: type[TidingsError], told: str
) -> None:
    process = SimpleNamespace(wait=lambda _: code)
    monkeypatch.setattr(SparkContext, "_gateway", SimpleNamespace(proc=process))
    with pytest.raises(kind, match=told), translated():
        raise ConnectionRefusedError


@pytest.mark.spark
def test_a_heap_that_spark_cannot_start_with_is_told_in_one_line(tmp_path: Path) -> None:
    Lake.make(tmp_path)
    words = ["history", "query", "--quiet", "--lake", str(tmp_path), "--memory", "64m", "ASK { }"]
    called = [sys.executable, "-m", "tidings", *words]
    plain = {name: value for name, value in os.environ.items() if name != "JDK_JAVA_OPTIONS"}  # Java remarks on it
    done = subprocess.run(called, env=plain, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 1
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert "--memory 4g" in done.stderr


# -- damage ---------------------------------------------------------------------------------------------------------


def flip(path: Path) -> None:
    """Change a byte, as a disk may, so that other objects are read and nobody notices: but for the checksum of a page.

    Those that Spark keeps beside a file are lost, as they are when only Parquet files are copied.
    """
    path.with_name(f".{path.name}.crc").unlink()
    whole, objects = path.read_bytes(), pq.read_table(path, columns=["o"])
    for place in range(4, len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        try:
            if pq.read_table(path, columns=["o"]) != objects:
                return
        except (OSError, ValueError):
            continue  # this one is noticed anyway
    raise AssertionError("every change is noticed")


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def call(lake: Lake, *words: object) -> None:
    arguments = [*map(str, words), "--lake", str(lake.path)]
    assert command.run(command.parser().parse_intermixed_args(arguments)) == 0


@pytest.fixture(scope="module")
def made(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> tuple[Lake, Path]:
    """A lake of two batches, and the log that it was made from and that has more."""
    folder = tmp_path_factory.mktemp("made")
    data = log_with(folder / "data", history(1, 60))
    lake = Lake.make(folder / "lake")
    Ingest(spark, lake, str(data), commits=30).run()
    log_with(data, [entry for entry in history(1, 70) if entry.commit > 60])
    return lake, data


@pytest.mark.spark
@pytest.mark.parametrize("damage", [flip, cut, Path.unlink])
def test_a_damaged_file_is_named_and_nothing_is_written(
    made: tuple[Lake, Path], spark: SparkSession, tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    lake, data = made
    path = lake.path / lake.batches()[0].files[0].path
    beside = path.with_name(f".{path.name}.crc")
    whole = {each: each.read_bytes() for each in (path, beside)}
    damage(path)
    asked = ("query", "SELECT * { ?s ?p ?o }", "--output", tmp_path / "out.csv")
    try:
        for words in (("as-of", "--output", tmp_path / "out.nq"), (*asked, "--at", 50), (*asked, "--between", 1, 60)):
            with pytest.raises(LakeDamaged, match=path.name):
                call(lake, *words)
        with pytest.raises(LakeDamaged, match=path.name):
            Ingest(spark, lake, str(data), upkeep=Upkeep(fan=3)).run()
    finally:
        for each, text in whole.items():
            each.write_bytes(text)
    assert list(tmp_path.iterdir()) == []
    assert [batch.level for batch in lake.batches()] == [0, 0, 0]
    assert not list(lake.path.glob("output-*"))
    assert rows_in(lake) == rows_of(history(1, 70))


# -- logs -----------------------------------------------------------------------------------------------------------


@pytest.mark.spark
def test_a_torn_tail_is_taken_in_once_it_is_whole(spark: SparkSession, tmp_path: Path) -> None:
    entries = history(2, 40)
    data = log_with(tmp_path / "data", entries)
    last = segment_path(data, segments(data)[-1])
    whole = last.read_bytes()
    last.write_bytes(whole[:-30])
    lake = Lake.make(tmp_path / "lake")
    Ingest(spark, lake, str(data)).run()
    assert lake.end().commit == 39
    last.write_bytes(whole)
    Ingest(spark, lake, str(data)).run()
    assert rows_in(lake) == rows_of(entries)


def test_a_commit_that_is_missing_within_a_segment_is_damage(tmp_path: Path) -> None:
    entries = [entry for entry in history(3, 40) if entry.delta]
    data = log_with(tmp_path / "data", entries)
    path = segment_path(data, segments(data)[0])
    lines = path.read_bytes().splitlines(keepends=True)
    others = [line for line in lines if b'"seq":20,' not in line]
    assert len(others) < len(lines)
    path.write_bytes(b"".join(others))
    with pytest.raises(LogDamaged):
        list(checked(FolderOrigin(data), Mark(), Mark(40, entries[-1].time)))


# -- a machine that is busy -----------------------------------------------------------------------------------------


def test_a_worker_that_spark_found_late_is_told_apart() -> None:
    text = "Caused by: org.apache.spark.SparkException: Python worker failed to connect back."
    assert isinstance(from_worker(RuntimeError(text)), WorkerLate)


@pytest.mark.parametrize("late", [0, 1, STARTS - 1])
def test_a_query_whose_workers_were_late_is_started_again(late: int, caplog: pytest.LogCaptureFixture) -> None:
    starts: list[int] = []

    def query() -> None:
        starts.append(len(starts))
        if len(starts) <= late:
            raise WorkerLate("late")

    started_again(query)
    assert len(starts) == late + 1
    assert sum("the query is started again" in line for line in caplog.messages) == late


def test_a_query_that_never_starts_is_given_up() -> None:
    starts: list[int] = []

    def query() -> None:
        starts.append(len(starts))
        raise WorkerLate("late")

    with pytest.raises(WorkerLate):
        started_again(query)
    assert len(starts) == STARTS
