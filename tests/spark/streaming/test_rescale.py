"""A job that is stopped, spread over another number of partitions, and goes on as if nothing had happened."""

import shutil
import threading
from pathlib import Path

import msgspec
import pytest
from pyspark.sql import SparkSession

from spark.streaming.days import Day, heard, random_day, write_day
from tidings.cli import main
from tidings.spark.errors import LakeInUse
from tidings.spark.lock import locked
from tidings.spark.streaming.job import StreamJob
from tidings.spark.streaming.monitoring import checkpoint as checkpoints
from tidings.spark.streaming.monitoring.figures import Watch
from tidings.spark.streaming.output.notifications import manifests, read_notifications
from tidings.spark.streaming.rescaling import rescale
from tidings.spark.streaming.subscriptions.requests import FileRequests, SubscriptionRequest

pytestmark = pytest.mark.spark


def a_day(seed: int, stays: int) -> Day:
    """Everybody is there from the start to the end, and asks nothing that depends on chance."""
    day = random_day(seed, stays=stays)
    for stay in day.stays:
        stay.begins, stay.ends = 0, None
    return day


def test_a_stopped_job_goes_on_with_more_partitions(
    spark: SparkSession, unhurried: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    day, half = a_day(3, stays=10), 30
    wanted = tmp_path / "wanted.jsonl"
    requests = [SubscriptionRequest(stay.member.text, stay.member.spuid, 0) for stay in day.stays]
    wanted.write_bytes(msgspec.json.Encoder().encode_lines(requests))
    check, out, log = tmp_path / "check", tmp_path / "out", tmp_path / "data"
    stop, watch = threading.Event(), Watch(check, out)

    def seen() -> None:
        watch.look()
        if watch.figures().commit == half:
            stop.set()

    spark.conf.set("spark.sql.shuffle.partitions", "2")
    write_day(Day(day.entries[:half]), log)
    StreamJob(spark, str(log), check, out, seen=seen).run(FileRequests(wanted), follow=True, stop=stop)
    assert checkpoints.finished(check) == checkpoints.planned(check) == 0  # it was not torn from its work

    with locked(check), pytest.raises(LakeInUse):
        rescale(spark, check, 3)
    assert main(["stream", "rescale", "--checkpoint", str(check), "--partitions", "3"]) == 0
    place = checkpoints.place(check, checkpoints.finished(check))
    assert place is not None
    assert (place.batch, place.mark.commit, place.partitions) == (1, half, 3)

    shutil.rmtree(log)
    write_day(day, log)
    with wanted.open("a") as file:
        file.write('{"spuid": "urn:wrong", "query": "SELECT nonsense"}\n')
    folders = f"--log {log} --subscriptions {wanted} --checkpoint {check} --out {out}"
    assert main(["stream", "subscriptions", *folders.split(), "--partitions", "3", "--metrics", "0"]) == 0
    said = capsys.readouterr().err
    assert "urn:wrong is refused: line 1, column 8" in said
    assert "batch 2, commit 60 (0 commits, 0.0 s behind)" in said
    told = list(manifests(out))
    assert [each.number for each in told] == [0, 2]
    assert (place := checkpoints.place(check, 2)) is not None
    assert place.partitions == 3
    assert heard(row for each in told for row in read_notifications(out, each)) == day.news()
