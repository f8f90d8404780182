"""Queries past observations: SPARQL over the history of the big store, as tables and as charts of its values.

python examples/mqtt/observed.py lake --every minute --charts charts
"""

import argparse
import sys
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import Any, TypeAlias

from rich.console import Console
from rich.table import Table

from tidings.client import Answer
from tidings.client.terms import from_term
from tidings.drawing import Chart
from tidings.extras import extra_missing
from tidings.model.errors import TidingsError

try:
    from pyspark.sql import DataFrame

    from tidings.spark.analytics.charts import Reading, short_names, values_chart
    from tidings.spark.analytics.figures import Span
    from tidings.spark.lake.lake import Lake
    from tidings.spark.lake.travel import quads
    from tidings.spark.session import session, stop, translated
    from tidings.spark.sparql.answers import terms
    from tidings.spark.sparql.query import run
except ImportError as error:
    sys.exit(f"observed: {extra_missing('this needs Spark', 'spark', error)}")

Row: TypeAlias = dict[str, Any]

MOST_ROWS = 10_000
"""The most rows of an answer; the latest are kept."""
EVERY = {"day": 10, "hour": 13, "minute": 16, "second": 19}
"""How many characters of an instant such as 2026-11-15T12:20:29.742357Z give its day, its hour, …"""
PREFIXES = """
PREFIX sosa: <http://www.w3.org/ns/sosa/> PREFIX time: <http://www.w3.org/2006/time#>
PREFIX qudt: <http://qudt.org/1.1/schema/qudt#>
"""
OBSERVED = """
  ?observation a sosa:Observation ; sosa:hasResult ?quantity .
  ?quantity qudt:unit ?unit ; qudt:numericValue ?value ; time:hasTime ?instant .
  ?instant time:inXSDDateTimeStamp ?stamp"""
FIGURES = """
SELECT ?observation ?unit ?since
  (COUNT(?value) AS ?count) (AVG(?value) AS ?mean) (MIN(?value) AS ?least) (MAX(?value) AS ?most)
WHERE {{ {observed} BIND(SUBSTR(STR(?stamp), 1, {length}) AS ?since) }}
GROUP BY ?observation ?unit ?since ORDER BY DESC(?since) ?observation LIMIT {limit}
"""
READINGS = "SELECT ?observation ?unit ?value ?stamp WHERE {{ {observed} }} ORDER BY DESC(?stamp) LIMIT {limit}"

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def figures(state: DataFrame, every: str) -> list[Row]:
    """Count, mean, least and greatest value of each observation for each day, hour, …, by the instants of storing."""
    return _asked(state, FIGURES.format(observed=OBSERVED, length=EVERY[every], limit=MOST_ROWS))


def readings(state: DataFrame) -> list[Row]:
    """The values with the instants at which they were stored."""
    return _asked(state, READINGS.format(observed=OBSERVED, limit=MOST_ROWS))


def _asked(state: DataFrame, text: str) -> list[Row]:
    """The rows with plain Python values, the latest last."""
    variables, frame = run(state, PREFIXES + text)
    cells = [tuple([None if term is None else from_term(term) for term in row]) for row in terms(frame)]
    return Answer(variables, tuple(reversed(cells))).values()


def by_unit(rows: Iterable[Row]) -> Iterator[tuple[str, list[Row]]]:
    """The rows grouped by unit, because values of different units cannot be compared."""
    for unit, own in groupby(sorted(rows, key=lambda row: row["unit"]), key=lambda row: row["unit"]):
        yield unit.rpartition("#")[2], list(own)


def table_of(unit: str, rows: list[Row]) -> Table:
    names = _names(rows)
    numbers = ("count", "mean", "least", "most")
    table = Table("observation", "since, UTC", *numbers, title=unit, title_justify="left")
    for column in table.columns[-len(numbers) :]:
        column.justify = "right"
    for row in sorted(rows, key=lambda row: (row["observation"], row["since"])):
        cells = (names[row["observation"]], row["since"], row["count"], f"{row['mean']:.2f}", row["least"], row["most"])
        table.add_row(*map(str, cells))
    return table


def chart_of(unit: str, rows: list[Row]) -> Chart:
    """Values over time: each holds until the next one of its observation."""
    names = _names(rows)
    series: dict[str, list[Reading]] = {name: [] for name in names.values()}
    for row in reversed(rows):
        own = series[names[row["observation"]]]
        own.append(Reading(_micros(row["stamp"]), float(row["value"]), own[-1].time if own else None))
    return values_chart(unit, series, Span(_micros(rows[0]["stamp"]), _micros(rows[-1]["stamp"]) + 1))


def _names(rows: Iterable[Row]) -> dict[str, str]:
    """Observations by short names, the same in tables and charts."""
    observations = sorted({row["observation"] for row in rows})
    return dict(zip(observations, short_names(f"<{each}>" for each in observations).values(), strict=True))


def _micros(instant: datetime) -> int:
    return (instant - _EPOCH) // timedelta(microseconds=1)


def draw(state: DataFrame, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for unit, rows in by_unit(readings(state)):
        (folder / f"{unit}.svg").write_text(chart_of(unit, rows).svg())


def tell(lake: Lake, every: str, folder: Path | None) -> None:
    console = Console()
    spark = session(name="observed")
    try:
        with translated():
            state = quads(spark, lake, lake.end().commit).persist()
            for unit, rows in by_unit(figures(state, every)):
                console.print(table_of(unit, rows))
            if folder is not None:
                draw(state, folder)
    finally:
        stop(spark)


def main() -> int:
    parser = argparse.ArgumentParser(description="What the big store ever had, by the instants of W3C Time.")
    parser.add_argument("lake", type=Path, help="the lake that run.py --lake made")
    parser.add_argument("--every", choices=EVERY, default="minute", help="figures for each (%(default)s)")
    parser.add_argument("--charts", type=Path, metavar="DIR", help="a chart for each unit, to this folder")
    arguments = parser.parse_args()
    try:
        tell(Lake(arguments.lake), arguments.every, arguments.charts)
    except TidingsError as error:
        print(f"observed: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
