"""The progress of a load: a bar on a terminal, otherwise a line now and then."""

import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from types import TracebackType

_BETWEEN_LINES = 10.0


class Tempo:
    """A context manager that shows progress from the call of `begin` on."""

    def __init__(self, name: str, *, quiet: bool) -> None:
        self._name = name
        self._quiet = quiet
        self._stack = ExitStack()
        self._bar: Callable[[int, int], None] | None = None
        self._started = self._told = 0.0
        self._total = self._position = self._statements = 0

    def __enter__(self) -> "Tempo":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def begin(self, total: int, position: int, statements: int) -> None:
        """Begin with the size of the file (0 if unknown), and the bytes and statements that were loaded before."""
        if self._started:
            return
        self._total, self._position, self._statements = total, position, statements
        self._started = self._told = time.monotonic()
        if not self._quiet and sys.stderr.isatty():
            from tidings.cli.output.progress import bar

            self._bar = self._stack.enter_context(bar(self._name, total or None))

    def tell(self, position: int, statements: int) -> None:
        """Show the number of bytes read and statements loaded so far."""
        now = time.monotonic()
        if self._bar is not None:
            self._bar(position, statements - self._statements)
        elif not self._quiet and now - self._told >= _BETWEEN_LINES:
            self._told = now
            print(self._line(position, statements, now - self._started), file=sys.stderr, flush=True)

    def _line(self, position: int, statements: int, took: float) -> str:
        rate = (statements - self._statements) / took
        said = f"{self._name}: {statements:,} statements, {rate:,.0f} a second"
        if position > self._position:
            left = took * (self._total - position) / (position - self._position)
            said += f", {100 * position / self._total:.0f} %, about {left:,.0f} s to go"
        return said
