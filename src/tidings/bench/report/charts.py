"""The charts of a run, as SVG and PNG: small enough for two beside each other in a report, and always the same bytes.

A target has the same colour in all charts (Okabe and Ito's, which colour-blind people can distinguish), and its name is
beside its line instead of in a legend. The extra `bench` installs matplotlib, imported when a chart is drawn.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import log10
from typing import TYPE_CHECKING, TypeAlias

from tidings.bench.results.histogram import Histogram
from tidings.bench.results.measured import Measurement
from tidings.bench.results.statistics import summarise
from tidings.drawing import GRID, Chart, Colours, blank, drawn, label_ends, plain_ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Points: TypeAlias = Sequence[Measurement]

STRETCH = 20
"""If the largest figure is so many times the smallest, the scale is logarithmic."""
TAIL = (0.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99)


@drawn
def line_chart(title: str, points: Points, colours: Colours, *, across: str = "n", unit: str = "ms") -> Chart:
    """The mean over n, in a band from the least to the most."""
    chart = blank(title, across, unit, f"{title}: mean time in {unit} over {across}, with the range from least to most")
    axes = chart.axes
    ends: dict[str, tuple[float, float]] = {}
    for target, own in _by_target(points).items():
        sized = sorted((each for each in own if each.samples and each.n is not None), key=lambda each: each.n or 0)
        if not sized:
            continue
        summaries = [summarise(each.samples) for each in sized]
        sizes = [each.n or 0 for each in sized]
        colour = colours[target]
        axes.fill_between(sizes, [s.min for s in summaries], [s.max for s in summaries], color=colour, alpha=0.18, lw=0)
        axes.plot(sizes, [s.mean for s in summaries], color=colour, marker="o", markersize=3.5)
        ends[target] = (sizes[-1], summaries[-1].mean)
    _scale_y(axes, [sample for each in points for sample in each.samples])
    sizes_seen = [each.n for each in points if each.n]
    if sizes_seen and max(sizes_seen) / min(sizes_seen) > STRETCH:
        axes.set_xscale("log")
    plain_ticks(axes)
    label_ends(axes, ends, colours)
    return chart


@drawn
def box_chart(title: str, points: Points, colours: Colours, *, unit: str = "ms") -> Chart:
    """A box for each target: quartiles, median, whiskers to 1.5 times the box, and outliers."""
    own = {target: [s for each in each_own for s in each.samples] for target, each_own in _by_target(points).items()}
    boxes = {target: samples for target, samples in own.items() if samples}
    chart = blank(title, "", unit, f"{title}: spread of times in {unit} by target")
    axes = chart.axes
    parts = axes.boxplot(
        list(boxes.values()),
        widths=0.5,
        patch_artist=True,
        flierprops={"marker": ".", "markersize": 3, "markeredgewidth": 0},
        medianprops={"color": GRID.ink, "linewidth": 1.4},
    )
    for place, target in enumerate(boxes):
        colour = colours[target]
        parts["boxes"][place].set(facecolor=(colour, 0.3), edgecolor=colour)
        parts["fliers"][place].set(markerfacecolor=colour)
        for part in (*parts["whiskers"][2 * place : 2 * place + 2], *parts["caps"][2 * place : 2 * place + 2]):
            part.set_color(colour)
    _scale_y(axes, [sample for samples in boxes.values() for sample in samples])
    plain_ticks(axes, x=False)
    axes.set_xticks(range(1, len(boxes) + 1), list(boxes))
    return chart


@drawn
def percentile_chart(title: str, histograms: Mapping[str, Histogram], colours: Colours, *, unit: str = "ms") -> Chart:
    """Latency by percentile, on a scale on which 90 %, 99 %, 99.9 % and so on are equally far apart."""
    chart = blank(title, "percentile", unit, f"{title}: latency in {unit} by percentile")
    axes = chart.axes
    ends: dict[str, tuple[float, float]] = {}
    shown: set[float] = set()
    for target, histogram in histograms.items():
        told = [p for p in TAIL if histogram.count * (1 - p / 100) >= 1]
        curve = sorted({*told, *(p for p in range(0, 100, 2) if p <= told[-1])})
        heights = [histogram.percentile(p) for p in curve]
        axes.plot([_nines(p) for p in curve], heights, color=colours[target])
        axes.plot([_nines(told[-1])], heights[-1:], color=colours[target], marker="o", markersize=3.5)
        ends[target] = (_nines(told[-1]), heights[-1])
        shown.update(told)
    _scale_y(axes, [v for h in histograms.values() for v in (h.min, h.percentile(99))])
    plain_ticks(axes, x=False)
    axes.set_xticks([_nines(p) for p in sorted(shown)], [f"{p:g}" for p in sorted(shown)])
    label_ends(axes, ends, colours)
    return chart


def _nines(per_cent: float) -> float:
    return -log10(1 - per_cent / 100)


@drawn
def histogram_chart(title: str, histograms: Mapping[str, Histogram], colours: Colours, *, unit: str = "ms") -> Chart:
    """The frequency of each latency, as a share of the target's samples; the scale of latencies is logarithmic."""
    chart = blank(title, f"latency, {unit}", "% of all", f"{title}: distribution of latencies in {unit}")
    axes = chart.axes
    peaks: dict[str, tuple[float, float]] = {}
    for target, histogram in histograms.items():
        bars = _coarse(histogram)
        edges = [low for low, _, _ in bars] + [bars[-1][1]]
        heights = [100 * count / histogram.count for _, _, count in bars]
        axes.stairs(heights, edges, fill=True, color=colours[target], alpha=0.3)
        axes.stairs(heights, edges, color=colours[target])
        peaks[target] = (histogram.percentile(50), max(heights))
    axes.set_xscale("log")
    axes.margins(y=0.14)
    plain_ticks(axes)
    for target, (x, y) in peaks.items():
        axes.annotate(
            target, (x, y), xytext=(0, 3), textcoords="offset points", color=colours[target], ha="center", weight="bold"
        )
    return chart


