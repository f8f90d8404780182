"""`tidings history values`, `windows`, `rates`, `churn` and `gaps`: statistics of the history, as tables and charts."""

import re
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

from tidings.cli.history.lakes import graphs_of, instant_of, session_for
from tidings.cli.history.tables import FORMATS, MOST_LINES, documents
from tidings.cli.input.arguments import Parser, UsageError, count
from tidings.cli.input.loading import absolute
from tidings.cli.output.writing import write
from tidings.model.errors import BadRequest
from tidings.model.terms import DEFAULT_GRAPH, Term
from tidings.protocol.instants import read_delay

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from tidings.drawing import Chart
    from tidings.spark.analytics.figures import By, Series, Span
    from tidings.spark.lake.lake import Lake

TOP = 20
CHARTS = ("svg", "png")
_OWN = ("subject", "predicate", "graph", "every", "by", "top", "longer_than", "chart")
_COMMON = {"subject", "predicate", "graph", "chart"}
_TAKEN = {
    "values": _COMMON,
    "windows": _COMMON | {"every"},
    "rates": _COMMON | {"every", "by", "top"},
    "churn": _COMMON | {"top"},
    "gaps": _COMMON | {"longer_than"},
}
_NEEDED = {"values": ("predicate",), "windows": ("predicate", "every"), "gaps": ("predicate", "longer_than")}
_UNITS = {"ms": 1_000, "s": 1_000_000, "m": 60_000_000, "h": 3_600_000_000, "d": 86_400_000_000, "w": 604_800_000_000}
_PART = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,6})?)(ms|[smhdw])")
_LONGEST = 36_600 * _UNITS["d"]


def arguments(parser: Parser) -> None:
    group = parser.add_argument_group("analytics")
    group.add_argument("--subject", metavar="IRI", type=term, action="append", help="of this one; may be given again")
    group.add_argument("--predicate", metavar="IRI", type=term, help="of changes with this predicate")
    group.add_argument("--graph", metavar="IRI", type=graph, help="in this graph; `default` is the one without a name")
    group.add_argument("--every", metavar="DURATION", type=period, help="windows, rates: of this length, as 15m or 1h")
    group.add_argument("--by", choices=("predicate", "graph", "publisher"), help="rates: of each (predicate)")
    group.add_argument("--top", metavar="N", type=count, help=f"churn, rates: only so many, the busiest (churn: {TOP})")
    group.add_argument("--longer-than", metavar="DURATION", type=period, help="gaps: those longer than that, as 1h")
    group.add_argument("--chart", metavar="FILE", help="draw a chart as well, to a file .svg or .png")


def values(arguments: Namespace) -> None:
    from tidings.spark.analytics import figures as analytics
    from tidings.spark.analytics import plots

    _run(arguments, lambda asked: _Figures(analytics.values(*asked), lambda: plots.values(*asked)))


def windows(arguments: Namespace) -> None:
    from tidings.spark.analytics import figures as analytics
    from tidings.spark.analytics import plots

    every = arguments.every
    _run(arguments, lambda asked: _Figures(analytics.windows(*asked, every), lambda: plots.windows(*asked, every)))


def rates(arguments: Namespace) -> None:
    from tidings.spark.analytics import figures as analytics
    from tidings.spark.analytics import plots

    how: tuple[By, int | None, int | None] = (arguments.by or "predicate", arguments.every, arguments.top)
    _run(arguments, lambda asked: _Figures(analytics.rates(*asked, *how), lambda: plots.rates(*asked, *how)))


def churn(arguments: Namespace) -> None:
    from tidings.spark.analytics import figures as analytics
    from tidings.spark.analytics import plots

    top = arguments.top or TOP
    _run(arguments, lambda asked: _Figures(analytics.churn(*asked, top), lambda: plots.churn(*asked, top)))


def gaps(arguments: Namespace) -> None:
    from tidings.spark.analytics import figures as analytics
    from tidings.spark.analytics import plots

    longer = arguments.longer_than
    _run(arguments, lambda asked: _Figures(analytics.gaps(*asked, longer), lambda: plots.gaps(*asked, longer)))


class _Asked(NamedTuple):
    changes: "DataFrame"
    series: "Series"
    span: "Span"


class _Figures(NamedTuple):
    frame: "DataFrame"
    draw: "Callable[[], Chart]"


