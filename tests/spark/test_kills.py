"""An ingest and a job of subscriptions on one log, killed again and again: both end as if nothing had happened."""

from pathlib import Path

import psutil
import pytest

from spark.histories import rows_in, rows_of
from spark.killing import KILLS, kill, run, started
from spark.streaming.days import write_day
from spark.streaming.finishing import check_told, early_day, request_all
from tidings.spark.lake.lake import Lake
from waiting import PATIENCE

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
    while len(taken) >= halt or len(taken) > done()[1] - told_before:
        time.sleep(0.02)

def take_in():
    told = stay_beside if halt else None
    Ingest(spark, lake, log, commits=int(sys.argv[3]), upkeep=Upkeep(fan=4, snapshot_every=100), told=told).run()

halt, taken, told_before = int(sys.argv[4]), [], done()[1]

threading.Thread(target=watch, daemon=True).start()
ingest = threading.Thread(target=take_in, daemon=True)
ingest.start()
settings = Settings(commits=int(sys.argv[3]), together=3)
job = StreamJob(spark, log, folder / "check", folder / "out", settings=settings)
job.run(FileRequests(folder / "wanted.jsonl"))
ingest.join()
"""
"""Arguments: the folder, the log, the commits of a batch, and the batch at which the ingest comes to a halt, or 0.

One that comes to a halt stays beside the other job: both are on their way when they are killed, on any machine.
"""
HALT = 10
CLUSTER = """
import sys
from pathlib import Path
from tidings.spark.session import session
spark = session("local-cluster[2,1,1024]", partitions=2, **{"spark.task.maxFailures": "8"})
"""


def test_jobs_that_are_killed_end_as_undisturbed_ones_do(tmp_path: Path) -> None:
    commits = 100 * KILLS
    day = early_day(3, commits)
    log = write_day(day, tmp_path / "data")
    request_all(day, tmp_path / "wanted.jsonl")
    for _ in range(KILLS):
        kill(JOBS, tmp_path, log, 5, HALT)
    lake = Lake(tmp_path / "lake")
    assert lake.end().commit < commits
    run(JOBS, tmp_path, log, 10_000, 0)
    assert rows_in(lake) == rows_of(day.entries)
    check_told(tmp_path / "out", day)


def test_an_executor_that_is_lost_is_made_up_for(tmp_path: Path) -> None:
    day = early_day(5, 60, 8)
    for stay in day.stays:
        stay.begins = 0
    log = write_day(day, tmp_path / "data")
    request_all(day, tmp_path / "wanted.jsonl")
    with started(CLUSTER + JOBS, tmp_path, log, 20, 0) as child:
        executors = [
            each
            for each in psutil.Process(child.pid).children(recursive=True)
            if any("CoarseGrainedExecutorBackend" in word for word in each.as_dict(["cmdline"])["cmdline"] or ())
        ]
        assert len(executors) == 2
        executors[0].kill()
        assert child.wait(5 * PATIENCE) == 0
    check_told(tmp_path / "out", day)
