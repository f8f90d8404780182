"""The history of the big store: what SPARQL over the lake says of observations is what plain Python says of them."""

import random
import sys
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import pytest
from pyspark.sql import SparkSession

from spark.histories import log_with
from tidings.client import load
from tidings.client.jsap.bindings import expanded
from tidings.engine.updates.executor import Core
from tidings.log.entry import Entry
from tidings.spark.lake.ingest import Ingest
from tidings.spark.lake.lake import Lake
from tidings.spark.lake.travel import quads

EXAMPLE = Path(__file__).parents[2] / "examples" / "mqtt"
sys.path.append(str(EXAMPLE))

from observed import by_unit, chart_of, figures, readings, table_of  # noqa: E402
from topics import mappings  # noqa: E402

START = datetime(2026, 11, 15, 22, 50, tzinfo=UTC)
PROFILE = load(EXAMPLE / "mqtt.jsap")


class Stored(NamedTuple):
    observation: str
    unit: str
    value: Decimal
    at: datetime


def iri(name: str) -> str:
    return expanded(name, PROFILE.namespaces)


def sensed(seed: int, count: int) -> list[Stored]:
    """Values of the observations of the profile, over some hours and past midnight."""
    chance, at = random.Random(seed), START
    known = [(iri(each["observation"]), iri(each["unit"])) for _, each in mappings(PROFILE)]
    found = []
    for _ in range(count):
        at += timedelta(microseconds=chance.choice((1, 1_000_000, chance.randrange(600_000_000))))
        found.append(Stored(*chance.choice(known), Decimal(chance.randint(-99, 999)).scaleb(-1), at))
    return found


def committed(stored: list[Stored]) -> Iterator[Entry]:
    """What the Storing Service has its store commit."""
    store, update = Core(), PROFILE.update("STORE_OBSERVATION")
    for seq, each in enumerate(stored, start=1):
        micros = (each.at - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
        text = update.bind(observation=each.observation, unit=each.unit, value=each.value)
        yield Entry(seq, micros, store.update(text, now=micros))


@pytest.mark.spark
@pytest.mark.usefixtures("unhurried")
def test_what_was_stored_is_told_later_for_each_hour_and_drawn(spark: SparkSession, tmp_path: Path) -> None:
    stored = sensed(7, 60)
    lake = Lake.make(tmp_path / "lake")
    Ingest(spark, lake, str(log_with(tmp_path / "data", committed(stored)))).run()
    state = quads(spark, lake, lake.end().commit).persist()

    hours: dict[tuple[str, str], list[Decimal]] = defaultdict(list)
    for each in stored:
        hours[each.observation, f"{each.at:%Y-%m-%dT%H}"].append(each.value)
    rows = figures(state, "hour")
    assert {(row["observation"], row["since"]): (row["count"], row["least"], row["most"]) for row in rows} == {
        key: (len(values), min(values), max(values)) for key, values in hours.items()
    }
    for row in rows:
        values = hours[row["observation"], row["since"]]
        assert row["mean"] == pytest.approx(sum(values) / len(values))

    told = readings(state)
    assert [Stored(row["observation"], row["unit"], row["value"], row["stamp"]) for row in told] == stored
    units = dict(by_unit(told))
    assert units.keys() == {"DegreeCelsius", "Percent"}
    for unit, own in units.items():
        chart = chart_of(unit, own)
        ElementTree.fromstring(chart.svg())
        assert len(chart.axes.lines) == len({row["observation"] for row in own})
    assert sum(table_of(unit, own).row_count for unit, own in by_unit(rows)) == len(hours)
