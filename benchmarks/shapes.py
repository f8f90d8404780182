"""Measures shapes of subscriptions, each in its worst case. Updates change one triple, and change it back.

Prints a line per shape on standard error, and one JSON line with these figures for each shape: `us`, microseconds from
an update to its notification; `ratio`, the time of a full evaluation / of an update; `growth`, the time of an update at
the full size / at a tenth of it; `rows`, rows notified per update; `us_a_row`, microseconds per row, if an update
notifies many; `load_seconds`, the time to load the data, if the subscription comes first. Answers are compared with a
full evaluation before times are printed. Times are processor times of this process.
"""

import argparse
import gc
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from measure import NOW, check, report, rounded, say
from shape_table.clock import CLOCK
from shape_table.idioms import IDIOMS
from shape_table.joins import JOINS
from shape_table.mixed import MIXED
from shape_table.nested import NESTED
from shape_table.order import ORDER
from shape_table.paths import PATHS
from shape_table.shape import Shape
from shape_table.spread import SPREAD
from shape_table.summaries import SUMMARIES
from tidings.engine.commit import NOTHING, Commit
from tidings.engine.engine import Engine
from tidings.engine.store.store import Store
from tidings.engine.updates.executor import Core
from tidings.model.terms import Quad
from tidings.model.zset import ZSet

SHAPES: tuple[Shape, ...] = PATHS + JOINS + SUMMARIES + NESTED + MIXED + SPREAD + ORDER + IDIOMS + CLOCK
MANY = 10
"""If an update notifies at least this many rows, the time for each row is printed."""
PORTION = 1000
"""The triples of each commit, if a store is loaded after the subscription."""


@dataclass(frozen=True)
class Measured:
    update: float
    evaluation: float
    rows: float
    load: float


class Watcher:
    """An engine with one subscription, whose notifications are added up."""

    def __init__(self, shape: Shape, size: int) -> None:
        self._text = shape.text(size)
        quads = list(dict.fromkeys(shape.data(size)))
        self.engine = Engine(Core(Store(() if shape.early else quads)))
        self.engine.clock.is_kept = True
        self._now, self._passing = NOW, shape.passing
        subscription, first = self.engine.subscribe(self._text, now=NOW)
        self._id = subscription.id
        self.answer: Counter[Any] = Counter(first)
        self.rows = 0
        self.load = 0.0
        if shape.early:
            start = time.process_time()
            for at in range(0, len(quads), PORTION):
                self._load(quads[at : at + PORTION])
            self.load = time.process_time() - start

    def _load(self, quads: list[Quad]) -> None:
        self._hear(self.engine.absorb(ZSet.change(added=quads), now=NOW))

    def apply(self, text: str) -> float:
        """Let the clock advance, then execute an update. Returns the seconds until the notification."""
        self._now += self._passing
        start = time.process_time()
        tick = self.engine.tick(self._now) if self._passing else NOTHING
        commit = self.engine.apply(text, now=self._now)
        seconds = time.process_time() - start
        self._hear(tick)
        check(bool(commit.delta), f"{text} changes nothing")
        self._hear(commit)
        return seconds

    def _hear(self, commit: Commit) -> None:
        check(not commit.failures, f"the plan fails: {commit.failures}")
        for notification in commit.notifications:
            for row, weight in notification.changes.items():
                self.answer[row] += weight
                self.rows += abs(weight)

    def evaluated(self) -> tuple[Counter[Any], float]:
        """The answer by full evaluation, and the seconds for that."""
        start = time.process_time()
        rows = Counter(self.engine.first_answer(self._text, now=self._now))
        return rows, time.process_time() - start

    def explain(self) -> str:
        return self.engine.explain(self._id).to_text()


def measured(shape: Shape, size: int, *, explain: bool = False) -> Measured:
    """The mean time of updates, after the first third of them, which is for warming up."""
    watcher = Watcher(shape, size)
    gc.collect()
    gc.freeze()
    updates = shape.updates(size)
    ready = len(updates) // 6 * 2
    warm, timed = updates[:ready], updates[ready:]
    for text in warm:
        watcher.apply(text)
    seconds: list[float] = []
    watcher.rows = 0
    for number, text in enumerate(timed):
        seconds.append(watcher.apply(text))
        if number == len(timed) // 2:
            check(+watcher.answer == watcher.evaluated()[0], f"{shape.name}: the folded answer, half-way")
    answer, evaluation = watcher.evaluated()
    check(+watcher.answer == answer, f"{shape.name}: the folded answer")
    if explain:
        say(watcher.explain())
    mean = sum(seconds) / len(seconds)
    return Measured(mean, evaluation, watcher.rows / len(timed), watcher.load)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=100_000, help="triples; updates are measured at a tenth, too")
    parser.add_argument("--only", default="", help="shapes whose names have this in them")
    parser.add_argument("--explain", action="store_true", help="show the plans")
    options = parser.parse_args()
    figures = {}
    for shape in _chosen(options.only):
        small = measured(shape, options.size // 10)
        found = measured(shape, options.size, explain=options.explain)
        figures[shape.name] = _figures(shape, small, found)
    report(size=options.size, **figures)


def _chosen(part: str) -> Sequence[Shape]:
    return [shape for shape in SHAPES if part in shape.name]


def _figures(shape: Shape, small: Measured, found: Measured) -> dict[str, float]:
    ratio, growth = found.evaluation / found.update, found.update / small.update
    per_row = f", {found.update * 1e6 / found.rows:.1f} µs each" if found.rows >= MANY else ""
    load = f", loaded in {found.load:.1f} s" if shape.early else ""
    say(
        f"{shape.name:34} {found.update * 1e6:11,.0f} µs   ratio {ratio:9,.1f}   growth {growth:7.1f}"
        f"   rows told {found.rows:7,.1f}{per_row}{load}"
    )
    figures = {"us": found.update * 1e6, "ratio": ratio, "growth": growth, "rows": found.rows}
    if found.rows >= MANY:
        figures["us_a_row"] = found.update * 1e6 / found.rows
    if shape.early:
        figures["load_seconds"] = found.load
    return {name: rounded(figure, 1) for name, figure in figures.items()}


if __name__ == "__main__":
    main()
