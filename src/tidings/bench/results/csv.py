"""Measurements as the rows of the PES paper (2016, sections IV-D and V-A), and back. All times are in ms.

    name,n,v1,…,vI,mean,min,max,variance      update, query and whatever else has sizes: two decimals
    name,v1,…,vI,mean,min,max,variance        subscription: three decimals, without zeros at the end

A size is a whole number and a time always has a decimal point, so that each row shows which of the two forms it has.
"""

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from tidings.bench.results.files import ResultsUnreadable, write_whole
from tidings.bench.results.measured import Measurement
from tidings.bench.results.statistics import Summary, summarise

ELLIPSIS = "..."
"""What the paper prints in place of the values between the first and the last."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the file."""

    name: str
    n: int | None
    values: tuple[float, ...]
    summary: Summary
    complete: bool = True
    """False if values were left out, as in the printed paper."""


def csv_text(measurements: Iterable[Measurement]) -> str:
    """One row for each point. A measurement without samples, or with wrong answers, has no row."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for each in measurements:
        if each.samples and not each.wrong:
            writer.writerow(cells(each))
    return text.getvalue()


def write_csv(path: Path, measurements: Iterable[Measurement]) -> None:
    """Raises ResultsUnwritable."""
    write_whole(path, csv_text(measurements))


def cells(measurement: Measurement) -> list[str]:
    summary = summarise(measurement.samples)
    figures = (*measurement.samples, summary.mean, summary.min, summary.max, summary.variance)
    if measurement.kind == "subscription" or measurement.n is None:
        return [measurement.target, *map(_three_decimals, figures)]
    return [measurement.target, str(measurement.n), *map(_two_decimals, figures)]


def _two_decimals(figure: float) -> str:
    return f"{figure:.2f}"


def _three_decimals(figure: float) -> str:
    """`3.51`, `0.57`, `2.0`: at least one decimal, never an exponent."""
    text = f"{figure:.3f}".rstrip("0")
    return f"{text}0" if text.endswith(".") else text


def read_csv(text: str) -> list[Row]:
    """Raises ResultsUnreadable with the number of the line."""
    return list(_rows(text))


def _rows(text: str) -> Iterator[Row]:
    reader = csv.reader(StringIO(text, newline=""))
    for found in reader:
        if not found or found == [ELLIPSIS]:
            continue
        try:
            yield _row([cell.strip() for cell in found])
        except ValueError as error:
            raise ResultsUnreadable(f"line {reader.line_num}: {error}") from error


def _row(found: list[str]) -> Row:
    name, *rest = found
    n = int(rest.pop(0)) if rest and rest[0].isdecimal() else None
    if len(rest) < 5:
        raise ValueError("a row has a name, perhaps a size, values, and mean, min, max, variance")
    values = tuple(_time(cell) for cell in rest[:-4] if cell != ELLIPSIS)
    complete = ELLIPSIS not in rest[:-4]
    mean, least, most, variance = map(_time, rest[-4:])
    count = len(values) if complete else 0  # 0: unknown
    return Row(name, n, values, Summary(count, mean, least, most, variance), complete)


def _time(cell: str) -> float:
    if "." not in cell:
        raise ValueError(f"{cell!r} is not a time: it has no decimals")
    return float(cell)
