"""Charts of the history: well-formed, the same each time, in UTC, and with names that can be told apart."""

from itertools import pairwise
from math import nan
from xml.etree import ElementTree

import numpy as np
import pytest

from tidings.drawing import Chart
from tidings.spark.analytics.charts import (
    LONGEST_NAME,
    Changes,
    Figures,
    Gap,
    Reading,
    changes_chart,
    gaps_chart,
    in_order,
    period,
    rates_chart,
    short_names,
    values_chart,
    windows_chart,
)
from tidings.spark.analytics.figures import Span

HOUR = 3_600_000_000
START = 1_794_700_800_000_000
SPAN = Span(START, START + 5 * HOUR)
TEXT = "{http://www.w3.org/2000/svg}text"


def charts() -> dict[str, Chart]:
    bath = [Reading(START - HOUR, 20.5, START + HOUR), Reading(START + HOUR, 23.0, START + 2 * HOUR)]
    hall = [Reading(START + HOUR, 17.0, None)]
    figures = [Figures(START, 20.0, 19.0, 22.0, 20.4), Figures(START + 2 * HOUR, None, None, None, 21.0)]
    counts = {"bath": {START: 5, START + HOUR: 7}, "co$t": {START + 3 * HOUR: 1}}
    gaps = {"bath": [Gap(START - HOUR, START + HOUR)], "hall": [Gap(START, START + HOUR), Gap(START + 2 * HOUR, None)]}
    return {
        "values": values_chart("temperature", {"bath": bath, "hall": hall}, SPAN, "2 of 9"),
        "windows": windows_chart("temperature", {"bath": figures, "hall": figures[:1]}, HOUR, SPAN),
        "rates": rates_chart("predicate", counts, HOUR, SPAN),
        "changes": changes_chart("churn", [Changes("bath", 1_200, 34), Changes("co$t", 1, 0)]),
        "gaps": gaps_chart("temperature", gaps, SPAN),
    }


def words(chart: Chart) -> set[str]:
    return {"".join(each.itertext()) for each in ElementTree.fromstring(chart.svg()).iter(TEXT)}


SAID = {
    "values": {"temperature", "bath", "hall", "2026-11-15, UTC", "2 of 9"},
    "windows": {"temperature", "bath", "hall", "every 1 h: time-weighted mean (line), mean (dots), range (band)"},
    "rates": {"predicate, changes per 1 h", "bath", "co$t", "2026-11-15, UTC"},
    "changes": {"churn", "bath", "co$t", "1,234", "1", "additions", "removals"},
    "gaps": {"temperature", "bath", "hall", "gap", "still open at the end", "2026-11-15, UTC"},
}


@pytest.mark.filterwarnings("error")
def test_charts_say_what_they_show_and_come_out_the_same_each_time() -> None:
    ones, others = charts(), charts()
    for name, said in SAID.items():
        assert said <= words(ones[name]), name
        assert ones[name].svg() == others[name].svg()
        assert ones[name].file("png") == others[name].png()
        assert ones[name].png().startswith(b"\x89PNG\r\n")
        box = ones[name].axes.get_position()
        assert box.width > 0.4, name
        assert box.height > 0.3, name


def test_a_line_is_steps_and_broken_where_nothing_held() -> None:
    readings = [
        Reading(START - HOUR, 1.0, START + HOUR),
        Reading(START + HOUR, 3.0, START + 2 * HOUR),
        Reading(START + 3 * HOUR, 2.0, None),
    ]
    (line,) = values_chart("temperature", {"bath": readings}, SPAN).axes.lines
    days, heights = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
    assert ((days * 24 * HOUR - START) / HOUR).round(6).tolist() == [0, 1, 1, 2, 2, 3, 5]
    assert heights.tolist() == pytest.approx([1, 1, 3, 3, nan, 2, 2], nan_ok=True)


