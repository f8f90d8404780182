"""The progress bar on stderr while a large file is read."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn


@contextmanager
def bar(name: str, size: int | None) -> Iterator[Callable[[int, int], None]]:
    """A progress bar over the bytes of a file. The caller calls the function with the bytes and quads read so far."""
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TextColumn("{task.fields[quads]:,} quads, {task.fields[rate]:,.0f}/s"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(name, total=size, quads=0, rate=0.0)

        def tell(position: int, quads: int) -> None:
            elapsed = progress.tasks[task].elapsed or 0.0
            progress.update(task, completed=position, quads=quads, rate=quads / elapsed if elapsed else 0.0)

        yield tell
