"""`tidings stream status`: prints the state of a job on one page, without Spark."""

from argparse import Namespace
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from tidings.cli.input.identity import lend
from tidings.cli.output.amounts import size
from tidings.cli.output.paint import harmless
from tidings.cli.output.writing import write
from tidings.cli.stream.run import behind
from tidings.protocol.instants import shown

if TYPE_CHECKING:
    from tidings.spark.streaming.monitoring.figures import Figures, UnitFigures

_WIDTH = 80
"""Characters of a query that are shown."""


def status(arguments: Namespace) -> None:
    from tidings.spark.log_source.origin import origin_of
    from tidings.spark.streaming.monitoring.checkpoint import about_of
    from tidings.spark.streaming.monitoring.figures import Watch

    lend(arguments, arguments.log)
    about = about_of(arguments.checkpoint)
    origin = origin_of(arguments.log) if arguments.log else None
    watch = Watch(arguments.checkpoint, arguments.out or Path(about.out), origin)
    watch.look()
    figures = watch.figures()
    if arguments.json:
        write([msgspec.json.format(msgspec.json.encode(figures), indent=2), b"\n"], None)
    else:
        write((f"{line}\n".encode() for line in page(figures)), None)


def page(figures: "Figures") -> Iterator[str]:
    """The lines of the page."""
    at = f", of {shown(figures.time)}" if figures.time else ""
    yield _line("told up to", f"commit {figures.commit:,}{at}")
    if figures.lag_commits is not None:
        yield _line("behind", behind(figures))
    yield _line("batches", f"{figures.batch + 1:,}, the last ones in {figures.batch_seconds:,.2f} s")
    yield _line("rows", f"{figures.rows:,} to units, of late {figures.rows_per_second:,.0f}/s")
    yield _line("told", f"{figures.told:,}, of late {figures.told_per_second:,.0f}/s")
    yield _line("subscriptions", f"{figures.members:,} in {figures.units:,} units")
    yield _line("state", f"{figures.state_quads:,} quads, {size(figures.state_bytes)}, {figures.partitions} partitions")
    yield from _units("hottest units", figures.hottest)
    yield from _units("largest units", figures.largest)
    if figures.failed:
        yield ""
        yield "failed"
        for spuid, reason in figures.failed.items():
            yield f"  {harmless(spuid)}: {harmless(reason)}"


def _units(name: str, units: Iterable["UnitFigures"]) -> Iterator[str]:
    for number, unit in enumerate(units):
        if not number:
            yield ""
            yield name
        what = f"{unit.rows:,} rows, {unit.quads:,} quads, {size(unit.bytes)}, {unit.members:,} subscriptions"
        yield f"  {unit.unit:>8}  {what}"
        for each in unit.some:
            yield f"            {harmless(each.spuid)}  {_short(each.query)}"


def _short(query: str) -> str:
    text = harmless(" ".join(query.split()))
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 1]}…"


def _line(name: str, value: str) -> str:
    return f"  {name:15}{value}"
