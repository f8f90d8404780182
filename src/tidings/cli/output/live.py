"""A live answer for people: a table with new rows in green, and removed rows in red before they vanish.

The state needs no terminal: `view` draws it at an instant, whenever the caller wants a frame.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tidings.cli.output.names import Names, is_number
from tidings.cli.output.table import cell_width, fit, squeezed
from tidings.cli.output.telling import in_order
from tidings.model.results import Row

SHOWN_FOR = 2.0
"""Seconds for which a change is highlighted."""
_AROUND = 5
"""Lines that are not rows: head, rule, note, status and the cursor's own."""


@dataclass(slots=True)
class Line:
    """A row of the table; `changed` is when it was added or removed."""

    row: Row
    count: int
    changed: float | None = None
    gone: bool = False


@dataclass(slots=True)
class LiveTable:
    """The answer as it is shown."""

    names: Names
    variables: tuple[str, ...] = ()
    lines: dict[Row, Line] = field(default_factory=dict)
    rows: int = 0
    sequence: int = -1
    commit: int = 0
    latency: float | None = None
    added: int = 0
    removed: int = 0
    trouble: str = ""
    mended: int = 0

    def take(
        self,
        variables: tuple[str, ...],
        weights: Counter[Row],
        *,
        sequence: int,
        commit: int,
        latency: float,
        now: float,
    ) -> None:
        """Apply a change. The first one is the whole answer."""
        first = self.sequence < 0
        self.variables, self.sequence, self.commit = variables, sequence, commit
        self.added = sum(weight for weight in weights.values() if weight > 0)
        self.removed = -sum(weight for weight in weights.values() if weight < 0)
        self.rows += self.added - self.removed
        self.latency = None if first else latency
        for row in in_order(weights):
            line = self.lines.setdefault(row, Line(row, 0))
            line.count += weights[row]
            line.gone = line.count <= 0
            line.changed = None if first else now

    def expire(self, now: float) -> bool:
        """Forget changes that were highlighted long enough; whether there were any."""
        over = [line for line in self.lines.values() if line.changed is not None and now - line.changed >= SHOWN_FOR]
        for line in over:
            line.changed = None
            if line.gone:
                del self.lines[line.row]
        return bool(over)

    def view(self, height: int, width: int) -> RenderableType:
        """The present table, in at most `height` lines of `width` columns."""
        room = max(1, height - _AROUND)
        shown = list(self._chosen(room))
        rest = len(self.lines) - len(shown)
        parts: list[RenderableType] = [self._drawn(shown, width)] if self.variables else []
        if rest > 0:
            parts.append(Text(f"… and {rest:,} more", style="dim"))
        style = "bold yellow" if self.trouble else "dim"
        return Group(*parts, Text(self.status(), style=style, no_wrap=True, overflow="ellipsis"))

    def _drawn(self, shown: list[Line], width: int) -> Table:
        """A table of these lines. If there is not enough room, IRIs lose their middle, and other terms their end."""
        table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
        cells = [self._cells(line) for line in shown]
        wanted = [
            max(cell_width(f"?{name}"), *(row[place].cell_len for row in cells), 1)
            for place, name in enumerate(self.variables)
        ]
        widths = fit(wanted, width)
        for place, name in enumerate(self.variables):
            right = bool(shown) and all((term := line.row[place]) is None or is_number(term) for line in shown)
            table.add_column(f"?{name}", justify="right" if right else "left", no_wrap=True, overflow="ellipsis")
        for line, row in zip(shown, cells, strict=True):
            for place, term in enumerate(line.row):
                if term is not None and term[0] == "<" and row[place].cell_len > widths[place]:
                    row[place] = Text(squeezed(row[place].plain, widths[place]))
            table.add_row(*row, style=_style(line))
        return table

    def _chosen(self, room: int) -> Iterator[Line]:
        """All lines if there is room; otherwise those that changed last, then others."""
        if len(self.lines) <= room:
            return iter(self.lines.values())
        changed = sorted((line for line in self.lines.values() if line.changed), key=lambda line: -(line.changed or 0))
        chosen = changed[:room]
        for line in self.lines.values():
            if len(chosen) >= room:
                break
            if line.changed is None:
                chosen.append(line)
        return iter(chosen)

    def _cells(self, line: Line) -> list[Text]:
        cells = [Text("" if term is None else self.names[term]) for term in line.row]
        if line.count > 1 and cells:
            cells[-1].append(f"  ×{line.count}", style="dim")
        return cells

    def hear(self, trouble: str) -> bool:
        """Note the trouble with the connection, if any; whether it has changed."""
        if trouble == self.trouble:
            return False
        self.mended += not trouble
        self.trouble = trouble
        return True

    def status(self) -> str:
        """The status line below the table."""
        parts = [self.trouble or (f"live, connected again {_times(self.mended)}" if self.mended else "live")]
        if self.sequence < 0:
            return f"{parts[0]}: waiting for the first answer"
        parts.append(f"{self.rows:,} {'row' if self.rows == 1 else 'rows'}")
        if self.latency is not None:
            parts.append(f"+{self.added:,} -{self.removed:,}")
        parts += [f"sequence {self.sequence:,}", f"commit {self.commit:,}"]
        if self.latency is not None:
            parts.append(f"latency {self.latency * 1000:,.1f} ms")
        return " · ".join(parts)


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number:,} times"


def _style(line: Line) -> str:
    if line.changed is None:
        return ""
    return "red strike" if line.gone else "green"
