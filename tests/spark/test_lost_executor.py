"""A job of subscriptions on a cluster, one of whose machines is lost: everybody is told what they should be."""

from pathlib import Path

import psutil
import pytest

from spark.killing import started
from spark.streaming.days import write_day
from spark.streaming.finishing import check_told, early_day, request_all
from waiting import PATIENCE

JOB = """
import threading, time
from tidings.spark.streaming.job import Settings, StreamJob
from tidings.spark.streaming.subscriptions.requests import FileRequests

folder, log = Path(sys.argv[1]), sys.argv[2]

def watch():
    while not list(folder.glob("out/batches/*.json")):
        time.sleep(0.02)
    print("begun", flush=True)

threading.Thread(target=watch, daemon=True).start()
job = StreamJob(spark, log, folder / "check", folder / "out", settings=Settings(commits=20, together=3))
job.run(FileRequests(folder / "wanted.jsonl"))
"""
CLUSTER = "local-cluster[2,1,1024]"
"""Two executors, each a JVM of its own."""


@pytest.mark.spark
def test_an_executor_that_is_lost_is_made_up_for(tmp_path: Path) -> None:
    day = early_day(5, 60, 8)
    for stay in day.stays:
        stay.begins = 0
    log = write_day(day, tmp_path / "data")
    request_all(day, tmp_path / "wanted.jsonl")
    with started(JOB, CLUSTER, tmp_path, log) as child:
        executors = [
            each
            for each in psutil.Process(child.pid).children(recursive=True)
            if any("CoarseGrainedExecutorBackend" in word for word in each.as_dict(["cmdline"])["cmdline"] or ())
        ]
        assert len(executors) == 2
        executors[0].kill()
        assert child.wait(5 * PATIENCE) == 0
    check_told(tmp_path / "out", day)
