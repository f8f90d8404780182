"""Shows the progress of a run in the terminal: target, test, amount done, rate, and time left."""

import sys
import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

_EVERY = 5.0


class Terminal:
    """A progress bar on a terminal, otherwise a line now and then."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._console = Console(stderr=True)
        self._quiet = quiet
        self._live = self._console.is_terminal and not quiet
        self._bars = Progress(
            TextColumn("[bold]{task.fields[target]}[/] {task.fields[test]}"),
            BarColumn(),
            TextColumn("{task.fields[rate]:>10} {task.fields[what]}"),
            TimeRemainingColumn(),
            console=self._console,
            transient=True,
        )
        self._task: TaskID | None = None
        self._at = ("", "")
        self._begun = self._said = 0.0

    def __enter__(self) -> "Terminal":
        if self._live:
            self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live:
            self._bars.stop()

    def progress(self, target: str, test: str, done: float, all_: float, what: str) -> None:
        """Show that so much of a total is done; 0 of 0 if a test cannot run on a target."""
        now = time.monotonic()
        if (target, test) != self._at:
            self._at, self._begun = (target, test), now
            self._begin(target, test)
        rate = f"{done / (now - self._begun):,.0f}/s" if now > self._begun and done else ""
        if self._live and self._task is not None:
            self._bars.update(self._task, completed=done, total=all_ or None, what=what, rate=rate)
        elif not self._quiet and now - self._said > _EVERY:
            self._said = now
            share = f"{100 * done / all_:.0f} %" if all_ else f"{done:,.0f}"
            print(f"{target} {test}: {share} {rate} {what}", file=sys.stderr, flush=True)

    def _begin(self, target: str, test: str) -> None:
        if not self._live:
            return
        if self._task is not None:
            self._bars.remove_task(self._task)
        self._task = self._bars.add_task("", total=None, target=target, test=test, what="", rate="")
