"""An ingest and a job of subscriptions on one log, killed again and again: both end as if nothing had happened."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from spark.histories import rows_in, rows_of
from spark.killing import KILLS, kill
from spark.streaming.days import write_day
from spark.streaming.finishing import early_day, finish, request_all
from tidings.spark.lake.ingest import Ingest
from tidings.spark.lake.lake import Lake
from tidings.spark.lake.writing import Upkeep

pytestmark = pytest.mark.spark

JOBS = """
import threading, time
from tidings.spark.lake.writing import Upkeep
from tidings.spark.lake.ingest import Ingest
from tidings.spark.lake.lake import Lake
from tidings.spark.streaming.job import Settings, StreamJob
from tidings.spark.streaming.subscriptions.requests import FileRequests

folder, log = Path(sys.argv[1]), sys.argv[2]
lake = Lake.make(folder / "lake")

def done():
    return lake.end().commit, len(list(folder.glob("out/batches/*.json")))

def watch():
    commits, batches = done()
    while not all(now > before for now, before in zip(done(), (commits, batches))):
        time.sleep(0.02)
    print("begun", flush=True)

def stay_beside(batch):
    taken.append(batch)
    while len(taken) >= HALT or len(taken) > done()[1] - told_before:
        time.sleep(0.02)

def take_in():
    Ingest(spark, lake, log, commits=5, upkeep=Upkeep(fan=4, snapshot_every=100), told=stay_beside).run()

HALT, taken, told_before = 10, [], done()[1]

threading.Thread(target=watch, daemon=True).start()
ingest = threading.Thread(target=take_in, daemon=True)
ingest.start()
job = StreamJob(spark, log, folder / "check", folder / "out", settings=Settings(commits=5, together=3))
job.run(FileRequests(folder / "wanted.jsonl"))
ingest.join()
"""
"""Arguments: the folder and the log.

The ingest stays beside the other job, and comes to a halt at a batch: both are on their way when they are killed, on
any machine.
"""


def test_jobs_that_are_killed_end_as_undisturbed_ones_do(spark: SparkSession, tmp_path: Path) -> None:
    commits = 100 * KILLS
    day = early_day(3, commits)
    log = write_day(day, tmp_path / "data")
    request_all(day, tmp_path / "wanted.jsonl")
    for _ in range(KILLS):
        kill(JOBS, tmp_path, log)
    lake = Lake(tmp_path / "lake")
    assert lake.end().commit < commits
    Ingest(spark, lake, str(log), commits=10_000, upkeep=Upkeep(fan=4, snapshot_every=100)).run()
    assert rows_in(lake) == rows_of(day.entries)
    finish(spark, tmp_path, log, day)