def _coarse(histogram: Histogram, bars_a_decade: int = 12) -> list[tuple[float, float, int]]:
    """The counts in wider bars: buckets of 1 % are too narrow for a chart."""
    counts: dict[int, int] = {}
    for low, high, count in histogram.bars():
        place = int(log10((low * high) ** 0.5) * bars_a_decade // 1)
        counts[place] = counts.get(place, 0) + count
    return [
        (10 ** (place / bars_a_decade), 10 ** ((place + 1) / bars_a_decade), counts.get(place, 0))
        for place in range(min(counts), max(counts) + 1)
    ]


@drawn
def time_chart(title: str, points: Points, colours: Colours, *, unit: str = "updates/s") -> Chart:
    """A figure over time: a rate, or memory."""
    chart = blank(title, "seconds", unit, f"{title}: {unit} as time goes by")
    axes = chart.axes
    ends: dict[str, tuple[float, float]] = {}
    for each in points:
        if each.timeline:
            seconds, seen = zip(*each.timeline, strict=True)
            axes.plot(seconds, seen, color=colours[each.target])
            ends[each.target] = (seconds[-1], seen[-1])
    axes.set_ylim(bottom=0)
    plain_ticks(axes)
    label_ends(axes, ends, colours)
    return chart


@drawn
def bar_chart(title: str, figures: Mapping[str, float], colours: Colours, *, unit: str) -> Chart:
    """One figure of each target, side by side, with the figure at its bar."""
    chart = blank(title, unit, "", f"{title}: {unit} by target", height=0.55 + 0.34 * max(len(figures), 2))
    axes = chart.axes
    names = list(figures)
    bars = axes.barh(names, list(figures.values()), color=[colours[name] for name in names], height=0.62)
    values = [value for value in figures.values() if value > 0]
    if values and max(values) / min(values) > STRETCH:
        axes.set_xscale("log")
        axes.set_xlim(left=min(values) / 3)
    axes.bar_label(bars, labels=[_figure(figures[name]) for name in names], padding=4)
    axes.margins(x=0.16)
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.grid(visible=True, axis="x")
    plain_ticks(axes, y=False)
    return chart


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _by_target(points: Iterable[Measurement]) -> dict[str, list[Measurement]]:
    found: dict[str, list[Measurement]] = {}
    for each in points:
        if not each.wrong:
            found.setdefault(each.target, []).append(each)
    return found


def _scale_y(axes: "Axes", values: Sequence[float]) -> None:
    above = [value for value in values if value > 0]
    if above and max(above) / min(above) > STRETCH:
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
