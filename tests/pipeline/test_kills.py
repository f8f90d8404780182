"""An ingest and a job of subscriptions on one log, killed again and again: both end as if nothing had happened."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from pipeline.histories import replayed, rows_in, rows_of
from pipeline.killing import KILLS, kill
from pipeline.scaleout.days import write_day
from pipeline.scaleout.finishing import early_day, finish, wish
from tidings.pipeline import travel
from tidings.pipeline.filling import Upkeep
from tidings.pipeline.ingest import Ingest
from tidings.pipeline.lake import Lake

JOBS = """
import threading, time
from tidings.pipeline.filling import Upkeep
from tidings.pipeline.ingest import Ingest
from tidings.pipeline.lake import Lake
from tidings.pipeline.scaleout.job import Settings, StreamJob
from tidings.pipeline.scaleout.wanted import WantedInFile

folder, log = Path(sys.argv[1]), sys.argv[2]
lake = Lake.make(folder / "lake")

def done():
    return lake.end().seq, len(list(folder.glob("out/batches/*.json")))

def watch():
    commits, batches = done()
    while not all(now > before for now, before in zip(done(), (commits, batches))):
        time.sleep(0.02)
    print("begun", flush=True)

def take_in():
    Ingest(spark, lake, log, commits=4, upkeep=Upkeep(fan=4, snapshot_every=100)).run()

threading.Thread(target=watch, daemon=True).start()
threading.Thread(target=take_in, daemon=True).start()
job = StreamJob(spark, log, folder / "check", folder / "out", settings=Settings(commits=5, together=3))
job.run(WantedInFile(folder / "wanted.jsonl"))
"""


@pytest.mark.spark
def test_jobs_that_are_killed_end_as_undisturbed_ones_do(spark: SparkSession, tmp_path: Path) -> None:
    commits = 100 * KILLS
    day = early_day(3, commits)
    log = write_day(day, tmp_path / "data")
    wish(day, tmp_path / "wanted.jsonl")
    for _ in range(KILLS):
        kill(JOBS, tmp_path, log)
    lake = Lake(tmp_path / "lake")
    assert lake.end().seq < commits
    Ingest(spark, lake, str(log), upkeep=Upkeep()).run()
    assert rows_in(lake) == rows_of(day.entries)
    assert set(travel.each_quad(spark, lake, commits)) == replayed(day.entries, commits)
    finish(spark, tmp_path, log, day)
