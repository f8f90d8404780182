"""What would they have been told? The same as if they had been there."""

from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession

from endurance import often
from spark.streaming.days import Day, News, heard, random_day, seeds_of, write_day
from spark.test_lake_origin import lake_with
from tidings.cli import main
from tidings.model.errors import TidingsError
from tidings.spark.log_source.origin import Mark
from tidings.spark.streaming import replay as bulk
from tidings.spark.streaming.input.routed_source import Feed, Offset
from tidings.spark.streaming.output.notification_rows import NOTIFICATIONS_ARROW, notification_of
from tidings.spark.streaming.output.notifications import manifests, read_notifications
from tidings.spark.streaming.subscriptions.registrar import Registrar
from tidings.spark.streaming.subscriptions.registry import Registry
from tidings.spark.streaming.subscriptions.requests import SubscriptionRequest
from tidings.spark.streaming.unit import Notification


def day_from(seed: int, after: int, commits: int = 60, stays: int = 25) -> Day:
    """A day on which nobody is there before a commit, and nobody leaves."""
    day = random_day(seed, commits, stays)
    for stay in day.stays:
        stay.begins, stay.ends = max(stay.begins, after), None
    return day


def news_to(day: Day, last: int) -> dict[str, list[News]]:
    """What everybody was told up to a commit."""
    found = {spuid: [each for each in news if each[1] <= last] for spuid, news in day.news().items()}
    return {spuid: news for spuid, news in found.items() if news}


@pytest.mark.parametrize("seed", range(often(8)))
def test_units_without_state_tell_what_one_engine_tells(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = Random(seed)
    after = random.choice((0, random.randint(0, 50)))
    last = random.randint(after, 60)
    day = day_from(seed, after)
    log = write_day(day, tmp_path / "data")
    registrar = Registrar(Registry(tmp_path / "registry"), together=random.choice((1, 3, 64)))
    for seq in range(after, last + 1):
        begun, wrong = registrar.begin(stay.member for stay in day.stays if stay.begins == seq)
        day.stays = [stay for stay in day.stays if stay.member.spuid not in wrong]
        if begun:
            seeds = seeds_of(registrar, ((each.unit, each.member) for each in begun), day.graph(seq))
            registrar.registry.publish(Mark(seq, day.time(seq)), begun, seeds)
    feed = Feed(str(log), str(tmp_path / "registry"))
    start = Offset(Mark(after), 0)
    rows = [
        row
        for part in feed.parts(start, feed.next(start, Mark(last), None))
        for batch in feed.read(part)
        for row in batch
    ]
    random.shuffle(rows)
    monkeypatch.setattr(bulk.pieces, "__defaults__", (random.choice((1, 20, 10_000)),))
    told: list[Notification] = []
    for unit in {number for number, _ in rows}:
        mine = sorted((row for number, row in rows if number == unit), key=lambda row: row.commit)
        found = [
            dict(zip(NOTIFICATIONS_ARROW.names, each, strict=True))
            for piece in bulk.notify_unit(unit, mine)
            for each in piece
        ]
        told += [notification_of(each) for each in found if each["spuid"] is not None]
        assert found[-1]["rows"] == len(mine)
    assert heard(told) == news_to(day, last)


@pytest.mark.spark
def test_a_range_of_a_lake_is_replayed(spark: SparkSession, unhurried: None, tmp_path: Path) -> None:
    day = day_from(7, 20, stays=8)
    for stay in day.stays:
        stay.begins = 20
    lake = lake_with(tmp_path / "lake", day.entries, 25)
    refused: dict[str, TidingsError] = {}
    requests = [SubscriptionRequest(stay.member.text, stay.member.spuid, stay.begins) for stay in day.stays]
    requests.append(SubscriptionRequest("SELECT (RAND() AS ?r) {}", "urn:chance"))
    name = f"lake:{lake.path}"
    bulk.replay(
        spark,
        name,
        tmp_path / "out",
        requests,
        refused.__setitem__,
        span=bulk.span(name, 20, 50),
        lake=lake,
        together=3,
    )
    (manifest,) = manifests(tmp_path / "out")
    assert heard(read_notifications(tmp_path / "out", manifest)) == news_to(day, 50)
    assert {spuid: error.code for spuid, error in refused.items()} == {"urn:chance": "depends_on_chance"}
    assert main(["stream", "read", "--out", str(tmp_path / "out")]) == 0
