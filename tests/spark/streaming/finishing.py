"""Jobs on a day, and whether everybody was told what they should be."""

from pathlib import Path

import msgspec
from pyspark.sql import SparkSession

from spark.streaming.days import SEEN, Day, heard, random_day
from tidings.model.graph_patterns import written
from tidings.spark.streaming.job import Settings, StreamJob
from tidings.spark.streaming.output.notifications import manifests, read_notifications
from tidings.spark.streaming.subscriptions.registrar import asks_for_chance
from tidings.spark.streaming.subscriptions.requests import FileRequests
from tidings.spark.streaming.unit import Notification


def early_day(seed: int, commits: int, stays: int = 15) -> Day:
    """A day on which everybody comes at one of two commits, and stays; some may not see every graph."""
    day = random_day(seed, commits, stays, SEEN)
    for number, stay in enumerate(day.stays):
        stay.begins, stay.ends = (0, commits // 4)[number % 2], None
    return day


def request_all(day: Day, path: Path) -> None:
    lines = [
        {"spuid": s.member.spuid, "query": s.member.text, "from": s.begins, "graphs": written(s.member.graphs)}
        for s in day.stays
    ]
    path.write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))


def all_told(out: Path) -> list[Notification]:
    return [told for manifest in manifests(out) for told in read_notifications(out, manifest)]


def check_told(out: Path, day: Day) -> None:
    """Everybody is told what one engine tells, and nobody anything twice."""
    told = all_told(out)
    assert len({(each.spuid, each.sequence) for each in told}) == len(told)
    day.stays = [stay for stay in day.stays if not asks_for_chance(stay.member.text)]
    assert heard(told) == day.news()


def finish(spark: SparkSession, folder: Path, log: Path, day: Day) -> None:
    """Run the job to its end, and compare."""
    settings = Settings(commits=10_000, together=3)
    job = StreamJob(spark, str(log), folder / "check", folder / "out", settings=settings)
    job.run(FileRequests(folder / "wanted.jsonl"))
    check_told(folder / "out", day)
