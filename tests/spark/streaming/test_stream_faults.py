"""Whatever happens to the job, everybody is told what an undisturbed one tells."""

import threading
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from log.making import journal_of, write
from spark.streaming.days import Day, write_day
from spark.streaming.finishing import all_told, early_day, finish, request_all
from tidings.log.folder import Folder
from tidings.log.journal import Settings as LogSettings
from tidings.spark.streaming.job import Settings, StreamJob
from tidings.spark.streaming.subscriptions.requests import FileRequests
from waiting import PATIENCE, wait_until

pytestmark = pytest.mark.spark


def test_a_log_that_stops_and_resumes_loses_nothing(spark: SparkSession, tmp_path: Path) -> None:
    day = early_day(4, 60)
    request_all(day, tmp_path / "wanted.jsonl")
    last = max(commit for news in day.news().values() for _, commit, _, _ in news)
    half = Day(day.entries[:30], day.stays)
    last_before = max(commit for news in half.news().values() for _, commit, _, _ in news)
    log = write_day(half, tmp_path / "data")
    with (log / "log" / sorted(path.name for path in (log / "log").iterdir())[-1]).open("ab") as file:
        file.write(b'{"seq":31,"time":1')  # a broker that was killed within a line
    stop = threading.Event()
    failed: list[BaseException] = []

    def broker() -> None:
        """One that comes back once all it has written is told, and goes for good once the rest is."""
        try:
            wait_until(lambda: _told_to(tmp_path / "out") >= last_before)
            with Folder(log):
                journal = journal_of(log, LogSettings(segment_bytes=20_000, durability="os"))
                write(journal, day.entries[30:])
                journal.close()
            wait_until(lambda: _told_to(tmp_path / "out") >= last)
        except BaseException as error:
            failed.append(error)
            raise
        finally:
            stop.set()

    thread = threading.Thread(target=broker)
    thread.start()
    job = StreamJob(spark, str(log), tmp_path / "check", tmp_path / "out", settings=Settings(commits=7, together=3))
    job.run(FileRequests(tmp_path / "wanted.jsonl"), follow=True, stop=stop)
    thread.join(PATIENCE)
    assert not failed
    finish(spark, tmp_path, log, day)


def _told_to(out: Path) -> int:
    """The last commit that anybody was told of; those after it may concern nobody."""
    return max((told.commit for told in all_told(out)), default=0) if out.exists() else 0