def test_rates_are_those_of_whole_windows() -> None:
    part = Span(START + 1, START + 3 * HOUR + 1)
    (stairs,) = rates_chart("graph", {"g": {START: 9, START + HOUR: 4}}, HOUR, part).axes.patches
    assert list(stairs.get_data().values) == [4, 0]  # type: ignore[attr-defined]
    (stairs,) = rates_chart("graph", {"g": {START: 9}}, HOUR, Span(START + 1, START + 2)).axes.patches
    assert list(stairs.get_data().values) == [9]  # type: ignore[attr-defined]


def test_names_are_short_and_told_apart() -> None:
    attic, bath = "<http://example.org/attic/lamp>", "<http://example.org/bath/lamp>"
    names = short_names([attic, bath, "<http://example.org/house#door>", "_:b1", "<http://example.org/>"])
    assert list(names.values())[2:] == ["door", "_:b1", "example.org"]
    assert names[attic] != names[bath]
    assert all(len(name) <= LONGEST_NAME for name in names.values())
    alike = [f"<http://example.org/a/{letter * 50}/lamp>" for letter in "xyz"]
    assert len(set(short_names(alike).values())) == 3
    servers = [f"<http://example.org/Server-mml-{part}-Temperature>" for part in ("Cpu0", "Sda")]
    assert list(short_names(servers).values()) == ["…Cpu0…", "…Sda…"]


def test_numbers_in_names_are_sorted_as_numbers() -> None:
    lamps = ["<http://example.org/lamp10>", "<http://example.org/lamp9b>", "<http://example.org/lamp9>"]
    assert sorted(lamps, key=in_order) == lamps[::-1]


@pytest.mark.parametrize(
    ("length", "ticks", "days"),
    [
        (120 * 1_000_000, ["00:00", "00:00:20", "00:00:40"], "2026-11-15, UTC"),
        (8 * 60_000_000, ["00:00", "00:02", "00:04"], "2026-11-15, UTC"),
        (26 * HOUR, ["Nov 15", "06:00", "12:00"], "2026-11-15 to 2026-11-16, UTC"),
        (72 * HOUR, ["Nov 15", "Nov 16", "Nov 17"], "2026-11-15 to 2026-11-17, UTC"),
    ],
)
def test_times_are_told_by_the_clock_and_the_axis_says_the_day(length: int, ticks: list[str], days: str) -> None:
    chart = values_chart("temperature", {"bath": [Reading(START, 1.0, None)]}, Span(START, START + length))
    chart.svg()
    assert [tick.get_text() for tick in chart.axes.get_xticklabels()][:3] == ticks
    assert chart.axes.get_xlabel() == days


def test_any_length_of_time_has_ticks_that_do_not_touch() -> None:
    for exponent in range(0, 87, 3):
        span = Span(START + 1, START + 1 + int(1_000_000 * 1.25**exponent))  # a second to eight years
        axes = values_chart("temperature", {"bath": [Reading(START, 1.0, None)]}, span).axes
        axes.figure.canvas.draw()
        boxes = [label.get_window_extent() for label in axes.get_xticklabels()]
        assert 2 <= len(boxes) <= 8, span
        assert all(left.x1 < right.x0 for left, right in pairwise(boxes)), span


def test_many_windows_are_drawn_without_bands() -> None:
    figures = [Figures(START, 20.0, 19.0, 22.0, 20.4)]
    for count, said in ((3, True), (4, False)):
        chart = windows_chart("temperature", {f"room{n}": figures for n in range(count)}, HOUR, SPAN)
        assert bool(chart.axes.collections) is said
        assert any("range (band)" in each for each in words(chart)) is said


def test_periods_are_told_in_whole_units() -> None:
    told = {86_400_000_000: "1 d", 90 * 60_000_000: "90 min", 1_500_000: "1,500 ms", 30_000_000: "30 s", 7: "7 µs"}
    assert {micros: period(micros) for micros in told} == told


@pytest.mark.filterwarnings("error")
def test_nothing_can_be_drawn_too() -> None:
    assert "temperature" in words(gaps_chart("temperature", {}, SPAN))
    assert "churn" in words(changes_chart("churn", []))
    assert "predicate, changes per 1 h" in words(rates_chart("predicate", {}, HOUR, SPAN))
    assert "temperature" in words(values_chart("temperature", {}, Span(START, START + 1)))
