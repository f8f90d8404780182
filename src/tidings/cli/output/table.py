"""A table for people, written while the rows come: the first rows decide the widths, and longer cells are folded.

    column width = min(longest of the first rows, a fair share of the terminal)

IRIs lose their middle instead, because their ends distinguish them. If the terminal is too narrow for columns, each
cell gets a line of its own.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from tidings.cli.output.names import Names, is_number
from tidings.model.results import Row, Solutions
from tidings.model.terms import Term

SAMPLE = 500
"""Rows that decide the widths, before the first one is written."""
MOST_LINES = 8
"""Lines of one cell; a longer value ends in an ellipsis. The other formats have all of it."""
_GAP = "  "
_LEAST = 6
_BOLD, _DIM, _IRI, _PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[36m", "\x1b[0m"


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    width: int
    right: bool


def draw(solutions: Solutions, names: Names, *, width: int, colour: bool) -> Iterator[str]:
    """The lines of a table, each with its line end: two for the head, then those of the rows."""
    rows = iter(solutions.rows)
    sample = list(islice(rows, SAMPLE))
    if len(solutions.variables) * (_LEAST + len(_GAP)) > width + len(_GAP):
        yield from _records(solutions.variables, sample, rows, names, colour)
        return
    columns = _columns(solutions.variables, sample, names, width)
    yield _painted(_GAP.join(_padded(column.name, column) for column in columns).rstrip(), _BOLD, colour) + "\n"
    yield _painted(_GAP.join("─" * column.width for column in columns), _DIM, colour) + "\n"
    for row in _chain(sample, rows):
        yield from _row(row, columns, names, colour)


def _chain(sample: list[Row], rows: Iterator[Row]) -> Iterator[Row]:
    yield from sample
    sample.clear()
    yield from rows


def _columns(variables: Sequence[str], sample: list[Row], names: Names, width: int) -> list[Column]:
    cells = [[term for row in sample if (term := row[place]) is not None] for place in range(len(variables))]
    wanted = [
        max(cell_width(f"?{name}"), *(cell_width(names[term]) for term in column), 1)
        for name, column in zip(variables, cells, strict=True)
    ]
    return [
        Column(f"?{name}", size, bool(column) and all(map(is_number, column)))
        for name, size, column in zip(variables, fit(wanted, width), cells, strict=True)
    ]


def fit(wanted: Sequence[int], width: int) -> list[int]:
    """Widths that fit beside each other: those above a common limit are reduced to it."""
    room = width - len(_GAP) * (len(wanted) - 1)
    ceiling = max(wanted, default=0)
    if sum(wanted) <= room:
        return list(wanted)
    low, high = 1, ceiling
    while low < high:
        middle = (low + high + 1) // 2
        if sum(min(size, middle) for size in wanted) <= room:
            low = middle
        else:
            high = middle - 1
    return [min(size, low) for size in wanted]


def _row(row: Row, columns: list[Column], names: Names, colour: bool) -> Iterator[str]:
    folded = [
        [""] if term is None else cell(term, names[term], column.width)
        for term, column in zip(row, columns, strict=True)
    ]
    styles = ["" if term is None else _style(term) for term in row]
    for number in range(max(map(len, folded), default=1)):
        cells = [
            _painted(_padded(lines[number] if number < len(lines) else "", column), style, colour)
            for lines, column, style in zip(folded, columns, styles, strict=True)
        ]
        line = _GAP.join(cells)
        yield (line if colour else line.rstrip()) + "\n"


def _records(
    variables: Sequence[str], sample: list[Row], rows: Iterator[Row], names: Names, colour: bool
) -> Iterator[str]:
    for number, row in enumerate(_chain(sample, rows), 1):
        yield _painted(f"── {number} ", _DIM, colour) + "\n"
        for name, term in zip(variables, row, strict=True):
            if term is not None:
                yield f"{_painted(f'?{name}', _BOLD, colour)} {_painted(names[term], _style(term), colour)}\n"


def _style(term: str) -> str:
    return _IRI if term[0] == "<" else _DIM if term[0] == "_" else ""


def _painted(text: str, style: str, colour: bool) -> str:
    return f"{style}{text}{_PLAIN}" if colour and style else text


def _padded(text: str, column: Column) -> str:
    missing = " " * (column.width - cell_width(text))
    return missing + text if column.right else text + missing


def cell_width(text: str) -> int:
    """The width of a text in columns of the terminal."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def cell(term: Term, shown: str, width: int) -> list[str]:
    """The lines of a cell: one for an IRI, as many as needed for other terms."""
    return [squeezed(shown, width)] if term[0] == "<" else fold(shown, width)


def squeezed(text: str, width: int) -> str:
    """The text without its middle if it is too wide. Of an IRI, what follows the last `/` or `#` stays if it can."""
    if cell_width(text) <= width:
        return text
    room = width - 1
    name = cell_width(text[max(map(text.rfind, "/#:")) :])
    behind = max(name, room // 3) if name <= room * 3 // 4 else (room + 1) // 2
    return f"{_part(text, room - behind)}…{_part(text[::-1], behind)[::-1]}"


def _part(text: str, width: int) -> str:
    """The beginning of a text, as far as it fits."""
    if not width:
        return ""
    part = _chopped(text, width)[0]
    return part if cell_width(part) <= width else ""


def fold(text: str, width: int) -> list[str]:
    """The text in lines of at most this width."""
    if cell_width(text) <= width:
        return [text]
    lines = _chopped(text, width)
    if len(lines) > MOST_LINES:
        last = _chopped(lines[MOST_LINES - 1], max(1, width - 1))[0]
        return [*lines[: MOST_LINES - 1], f"{last}…"]
    return lines


def _chopped(text: str, width: int) -> list[str]:
    if text.isascii():
        return [text[start : start + width] for start in range(0, len(text), width)]
    from rich.cells import chop_cells

    return chop_cells(text, max(2, width))
