"""Charts are well-formed, say what they show, and come out the same each time."""

import sys
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

from bench.samples import a_run
from tidings.bench.report.charts import bar_chart, box_chart, histogram_chart, line_chart, percentile_chart, time_chart
from tidings.bench.report.page import write_chart
from tidings.bench.results.histogram import Histogram
from tidings.bench.results.measured import Measurement, Run
from tidings.drawing import OKABE_ITO, Chart, colours_of
from tidings.extras import how_to_get
from tidings.model.errors import ExtraMissing

NAMES = ("line", "box", "percentiles", "histogram", "time", "bars")
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def run() -> Run:
    return a_run()


def chart_of(run: Run, name: str) -> Chart:
    colours = colours_of(run.targets)
    histograms = {each.target: Histogram.from_json(each.histogram or {}) for each in run.of("notify")}
    match name:
        case "line":
            return line_chart("update", list(run.of("update")), colours, across="triples")
        case "box":
            return box_chart("notify", list(run.of("notify")), colours)
        case "percentiles":
            return percentile_chart("notify", histograms, colours)
        case "histogram":
            return histogram_chart("notify", histograms, colours)
        case "time":
            return time_chart("mixed", list(run.of("mixed")), colours)
        case _:
            return bar_chart("median", {t: h.percentile(50) for t, h in histograms.items()}, colours, unit="ms")


@pytest.fixture(scope="module")
def drawn(run: Run) -> list[Chart]:
    """One of each kind."""
    return [chart_of(run, name) for name in NAMES]


def words(svg: str) -> str:
    return " ".join("".join(each.itertext()) for each in ElementTree.fromstring(svg).iter(f"{SVG}text"))


@pytest.mark.parametrize("name", NAMES)
def test_a_chart_is_well_formed_and_labelled(run: Run, name: str, tmp_path: Path) -> None:
    chart = chart_of(run, name)
    said = words(chart.svg())
    targets = {"tidings", "naive"} if name == "time" else set(run.targets)
    assert all(target in said for target in targets)
    assert chart.title in said
    assert ("updates/s" if name == "time" else "ms") in said
    svg, png = write_chart(chart, tmp_path, name)
    assert svg.read_text() == chart.svg()
    assert png.read_bytes().startswith(b"\x89PNG\r\n")
    assert png.stat().st_size > 5000


@pytest.mark.parametrize("name", NAMES)
def test_a_chart_comes_out_the_same_each_time(run: Run, name: str) -> None:
    one, other = chart_of(run, name), chart_of(a_run(), name)
    assert one.svg() == other.svg()
    assert one.png() == other.png()
    assert one.inline("a") == one.inline("a")


def test_a_target_has_its_colour_everywhere(run: Run, drawn: list[Chart]) -> None:
    colours = colours_of(run.targets)
    assert colours["tidings"] == OKABE_ITO[0]
    assert len(set(colours.values())) == len(run.targets)
    assert all(colours["tidings"] in chart.svg() for chart in drawn)


def test_charts_in_one_page_share_no_names_and_ask_nobody(drawn: list[Chart]) -> None:
    text = [chart.inline(f"c{place}") for place, chart in enumerate(drawn)]
    names = [each.get("id") for one in text for each in ElementTree.fromstring(one).iter() if each.get("id")]
    assert len(names) == len(set(names))
    assert not any("http" in one or "<metadata" in one or "<style" in one for one in text)
    assert all("currentColor" in one and 'role="img"' in one for one in text)


def test_what_a_chart_refers_to_in_a_page_is_there(drawn: list[Chart]) -> None:
    for chart in drawn:
        tree = ElementTree.fromstring(chart.inline("c"))
        names = {each.get("id") for each in tree.iter()}
        for each in tree.iter("use"):
            assert (each.get("href") or "").removeprefix("#") in names


def test_names_that_look_like_markup_or_mathematics_are_names() -> None:
    name = '<b>$x_1$ & "co"\\1</b>'
    points = [Measurement(target=name, test="x", kind="update", n=n, samples=(1.0, 2.0)) for n in (1, 2)]
    chart = line_chart(name, points, colours_of([name]))
    assert words(chart.svg()).count(name) == 2
    inline = ElementTree.fromstring(chart.inline("c"))
    assert (inline.get("aria-label") or "").startswith('<b>$x_1$ & "co"')


def test_lines_that_end_together_have_labels_apart() -> None:
    points = [
        Measurement(target=target, test="x", kind="update", n=n, samples=(5.0 + n / 1000,))
        for target in ("a", "b", "c")
        for n in (1, 2)
    ]
    chart = line_chart("close", points, colours_of("abc"))
    heights = sorted(each.xy[1] for each in chart.axes.texts)  # type: ignore[attr-defined]
    assert all(after - before > 0.05 for before, after in pairwise(heights))


def test_wrong_answers_and_nothing_are_not_drawn(run: Run) -> None:
    colours = colours_of(run.targets)
    wrong = list(run.of("query"))
    assert "naive" not in words(box_chart("query", wrong, colours).svg())
    assert line_chart("nothing", [], colours).svg()
    assert time_chart("nothing", [], colours).svg()


def test_without_the_extra_it_is_told_what_to_install(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ExtraMissing, match="charts need matplotlib") as refused:
        line_chart("x", [], {})
    assert how_to_get("bench") in str(refused.value)
