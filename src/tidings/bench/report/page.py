"""A run as one self-contained page of HTML: findings in words, tables, charts, and what went wrong."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

import msgspec

from tidings.bench.report.charts import bar_chart, box_chart, histogram_chart, line_chart, percentile_chart, time_chart
from tidings.bench.report.findings import findings, highest_kept, noise, sound, tests_of
from tidings.bench.report.tables import Table, component_table, facts_table, kpi_table, prediction_table, summary_table
from tidings.bench.report.words import ABOUT, ACROSS, LOADS, counted, moment, span
from tidings.bench.results.files import write_whole
from tidings.bench.results.histogram import Histogram
from tidings.bench.results.kpis import kpis
from tidings.bench.results.measured import Measurement, Run
from tidings.bench.results.performance_model import TOTALS, predictions
from tidings.bench.results.published import SPS_MACHINE, SPS_PAPER, Experiment, as_published, experiment_of
from tidings.drawing import Chart, colours_of
from tidings.extras import needing, require


@dataclass(frozen=True, slots=True)
class Section:
    """The section of one test."""

    name: str
    kind: str
    about: str
    tables: list[Table] = field(default_factory=list)
    charts: list[Chart] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def check_formats(formats: tuple[str, ...]) -> None:
    """Raise ExtraMissing if charts could not be drawn, before the run. This imports nothing."""
    without = """(--set 'formats=["csv","json"]' goes without)"""
    if {"svg", "png", "html"} & set(formats):
        require("matplotlib", f"charts need matplotlib {without}", "bench")
    if "html" in formats:
        require("jinja2", f"reports need Jinja {without}", "bench")


def write_report(path: Path, run: Run) -> None:
    """Raises ResultsUnwritable, and ExtraMissing if the extra `bench` is not installed."""
    write_whole(path, render(run))


def write_charts(folder: Path, run: Run, formats: tuple[str, ...] = ("svg", "png")) -> list[Path]:
    """Write each chart of the report to files. Raises ResultsUnwritable, ExtraMissing."""
    named = charts_of(run)
    return [path for name, chart in named.items() for path in write_chart(chart, folder, name, formats)]


def write_chart(chart: Chart, folder: Path, name: str, formats: tuple[str, ...] = ("svg", "png")) -> list[Path]:
    """Write one chart in each of the formats. Raises ResultsUnwritable."""
    paths = [folder / f"{name}.{kind}" for kind in formats]
    for path, kind in zip(paths, formats, strict=True):
        write_whole(path, chart.file(kind))
    return paths


def charts_of(run: Run) -> dict[str, Chart]:
    """The charts by names that are valid file names."""
    found: dict[str, Chart] = {}
    for test in tests_of(run):
        for chart_name, chart in _charts(run, test).items():
            found[f"{_file_name(test)}-{chart_name}"] = chart
    return found


def _file_name(test: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in test) or "_"


def render(run: Run) -> str:
    """The whole page. Raises ExtraMissing."""
    with needing("reports need Jinja", "bench"):
        from jinja2 import Environment, StrictUndefined
        from markupsafe import Markup
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(files(__package__).joinpath("report.html").read_text("utf-8"))
    sections = [_section(run, test) for test in tests_of(run)]
    drawn = {
        (section.name, place): Markup(chart.inline(f"c{number}-{place}"))  # safe: the chart escapes its text
        for number, section in enumerate(sections)
        for place, chart in enumerate(section.charts)
    }
    foretold = run.predictions or predictions(run)
    return template.render(
        run=run,
        findings=findings(run),
        wrong=[each for each in run.measurements if each.wrong],
        colours=colours_of(run.targets),
        sections=sections,
        drawn=drawn,
        foretold=prediction_table([each for each in foretold if each.get("what") in TOTALS]) if foretold else None,
        components=prediction_table(foretold),
        noise=noise(run),
        facts=facts_table(run),
        configuration=msgspec.json.format(msgspec.json.encode(run.configuration), indent=2).decode(),
        began=moment(run.started),
        lasted=span(run.seconds),
    )


def _section(run: Run, test: str) -> Section:
    points = sound(run, test)
    kind = next(run.of(test)).kind
    section = Section(test, kind, ABOUT.get(kind, ""), charts=list(_charts(run, test).values()))
    tables = [summary_table(points)]
    known = _known(run, test)
    if kind == "lighting" and known:
        experiment = experiment_of(test, next(iter(known.values())))
        of_paper = experiment if experiment and experiment.name in test.upper() else None
        tables += [kpi_table(known, of_paper), component_table(points)]
        if of_paper:
            section.notes.append(f"Published: {SPS_PAPER}; {SPS_MACHINE}.")
            section.notes.extend(_scale_notes(points, of_paper))
    section.tables.extend(table for table in tables if table is not None)
    if not points:
        section.notes.append("Nothing here can be read as a time: see the wrong answers above.")
    return section


def _known(run: Run, test: str) -> Mapping[str, Mapping[str, float]]:
    return (run.kpis or kpis(run)).get(test, {})


def _scale_notes(points: list[Measurement], experiment: Experiment) -> list[str]:
    """Notes for measurements of another size than the paper's: their figures are not comparable."""
    others = {
        (each.n or 0, each.values.get("subscriptions", 0.0)) for each in points if not as_published(each, experiment)
    }
    return [
        f"Not of the paper's size, {experiment.updates} updates and {experiment.subscriptions:,} subscriptions, but "
        f"{counted(n, 'update')} and {counted(held, 'subscription')}: not to be read beside the published figures."
        for n, held in sorted(others)
    ]


def _charts(run: Run, test: str) -> dict[str, Chart]:
    points = sound(run, test)
    if not points:
        return {}
    colours = colours_of(dict.fromkeys([*run.targets, *(each.target for each in run.measurements)]))
    kind = points[0].kind
    found: dict[str, Chart] = {}
    timed = [each for each in points if each.samples]
    if len({each.n for each in timed}) > 1:
        about = "99th percentile" if kind in LOADS else "mean time"
        found["line"] = line_chart(f"{test}: {about}", timed, colours, across=ACROSS.get(kind, "n"))
    elif timed and kind not in LOADS:
        found["box"] = box_chart(f"{test}: spread", timed, colours)
    histograms = _histograms(highest_kept(points) if kind == "stress" else points)
    if histograms:
        where = " at the highest rate kept" if kind == "stress" else ""
        found["percentiles"] = percentile_chart(f"{test}: latency{where}", histograms, colours)
        if kind not in LOADS and len(histograms) > 1:
            found["histogram"] = histogram_chart(f"{test}: latencies", histograms, colours)
    rates = {target: known["Ups_client"] for target, known in _known(run, test).items() if "Ups_client" in known}
    if kind == "lighting" and len(rates) > 1:
        found["rates"] = bar_chart(f"{test}: updates a second", rates, colours, unit="updates/s, seen by the client")
    if any(each.timeline for each in points):
        unit = "MB" if kind == "soak" else "updates/s"
        found["time"] = time_chart(f"{test}: over time", points, colours, unit=unit)
    return found


def _histograms(points: list[Measurement]) -> Mapping[str, Histogram]:
    merged: dict[str, Histogram] = {}
    for each in points:
        if each.histogram and each.histogram.get("count"):
            merged.setdefault(each.target, Histogram()).merge(Histogram.from_json(each.histogram))
    return merged
