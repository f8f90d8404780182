"""Writes statistics of the history: as a table for people, CSV, JSON or Parquet."""

import csv
import shutil
import sys
from collections.abc import Iterable, Iterator
from io import StringIO
from itertools import islice
from typing import TYPE_CHECKING, Any

import msgspec

from tidings.cli.output.names import Names
from tidings.cli.output.paint import wants_colour
from tidings.cli.output.table import draw
from tidings.model.results import Solutions
from tidings.model.terms import XSD, Term, literal
from tidings.protocol.instants import shown

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

FORMATS = ("table", "csv", "json", "parquet")
MOST_LINES = 100
"""Rows of a table for people; the other formats have all rows."""
_TYPES = {"bigint": "integer", "double": "double", "timestamp": "dateTime"}


def documents(frame: "DataFrame", chosen: str, output: str | None) -> Iterator[bytes]:
    """The rows in a format, in pieces; a table has only the first `MOST_LINES`."""
    from tidings.spark.sparql.answers import each_row, parquet

    if chosen == "parquet":
        return parquet(frame)
    if chosen == "table":
        return (line.encode() for line in _table(frame, output))
    rows = ([_plain(cell, kind) for cell, (_, kind) in zip(row, frame.dtypes, strict=True)] for row in each_row(frame))
    return (_csv if chosen == "csv" else _json)(frame.columns, rows)


def _table(frame: "DataFrame", output: str | None) -> Iterator[str]:
    """The lines of a table, without the column of graphs if there is only the default graph."""
    from tidings.spark.sparql.answers import each_row

    kept = list(islice(each_row(frame), MOST_LINES))
    places = [place for place, name in enumerate(frame.columns) if name != "graph" or any(row[place] for row in kept)]
    columns = [frame.dtypes[place] for place in places]
    rows = [tuple([_term(row[place], *frame.dtypes[place]) for place in places]) for row in kept]
    width = shutil.get_terminal_size((100, 24)).columns
    colour = output is None and wants_colour(sys.stdout)
    return draw(Solutions(tuple(name for name, _ in columns), rows), Names({}), width=width, colour=colour)


def _term(cell: Any, name: str, kind: str) -> Term | None:
    if cell is None or cell == "":
        return None
    if kind == "string":
        return literal(cell) if name == "publisher" else str(cell)
    text = f"{cell:.6g}" if kind == "double" else shown(cell) if kind == "timestamp" else str(cell)
    return f'"{text}"^^<{XSD}{_TYPES[kind]}>'


def _plain(cell: Any, kind: str) -> Any:
    return shown(cell) if kind == "timestamp" and cell is not None else cell


def _csv(names: list[str], rows: Iterable[list[Any]]) -> Iterator[bytes]:
    sheet = StringIO()
    writer = csv.writer(sheet, lineterminator="\r\n")
    writer.writerow(names)
    for row in rows:
        writer.writerow(row)
        yield sheet.getvalue().encode()
        sheet.seek(0)
        sheet.truncate()
    yield sheet.getvalue().encode()


def _json(names: list[str], rows: Iterable[list[Any]]) -> Iterator[bytes]:
    """An array with an object on each line."""
    before = b"[\n"
    for row in rows:
        yield before + msgspec.json.encode(dict(zip(names, row, strict=True)))
        before = b",\n"
    yield b"\n]\n" if before == b",\n" else b"[]\n"
