"""A run in a few lines, for the terminal."""

from collections.abc import Iterator

from tidings.bench.report.words import duration, indicator
from tidings.bench.results.measured import Measurement, Run
from tidings.bench.results.statistics import median


def summary(run: Run) -> str:
    return "\n".join(_lines(run))


def _lines(run: Run) -> Iterator[str]:
    for test in dict.fromkeys(each.test for each in run.measurements):
        yield test
        for target in dict.fromkeys(each.target for each in run.of(test)):
            yield f"  {target:16} {_times(list(run.of(test, target)))}"
            found = run.kpis.get(test, {}).get(target, {})
            if found:
                yield "  " + " " * 17 + ", ".join(f"{name} {indicator(name, value)}" for name, value in found.items())
    for measurement in run.measurements:
        for what in measurement.wrong:
            yield f"WRONG {measurement.target} {measurement.test}: {what}"
    for trouble in run.troubles:
        yield f"TROUBLE {trouble.target} {trouble.test}: {trouble.what}"


def _times(points: list[Measurement]) -> str:
    sized = [each for each in points if each.samples]
    if not sized:
        return "no times"
    if len(sized) == 1:
        return f"median {duration(median(sized[0].samples))} of {len(sized[0].samples)}"
    first, last = sized[0], sized[-1]
    return (
        f"median {duration(median(first.samples))} at n = {first.n}, {duration(median(last.samples))} at n = {last.n}"
    )
