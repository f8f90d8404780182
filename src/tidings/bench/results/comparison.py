"""Compares two runs, and finds the differences that exceed noise.

    ratio = figure of b / figure of a        changed if 1 is outside of the ratio's confidence interval

The interval is a seeded bootstrap of both sides. It covers only the noise within each run: if the machine was busier
during one of them, that shows as a difference.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from tidings.bench.results.measured import Measurement, Run
from tidings.bench.results.statistics import SEED, Interval, central, mean, median, resampled

Key: TypeAlias = tuple[str, str, int | None]
"""Test, target, n."""
Figure: TypeAlias = Callable[[Sequence[float]], float]

REPETITIONS = 5
"""Fewer samples than this are too few to estimate noise."""
CONFIDENCE = 0.99
"""A comparison has many points, so that a false alarm in one of twenty would be too many."""


class Verdict(StrEnum):
    """The result for one point."""

    FASTER = "faster"
    SLOWER = "slower"
    SAME = "within noise"
    TOO_FEW = "too few samples"
    WRONG = "wrong answers"
    GONE = "only in the first"
    NEW = "only in the second"


@dataclass(frozen=True, slots=True)
class Difference:
    """One point of one test on one target, in both runs. Times in ms; `ratio` is second over first."""

    test: str
    target: str
    n: int | None
    verdict: Verdict
    first: float | None = None
    second: float | None = None
    ratio: float | None = None
    interval: Interval | None = None

    @property
    def changed(self) -> bool:
        return self.verdict in {Verdict.FASTER, Verdict.SLOWER}


def compare(
    a: Run,
    b: Run,
    *,
    figure: Figure = median,
    repetitions: int = REPETITIONS,
    confidence: float = CONFIDENCE,
    seed: int = SEED,
) -> list[Difference]:
    """Every point of either run, in the order of the first; `figure` is `median` or `mean`."""
    before, after = _points(a), _points(b)
    return [
        _difference(key, before.get(key), after.get(key), figure, repetitions, confidence, seed)
        for key in dict.fromkeys([*before, *after])
    ]


def _points(run: Run) -> dict[Key, Measurement]:
    return {(each.test, each.target, each.n): each for each in run.measurements}


def _difference(
    key: Key,
    before: Measurement | None,
    after: Measurement | None,
    figure: Figure,
    repetitions: int,
    confidence: float,
    seed: int,
) -> Difference:
    if before is None:
        return Difference(*key, Verdict.NEW, second=_figure(figure, after))
    if after is None:
        return Difference(*key, Verdict.GONE, first=_figure(figure, before))
    if before.wrong or after.wrong:
        return Difference(*key, Verdict.WRONG)
    first, second = _figure(figure, before), _figure(figure, after)
    if not first or not second or min(len(before.samples), len(after.samples)) < repetitions:
        return Difference(*key, Verdict.TOO_FEW, first, second)
    interval = ratio_interval(before.samples, after.samples, figure, confidence, seed)
    return Difference(*key, _verdict(interval), first, second, second / first, interval)


def _figure(figure: Figure, measurement: Measurement | None) -> float | None:
    return figure(measurement.samples) if measurement and measurement.samples and not measurement.wrong else None


def _verdict(interval: Interval) -> Verdict:
    if interval.high < 1:
        return Verdict.FASTER
    return Verdict.SLOWER if interval.low > 1 else Verdict.SAME


def ratio_interval(
    first: Sequence[float],
    second: Sequence[float],
    figure: Figure = mean,
    confidence: float = CONFIDENCE,
    seed: int = SEED,
) -> Interval:
    """The confidence interval of second / first."""
    below = resampled(first, figure, seed)
    above = resampled(second, figure, seed + 1)  # the same draws on both sides would hide noise
    ratios = sorted(b / a for a, b in zip(below, above, strict=False) if a > 0)
    return central(ratios, confidence, min(len(first), len(second)))


HEAD = ("test", "target", "n", "first", "second", "ratio", "interval", "verdict")


def table(differences: Sequence[Difference]) -> str:
    """A table for the terminal, with names on the left, figures on the right, and a last line with totals."""
    rows = [HEAD, *map(_cells, differences)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(
            cell.rjust(width) if 2 <= place <= 6 else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    return "\n".join([*lines, "", *_summing_up(differences)]) + "\n"


def _cells(each: Difference) -> tuple[str, ...]:
    return (
        each.test,
        each.target,
        "" if each.n is None else f"{each.n}",
        _ms(each.first),
        _ms(each.second),
        "" if each.ratio is None else f"{each.ratio:.2f}",
        "" if each.interval is None else f"{each.interval.low:.2f} .. {each.interval.high:.2f}",
        each.verdict.value,
    )


def _ms(value: float | None) -> str:
    return "" if value is None else f"{value:.3f} ms" if value < 10 else f"{value:.1f} ms"


def _summing_up(differences: Sequence[Difference]) -> Iterator[str]:
    counts = {verdict: sum(each.verdict is verdict for each in differences) for verdict in Verdict}
    yield "; ".join(f"{count} {verdict.value}" for verdict, count in counts.items() if count) or "nothing to compare"
