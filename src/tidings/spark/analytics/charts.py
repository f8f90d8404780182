"""Draws charts of the history from plain rows: steps, windows, rates, bars and gaps. Times are microseconds, in UTC."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from math import nan
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from tidings.drawing import OKABE_ITO, Chart, blank, colours_of, drawn, label_ends, literal, plain_ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tidings.spark.analytics.figures import Span

LONGEST_NAME = 20
_MOST_BANDS = 3
_DAY = 86_400_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TICKS = ["%Y", "%b", "%b %d", "%H:%M", "%H:%M", "%H:%M:%S.%f"]
"""Formats of ticks by year, month, day, hour, minute and second. The formatter drops zeros at the end."""
_LEAST = 1_000_000
"""The shortest time axis, in microseconds: matplotlib cannot divide a shorter one."""
_ADDED, _REMOVED, _SILENT, _OPEN = OKABE_ITO[0], OKABE_ITO[1], OKABE_ITO[0], OKABE_ITO[1]


class Reading(NamedTuple):
    """A number, and the time for which it held; `until` is None if it held to the end."""

    time: int
    number: float
    until: int | None


class Figures(NamedTuple):
    """The figures of a window."""

    start: int
    mean: float | None
    min: float | None
    max: float | None
    time_weighted_mean: float | None


class Changes(NamedTuple):
    """The number of changes of a predicate, a graph, a publisher or a subject."""

    name: str
    additions: int
    removals: int


class Gap(NamedTuple):
    """A time without changes; `until` is None if it lasts to the end."""

    since: int
    until: int | None


@drawn
def values_chart(title: str, series: Mapping[str, Sequence[Reading]], span: "Span", note: str = "") -> Chart:
    """Each number for the time for which it held, with a break where there was none."""
    chart = _timeline(title, f"{title}: values of {', '.join(series)} over time", span, note)
    colours = colours_of(series)
    for name, readings in series.items():
        _steps(
            chart.axes,
            [_stretch(reading, span) for reading in sorted(readings, key=lambda each: each.time)],
            colours[name],
        )
    plain_ticks(chart.axes, x=False)
    label_ends(
        chart.axes,
        {name: _end(max(own, key=lambda each: each.time).number, span) for name, own in series.items() if own},
        colours,
    )
    return chart


def _stretch(reading: Reading, span: "Span") -> tuple[int, int, float]:
    until = span.until if reading.until is None else reading.until
    return max(reading.time, span.since), until, reading.number


def _steps(axes: "Axes", stretches: Sequence[tuple[int, int, float]], colour: str) -> None:
    """A step line of stretches (begin, end, height), broken where the next does not begin at the end of the last."""
    days: list[float] = []
    heights: list[float] = []
    for begin, end, height in stretches:
        if days and days[-1] != _day(begin):
            days.append(days[-1])
            heights.append(nan)
        days += [_day(begin), _day(end)]
        heights += [height, height]
    axes.plot(days, heights, color=colour, linewidth=1.4, solid_capstyle="projecting")


@drawn
def windows_chart(
    title: str, series: Mapping[str, Sequence[Figures]], every: int, span: "Span", note: str = ""
) -> Chart:
    """The time-weighted mean in a band from the least to the greatest number, and a dot for the mean of new numbers.

    With many series, there are no bands, because they would hide each other.
    """
    about = f"{title}: time-weighted mean, mean and range of {', '.join(series)} every {period(every)}"
    with_bands = len(series) <= _MOST_BANDS
    band = ", range (band)" if with_bands else ""
    key = f"every {period(every)}: time-weighted mean (line), mean (dots){band}"
    chart = _timeline(title, about, span, _lines(key, note))
    colours = colours_of(series)
    for name, figures in series.items():
        own = sorted(figures, key=lambda each: each.start)
        _means(chart.axes, own, every, colours[name])
        if with_bands:
            _band(chart.axes, own, every, colours[name])
    plain_ticks(chart.axes, x=False)
    ends = {name: _end(_last(own), span) for name, own in series.items() if own}
    label_ends(chart.axes, ends, colours)
    return chart


def _means(axes: "Axes", figures: Sequence[Figures], every: int, colour: str) -> None:
    held = [(each.start, each.start + every, each.time_weighted_mean) for each in figures]
    _steps(axes, [(begin, end, mean) for begin, end, mean in held if mean is not None], colour)
    centres = [_day(each.start + every // 2) for each in figures]
    means = [_or_nan(each.mean) for each in figures]
    axes.plot(centres, means, ".", color=colour, markersize=4, markeredgewidth=0)


def _band(axes: "Axes", figures: Sequence[Figures], every: int, colour: str) -> None:
    edges = [_day(each.start + after) for each in figures for after in (0, every, every)]
    least, most = (
        [height for bound in bounds for height in (bound, bound, nan)]
        for bounds in ([_or_nan(each.min) for each in figures], [_or_nan(each.max) for each in figures])
    )
    axes.fill_between(edges, least, most, color=colour, alpha=0.2, linewidth=0)


def _last(figures: Sequence[Figures]) -> float:
    last = max(figures, key=lambda each: each.start)
    return _or_nan(last.mean if last.time_weighted_mean is None else last.time_weighted_mean)


@drawn
def rates_chart(title: str, counts: Mapping[str, Mapping[int, int]], every: int, span: "Span", note: str = "") -> Chart:
    """The number of changes in each window, by its start; a missing window has none.

    Windows that are only partly in the span are left out, because they would look like a decrease.
    """
    title = f"{title}, changes per {period(every)}"
    chart = _timeline(title, f"{title}: {', '.join(counts)}", span, note)
    colours = colours_of(counts)
    whole = range(-(-span.since // every) * every, span.until - every + 1, every)
    starts = whole or range(span.since // every * every, span.until, every)
    edges = [_day(start) for start in (*starts, starts[-1] + every)]
    for name, own in counts.items():
        chart.axes.stairs(
            [own.get(start, 0) for start in starts], edges, baseline=None, color=colours[name], linewidth=1.4
        )
    chart.axes.set_ylim(bottom=0)
    plain_ticks(chart.axes, x=False)
    label_ends(chart.axes, {name: _end(own.get(starts[-1], 0), span) for name, own in counts.items()}, colours)
    return chart


@drawn
def changes_chart(title: str, rows: Sequence[Changes], note: str = "") -> Chart:
    """Additions and removals as parts of one bar, with the total at its end."""
    about = f"{title}: additions and removals of {', '.join(each.name for each in rows)}"
    chart = blank(title, _lines("changes", note), "", about, height=1.0 + 0.26 * max(len(rows), 2))
    axes = chart.axes
    places = range(len(rows))
    axes.barh(places, [each.additions for each in rows], color=_ADDED, height=0.66, label="additions")
    bars = axes.barh(
        places,
        [each.removals for each in rows],
        left=[each.additions for each in rows],
        color=_REMOVED,
        height=0.66,
        label="removals",
    )
    axes.bar_label(bars, labels=[f"{each.additions + each.removals:,}" for each in rows], padding=4)
    axes.margins(x=0.16)
    _rows(chart, [each.name for each in rows])
    plain_ticks(axes, y=False)
    return chart


@drawn
def gaps_chart(title: str, gaps: Mapping[str, Sequence[Gap]], span: "Span", note: str = "") -> Chart:
    """A row for each name, with a bar for each gap."""
    about = f"{title}: when {', '.join(gaps)} did not change"
    chart = _timeline(title, about, span, note, height=1.1 + 0.26 * max(len(gaps), 2))
    for label, colour, is_open in (("gap", _SILENT, False), ("still open at the end", _OPEN, True)):
        rows = [[_bar(gap, span) for gap in own if (gap.until is None) is is_open] for own in gaps.values()]
        for place, bars in enumerate(rows):
            chart.axes.broken_barh(bars, (place - 0.33, 0.66), color=colour, linewidth=0)
        if any(rows):
            chart.axes.plot([], [], color=colour, linewidth=6, solid_capstyle="butt", label=label)
    _rows(chart, list(gaps))
    return chart


def _bar(gap: Gap, span: "Span") -> tuple[float, float]:
    """The begin and the length of a bar, in days."""
    begin = max(gap.since, span.since)
    return _day(begin), _day((span.until if gap.until is None else gap.until) - begin)


# -- axes and names --------------------------------------------------------------------------------------------------


def short_names(terms: Iterable[str]) -> dict[str, str]:
    """A short name for each term: the end of its IRI, or more of it if two terms would have the same name. All names
    are different."""
    whole = {term: term.strip("<>") for term in terms}
    ends = {term: _last_part(text) if term[:1] == "<" else text for term, text in whole.items()}
    often = Counter(ends.values())
    texts = {term: end if often[end] == 1 else whole[term] for term, end in ends.items()}
    alike: dict[str, list[str]] = {}
    for text in texts.values():
        alike.setdefault(_shortened(text), []).append(text)
    names: dict[str, str] = {}
    for term, text in texts.items():
        short = _shortened(text)
        name = short if len(alike[short]) == 1 else _difference(text, alike[short])
        count = sum(other.partition(" (")[0] == name for other in names.values())
        names[term] = f"{name} ({count + 1})" if count else name
    return names


def _difference(text: str, others: Sequence[str]) -> str:
    """The part of a name between the beginning and the end that it shares with the others."""
    begin = _alike(others)
    end = _alike([other[begin:][::-1] for other in others])
    return f"…{_shortened(text[begin : len(text) - end], LONGEST_NAME - 2)}…"


def _alike(texts: Sequence[str]) -> int:
    """The length of the common prefix of some texts."""
    return sum(1 for _ in takewhile(lambda each: len(set(each)) == 1, zip(*texts, strict=False)))


def in_order(term: str) -> str:
    """A sort key in natural order: lamp 2 before lamp 10."""
    return re.sub(r"[0-9]{1,20}", lambda digits: digits[0].zfill(20), term.strip("<>"))


def period(micros: int) -> str:
    """A duration in the largest unit of which it is a whole multiple."""
    for unit, name in (
        (86_400_000_000, "d"),
        (3_600_000_000, "h"),
        (60_000_000, "min"),
        (1_000_000, "s"),
        (1_000, "ms"),
    ):
        if micros % unit == 0:
            return f"{micros // unit:,} {name}"
    return f"{micros:,} µs"


def _last_part(iri: str) -> str:
    return re.split(r"[/#]", iri.rstrip("/#"))[-1] or iri


def _shortened(name: str, longest: int = LONGEST_NAME) -> str:
    half = longest // 2
    return name if len(name) <= longest else f"{name[: half - 1]}…{name[-half:]}"


def _timeline(title: str, about: str, span: "Span", note: str, **size: float) -> Chart:
    from matplotlib.dates import MINUTELY, SECONDLY, AutoDateLocator, ConciseDateFormatter

    chart = blank(title, _lines(f"{_days(span)}, UTC", note), "", about, **size)
    locator = cast(Any, AutoDateLocator)(tz=UTC, minticks=3, maxticks=7)
    locator.intervald |= {unit: [1, 2, 5, 10, 20, 30] for unit in (MINUTELY, SECONDLY)}
    formatter = cast(Any, ConciseDateFormatter)(
        locator, UTC, _TICKS, zero_formats=["", *_TICKS[:1], "%b", *_TICKS[2:5]], show_offset=False
    )
    chart.axes.xaxis.set_major_locator(locator)
    chart.axes.xaxis.set_major_formatter(formatter)
    chart.axes.set_xlim(_day(span.since), _day(max(span.until, span.since + _LEAST)))
    return chart


def _days(span: "Span") -> str:
    """The days of a span, without the instant at its end."""
    first, last = (_EPOCH + timedelta(microseconds=micros) for micros in (span.since, max(span.until - 1, span.since)))
    return f"{first:%Y-%m-%d}" if first.date() == last.date() else f"{first:%Y-%m-%d} to {last:%Y-%m-%d}"


def _rows(chart: Chart, names: Sequence[str]) -> None:
    """Names at the left of their bars, the first at the top, with a legend below."""
    axes = chart.axes
    axes.set_yticks(range(len(names)), [literal(name) for name in names])
    axes.set_ylim(max(len(names), 1) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")
    axes.grid(visible=True, axis="x")
    if names:
        chart.figure.legend(loc="outside lower center", ncols=2, frameon=False)


def _end(value: float, span: "Span") -> tuple[float, float]:
    return _day(span.until), value


def _day(micros: int) -> float:
    """An instant in days since 1970, as matplotlib counts time."""
    return micros / _DAY


def _or_nan(value: float | None) -> float:
    return nan if value is None else value


def _lines(*texts: str) -> str:
    return "\n".join(filter(None, texts))
