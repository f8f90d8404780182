"""The report is one page that needs nothing else, escapes what it is given, and says only what the figures say."""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path

import msgspec
import pytest

from bench.samples import HOSTILE, a_run
from tidings.bench.report.findings import Finding, findings, noise
from tidings.bench.report.page import charts_of, render, write_charts, write_report
from tidings.bench.report.tables import summary_table
from tidings.bench.report.words import digits, duration, indicator, listed, moment, span, times
from tidings.bench.results.files import ResultsUnwritable
from tidings.bench.results.measured import Measurement, Run
from tidings.extras import how_to_get
from tidings.model.errors import ExtraMissing

VOID = {"meta", "link", "br", "img", "input", "hr"}


class Page(HTMLParser):
    """Collects text, identifiers and references, and sees that what is opened is closed."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.words: list[str] = []
        self.ids: list[str] = []
        self.references: list[str] = []
        self.tags: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)
        self._note(attrs)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self._note(attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    def _note(self, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            if name in {"href", "src", "xlink:href", "action", "data"}:
                self.references.append(value or "")

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


@pytest.fixture(scope="module")
def html() -> str:
    return render(a_run())


@pytest.fixture(scope="module")
def page(html: str) -> Page:
    return Page(html)


def test_the_page_asks_nobody_for_anything(html: str, page: Page) -> None:
    assert all(each.startswith("#") or each == "data:," for each in page.references)
    assert not re.search(r"url\((?!#)|@import|<script|<iframe|<img", html)
    inside = {each.removeprefix("#") for each in page.references if each.startswith("#")}
    assert inside <= set(page.ids)
    assert len(page.ids) == len(set(page.ids))


def test_what_went_wrong_stands_at_the_top(page: Page) -> None:
    text = page.text
    assert text.index("Wrong answers") < text.index("Time to insert")
    assert "1,000 rows were expected, 998 came" in text
    assert "Not complete" in text
    assert HOSTILE in text


def test_everything_that_comes_from_outside_is_escaped() -> None:
    run = a_run()
    hostile = "</style><script>alert(1)</script>"
    run.name = run.machine["cpu"] = run.versions["x"] = run.git["branch"] = hostile
    run.configuration = {"tests": {hostile: hostile}}
    run.targets = {hostile: {"kind": hostile}, **run.targets}
    run.measurements.append(Measurement(target=hostile, test=hostile, kind="update", n=1, samples=(1.0, 2.0)))
    run.measurements.append(Measurement(target=hostile, test=hostile, kind="update", n=9, samples=(1.0, 2.0)))
    text = render(run)
    assert "<script" not in text
    assert text.count("</style>") == 1
    assert Page(text).text.count(hostile) > 8


def test_targets_stand_side_by_side_with_figures_of_the_run(page: Page) -> None:
    assert "triples tidings blazegraph naive 250" in page.text
    mean = sum(a_run().measurements[0].samples) / 12
    assert digits(mean) in page.text


def test_the_best_of_each_row_is_marked_whatever_is_best_in_others() -> None:
    points = [
        Measurement(target="steady", test="t", kind="subscription", samples=(4.0,) * 20),
        Measurement(target="quick", test="t", kind="subscription", samples=(1.0,) * 18 + (9.0,) * 2),
    ]
    table = summary_table(points)
    assert table is not None
    best = {name.text: [cell.best for cell in cells] for name, cells in table.rows}
    assert best["mean"] == best["median"] == best["least"] == [False, True]
    assert best["95th percentile"] == best["most"] == [True, False]
    assert best["samples"] == [False, False]


def test_the_lighting_experiments_stand_beside_the_published_figures(page: Page) -> None:
    text = page.text
    assert text.count("published 2016") == 2
    assert "541 ms" in text
    assert "117 k" in text
    assert "Roffia" in text


def test_another_size_than_the_papers_is_told(page: Page) -> None:
    run = a_run()
    small = next(run.of("lighting-LAMP"))
    run.measurements = [msgspec.structs.replace(small, n=31, values=small.values | {"subscriptions": 100.0})]
    run.kpis, run.predictions = {}, []
    text = Page(render(run)).text
    assert "but 31 updates and 100 subscriptions: not to be read beside the published figures" in text
    assert "times the 68" not in text
    assert "times the 68" in page.text


def test_predictions_stand_beside_measurements(page: Page) -> None:
    assert "Predicted and measured" in page.text
    assert "lighting-LAMP, n = 310" in page.text


def test_a_good_run_has_no_warnings() -> None:
    run = a_run(troubled=False)
    run.measurements = [each for each in run.measurements if each.target != "naive"]
    text = Page(render(run)).text
    assert "Wrong answers" not in text
    assert "Not measured" not in text
    assert not any(each.warning for each in findings(run))
    assert "gave the answers they should" in text


def test_a_run_that_has_just_begun_has_a_report() -> None:
    run = Run(name="x", started="", seed=1, machine={}, versions={}, git={}, configuration={}, targets={})
    assert "Not complete" in Page(render(run)).text
    assert "not known" in noise(run)


def test_the_page_is_the_same_each_time(html: str) -> None:
    assert render(a_run()) == html


def about_one_test(run: Run, name: str) -> Run:
    """With few charts: drawing takes its time."""
    return msgspec.structs.replace(run, measurements=list(run.of(name)), kpis={}, predictions=[])


def about(run: Run, name: str) -> list[Finding]:
    return [each for each in findings(run) if each.about == name]


def test_findings_follow_the_figures() -> None:
    run = a_run()
    (update,) = about(run, "update")
    assert update.text.startswith("tidings takes")
    assert "blazegraph 3.6 times as long" in update.text
    swap = {"tidings": "naive", "naive": "tidings"}
    run.measurements = [
        msgspec.structs.replace(each, target=swap.get(each.target, each.target)) for each in run.measurements
    ]
    (swapped,) = about(run, "update")
    assert swapped.text.startswith("naive takes")


def test_noise_is_no_finding() -> None:
    points = [
        Measurement(target=target, test="x", kind="update", n=1, samples=tuple(range(90 + shift, 110 + shift)))
        for target, shift in (("a", 0), ("b", 1))
    ]
    run = msgspec.structs.replace(a_run(), measurements=points, kpis={})
    (found,) = about(run, "x")
    assert "b the same, within noise" in found.text


def test_few_samples_are_told() -> None:
    run = a_run(iterations=3)
    assert "Only 3 samples each" in about(run, "update")[0].text


def test_one_target_alone_is_told_without_comparison() -> None:
    run = a_run()
    run.measurements = [each for each in run.measurements if each.target == "tidings" and each.test == "notify"]
    (found,) = about(run, "notify")
    assert found.text.startswith("tidings takes 0.")
    assert found.text.endswith("ms on average.")


def test_losses_are_a_warning() -> None:
    warning, fine = about(a_run(), "Delivery")
    assert warning.warning
    assert "naive lost 3 of 4,120 notifications" in warning.text
    assert "tidings (5,147)" in fine.text


def test_the_files_are_written(tmp_path: Path) -> None:
    run = about_one_test(a_run(), "lighting-LAMP")
    write_report(tmp_path / "report.html", run)
    assert (tmp_path / "report.html").read_text() == render(run)
    written = write_charts(tmp_path / "charts", run, ("svg",))
    assert {each.stem for each in written} == set(charts_of(run))
    (tmp_path / "file").write_text("")
    with pytest.raises(ResultsUnwritable):
        write_report(tmp_path / "file" / "report.html", run)


def test_targets_of_an_experiment_have_their_rates_side_by_side() -> None:
    run = about_one_test(a_run(), "lighting-LAMP")
    assert "lighting-LAMP-rates" not in charts_of(run)
    other = msgspec.structs.replace(next(run.of("lighting-LAMP")), target="naive")
    run.measurements.append(other)
    assert "lighting-LAMP-rates" in charts_of(run)


def test_the_name_of_a_test_cannot_lead_out_of_the_folder() -> None:
    run = a_run()
    point = Measurement(target="tidings", test="../../x", kind="update", n=1, samples=(1.0, 2.0))
    run.measurements = [point]
    assert list(charts_of(run)) == [".._.._x-box"]


def test_without_jinja_it_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ExtraMissing, match=re.escape(how_to_get("bench"))):
        render(a_run())


def test_figures_read_as_people_read_them() -> None:
    assert [duration(ms) for ms in (0.18342, 29.06, 999.96, 1250)] == ["0.183 ms", "29.1 ms", "1,000 ms", "1.25 s"]
    assert [digits(value) for value in (0, 3.14159, 12345.6)] == ["0", "3.14", "12,346"]
    assert [times(3.61), times(114.2)] == ["3.6 times", "114 times"]
    assert [listed([]), listed(["a"]), listed(["a", "b", "c"])] == ["", "a", "a, b and c"]
    assert indicator("Tps", 20_128_475.3) == "20.1 M"
    assert indicator("loss_ratio", 0.025) == "2.5 %"
    assert moment("2026-11-14T09:30:12+01:00") == "2026-11-14 08:30 UTC"
    assert moment("some day") == "some day"
    assert [span(5), span(413), span(7300)] == ["5 s", "6 min 53 s", "2 h 1 min"]