def _run(arguments: Namespace, figures: Callable[[_Asked], _Figures]) -> None:
    """Compute figures and write them. Invalid arguments are reported before Spark starts."""
    from tidings.spark.analytics.figures import Series, check_known, check_windows
    from tidings.spark.lake.lake import Lake
    from tidings.spark.lake.travel import changes

    _check(arguments)
    chosen = _format(arguments)
    readable = graphs_of(arguments)
    lake = Lake(arguments.lake)
    series = Series(arguments.predicate, tuple(arguments.subject or ()), arguments.graph)
    span = _span(lake, arguments)
    if arguments.every is not None:
        check_windows(span, arguments.every)
    with session_for(arguments) as spark:
        asked = _Asked(changes(spark, lake, readable=readable), series, span)
        found = figures(asked)
        with _kept(found.frame) as frame:
            rows = frame.count()
            if not rows:
                check_known(asked.changes, series)
            write(documents(frame, chosen, arguments.output), arguments.output)
            if arguments.chart is not None:
                write([found.draw().file(_kind(arguments.chart))], arguments.chart)
    if chosen == "table" and rows > MOST_LINES and not arguments.quiet:
        print(f"and {rows - MOST_LINES:,} more; --output FILE.csv, .json or .parquet has all", file=sys.stderr)


@contextmanager
def _kept(frame: "DataFrame") -> Iterator["DataFrame"]:
    """A cached frame, which Spark computes only once for the table and the chart."""
    frame.persist()
    try:
        yield frame
    finally:
        frame.unpersist()


def _check(arguments: Namespace) -> None:
    action = arguments.action
    for name in _OWN:
        given = getattr(arguments, name) is not None
        if given and name not in _TAKEN[action]:
            raise UsageError(f"{_option(name)} does not go with {action}")
        if not given and name in _NEEDED.get(action, ()):
            raise UsageError(f"{action} needs {_option(name)}")
    if arguments.chart is not None:
        _kind(arguments.chart)


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _kind(file: str) -> str:
    kind = PurePath(file).suffix.lower().removeprefix(".")
    if kind not in CHARTS:
        raise UsageError(f"a chart is a file .svg or .png, and not {file}")
    return kind


def _format(arguments: Namespace) -> str:
    """The format of the options, or that of the output file's ending, or the default for a terminal or a pipe."""
    output = arguments.output
    named = None if output in (None, "-") else PurePath(output).suffix.lower().removeprefix(".")
    chosen = arguments.format or named or ("table" if sys.stdout.isatty() else "csv")
    if chosen not in FORMATS:
        raise UsageError(f"figures can be written as {', '.join(FORMATS)}, not as {arguments.format or output}")
    if chosen == "parquet" and output is None and sys.stdout.isatty():
        raise UsageError("Parquet is not for a terminal: give --output FILE")
    return str(chosen)


def _span(lake: "Lake", arguments: Namespace) -> "Span":
    """The time span of the options, as far as the lake reaches: the state after its last commit is not known."""
    from tidings.spark.analytics.figures import Span, span_of

    whole = span_of(lake)
    if arguments.between is None:
        return whole
    since, until = (instant_of(lake, each) for each in arguments.between)
    if since >= until:
        raise UsageError("--between needs two instants, the earlier one first")
    if since >= whole.until or until <= whole.since:
        raise UsageError("the lake has nothing of this time: `tidings history info` says what it has")
    return Span(max(since, whole.since), min(until, whole.until))


# -- arguments -------------------------------------------------------------------------------------------------------


def term(text: str) -> Term:
    """An IRI, with or without the angle brackets, or a blank node."""
    return text if text.startswith("_:") else absolute(text.removeprefix("<").removesuffix(">"))


def graph(text: str) -> Term:
    return DEFAULT_GRAPH if text == "default" else term(text)


def period(text: str) -> int:
    """A length of time in microseconds: `15m`, `1h30m`, `PT15M`, or seconds. Raises UsageError."""
    if _PART.sub("", text) == "" and text:
        micros = sum(round(float(amount) * _UNITS[unit]) for amount, unit in _PART.findall(text))
    else:
        try:
            micros = round(read_delay(text) * _UNITS["s"])
        except BadRequest:
            micros = 0
    if not 1_000 <= micros <= _LONGEST:
        raise UsageError(f"{text!r} is no length of time: write 500ms, 30s, 15m, 1h, 1h30m, 7d or PT15M")
    return micros
