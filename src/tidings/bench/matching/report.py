"""The outcome of the evaluation: a text for the terminal, JSON, and charts like the paper's figures 4 to 6."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from tidings.bench.matching.experiment import Outcome
from tidings.drawing import Chart, blank, colours_of, drawn, label_ends, plain_ticks

_FIGURES = {"precision": "Precision", "recall": "Recall", "f_score": "F-score"}


def summary(outcome: Outcome) -> str:
    return "\n".join(_lines(outcome))


def _lines(outcome: Outcome) -> Iterator[str]:
    yield "at 100 % approximation, means over fresh seeds, with thresholds frozen elsewhere:"
    for point in outcome.points:
        if point.approximation == 1.0:
            strict = f"strict F {point.strict_f_score:.3f}"
            figures = f"precision {point.precision:.3f}, recall {point.recall:.3f}, F {point.f_score:.3f}"
            yield f"  {point.vocabulary:6} {point.matcher:18} {figures} ({strict}), looked at {point.looked_at:.2%}"
    yield "one match, its tuples seen before, n = m = 10: " + _times(outcome.over_k, "k")
    yield "the best mapping of n predicates, m = 10: " + _times(outcome.over_predicates, "n")
    if outcome.throughput is not None:
        found = outcome.throughput
        yield (
            f"{found.subscriptions:,} subscriptions: {found.warm:,.0f} events/s on a core, {found.cold:,.0f} while "
            f"their tuples are new; {found.looked_at:.2%} of the pairs looked at"
        )


def _times(seconds: Mapping[int, float], name: str) -> str:
    return ", ".join(f"{name} = {number}: {1000 * each:.3f} ms" for number, each in seconds.items())


def write_outcome(outcome: Outcome, folder: Path) -> Iterator[Path]:
    """Write the JSON, then the charts. Raises ExtraMissing if charts cannot be drawn, after it has written the JSON."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "matching.json"
    path.write_bytes(msgspec.json.format(msgspec.json.encode(outcome)))
    yield path
    for name, chart in _charts(outcome):
        path = folder / f"matching-{name}.svg"
        path.write_text(chart.svg(), encoding="utf-8")
        yield path


def _charts(outcome: Outcome) -> Iterator[tuple[str, Chart]]:
    yield "k", _time_chart("Time of a match over K", "K best mappings, n = m = 10", outcome.over_k)
    yield "predicates", _time_chart("Time of a match over predicates", "predicates, m = 10", outcome.over_predicates)
    for words in outcome.configuration.vocabularies:
        for figure, title in _FIGURES.items():
            yield f"{words}-{figure}", _effectiveness_chart(outcome, words, figure, title)


@drawn
def _time_chart(title: str, across: str, seconds: Mapping[int, float]) -> Chart:
    chart = blank(title, across, "ms", f"{title}: {_times(seconds, '')}")
    chart.axes.plot(list(seconds), [1000 * each for each in seconds.values()], marker="o")
    chart.axes.set_ylim(bottom=0)
    plain_ticks(chart.axes)
    return chart


@drawn
def _effectiveness_chart(outcome: Outcome, words: str, figure: str, title: str) -> Chart:
    points = [each for each in outcome.points if each.vocabulary == words]
    names = list(dict.fromkeys(each.matcher for each in points))
    colours = colours_of(names)
    chart = blank(
        f"{title}, vocabulary {words}", "per cent of the terms approximate", "", f"{title} of {', '.join(names)}"
    )
    ends: dict[str, tuple[float, float]] = {}
    for name in names:
        line = [(100 * each.approximation, getattr(each, figure)) for each in points if each.matcher == name]
        chart.axes.plot(*zip(*line, strict=True), marker="o", color=colours[name])
        ends[name] = line[-1]
    chart.axes.set_ylim(0, 1.02)
    label_ends(chart.axes, ends, colours)
    return chart
