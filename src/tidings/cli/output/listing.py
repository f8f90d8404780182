"""Lists for people and for programs: columns on a terminal, tab-separated values in a pipe."""

import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import orjson

from tidings.cli.output.paint import harmless, wants_colour
from tidings.cli.output.table import cell_width
from tidings.cli.output.writing import write

_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"


def show_list(head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Write a list. A text of several lines becomes one line."""
    plain = ([harmless(" ".join(cell.split())) for cell in row] for row in rows)
    if sys.stdout.isatty():
        width = shutil.get_terminal_size((100, 24)).columns
        write((line.encode() for line in _columns(head, list(plain), width, wants_colour(sys.stdout))), None)
    else:
        write(("\t".join(row).encode() + b"\n" for row in _chain(head, plain)), None)


def show_json(items: Iterable[Any]) -> None:
    """Write a line of JSON for each item."""
    write((orjson.dumps(each, option=orjson.OPT_APPEND_NEWLINE) for each in items), None)


def tell(told: Any, line: str, *, json: bool) -> None:
    """Write what the broker did: `line` for people, or its JSON answer for programs."""
    if json:
        show_json([told])
    else:
        write([harmless(line).encode() + b"\n"], None)


def _chain(head: Sequence[str], rows: Iterable[list[str]]) -> Iterator[list[str]]:
    yield list(head)
    yield from rows


def _columns(head: Sequence[str], rows: list[list[str]], width: int, colour: bool) -> Iterator[str]:
    """The lines of a list. The last column gets the rest of the line, and ends in an ellipsis if it needs more."""
    widths = [max(map(cell_width, column)) for column in zip(head, *rows, strict=True)]
    bold, plain = (_BOLD, _PLAIN) if colour else ("", "")
    yield f"{bold}{_line(head, widths, width)}{plain}\n"
    for row in rows:
        yield f"{_line(row, widths, width)}\n"


def _line(row: Sequence[str], widths: Sequence[int], width: int) -> str:
    cells = [cell + " " * (size - cell_width(cell)) for cell, size in zip(row, widths, strict=True)]
    line = "  ".join(cells).rstrip()
    if cell_width(line) <= width:
        return line
    return f"{line[: width - 1]}…"
