"""Figures of a job: how far behind, how fast and how large it is, and which units are busiest. They need no Spark.

A watch reads the registry and the batches as they appear. `tidings stream status`, the progress of a run and its
metrics show its figures.
"""

from collections import Counter, deque
from functools import cached_property
from heapq import nlargest
from pathlib import Path
from statistics import median

import msgspec

from tidings.model.errors import TidingsError
from tidings.spark.log_source.origin import Mark, Origin
from tidings.spark.streaming.monitoring import checkpoint as checkpoints
from tidings.spark.streaming.monitoring.tally import Size, keep, load
from tidings.spark.streaming.output.notifications import Manifest, manifest_of, numbers
from tidings.spark.streaming.subscriptions.registry import Begin, End, Registry
from tidings.spark.streaming.unit import Member

RECENT = 20
"""How many of the last batches count for rates and the hottest units."""
TOP = 10
"""How many units are shown."""
NAMED = 3
"""How many members of a unit are named."""


class Asker(msgspec.Struct, frozen=True):
    spuid: str
    query: str


class UnitFigures(msgspec.Struct, frozen=True):
    unit: int
    rows: int
    """The rows that it got in recent batches."""
    quads: int
    bytes: int
    members: int
    some: tuple[Asker, ...]
    """The first of its members."""


class Figures(msgspec.Struct, frozen=True):
    commit: int
    """The last commit whose notifications are written."""
    time: int
    """The time of that commit, in microseconds since 1970."""
    lag_commits: int | None
    """None without a log, or if it cannot be read."""
    lag_seconds: float | None
    """The time between that commit and the last of the log; None also before the first commit."""
    batch: int
    rows: int
    told: int
    rows_per_second: float
    """The rate of recent batches, over the time that they took."""
    told_per_second: float
    batch_seconds: float
    """The median of the time that recent batches took."""
    partitions: int
    members: int
    units: int
    state_quads: int
    state_bytes: int
    hottest: tuple[UnitFigures, ...]
    largest: tuple[UnitFigures, ...]
    failed: dict[str, str]


class Watch:
    """Watches a job, in its own process or in another one."""

    def __init__(self, checkpoint: Path, out: Path, origin: Origin | None = None) -> None:
        self._checkpoint = checkpoint
        self._out = out
        self._origin = origin
        self.tally = load(checkpoint)
        self._recent: deque[tuple[Manifest, float]] = deque(maxlen=RECENT)
        """The last batches, with the seconds that each took."""
        self._version = 0
        self._members: dict[str, Begin] = {}

    def look(self) -> bool:
        """Read new versions and batches. Returns whether there was a new batch. Raises StreamUnusable."""
        self._follow_registry()
        there = numbers(self._out)
        first = not self._recent
        fresh = [number for number in there if number > self.tally.batch]
        for number in there[-RECENT - len(fresh) :] if first else fresh:
            manifest = manifest_of(self._out, number)
            if manifest is None:
                continue
            if number > self.tally.batch:
                self.tally.add(self._out, manifest)
            place = checkpoints.place(self._checkpoint, number)
            if place is not None:
                self._recent.append((manifest, max(1e-3, manifest.finished - place.started)))
        return bool(fresh)

    def keep(self) -> None:
        """Write the tally, for the next watch."""
        here = {begin.unit for begin in self._members.values()}
        self.tally.sizes = {unit: size for unit, size in self.tally.sizes.items() if unit in here}
        keep(self._checkpoint, self.tally)

    @cached_property
    def _registry(self) -> Registry:
        return Registry(self._checkpoint / "registry")

    def _follow_registry(self) -> None:
        last = self._registry.last()
        for number in range(self._version + 1, last + 1):
            for command in self._registry.commands(number):
                match command:
                    case Begin(_, member):
                        self._members[member.spuid] = command
                    case End(_, spuid, _):
                        self._members.pop(spuid, None)
        self._version = last

    def figures(self) -> Figures:
        place = checkpoints.place(self._checkpoint, checkpoints.finished(self._checkpoint))
        mark = place.mark if place else Mark()
        lag_commits, lag_seconds = self._lag(mark)
        seconds = sum(took for _, took in self._recent) or 1.0
        units = self._units()
        return Figures(
            commit=mark.commit,
            time=mark.time,
            lag_commits=lag_commits,
            lag_seconds=lag_seconds,
            batch=self.tally.batch,
            rows=self.tally.rows,
            told=self.tally.told,
            rows_per_second=sum(manifest.rows for manifest, _ in self._recent) / seconds,
            told_per_second=sum(manifest.told for manifest, _ in self._recent) / seconds,
            batch_seconds=median(took for _, took in self._recent) if self._recent else 0.0,
            partitions=place.partitions if place else 0,
            members=len(self._members.keys() - self.tally.failed.keys()),
            units=len(units),
            state_quads=sum(unit.quads for unit in units),
            state_bytes=sum(unit.bytes for unit in units),
            hottest=tuple(nlargest(TOP, (unit for unit in units if unit.rows), key=lambda unit: unit.rows)),
            largest=tuple(nlargest(TOP, (unit for unit in units if unit.bytes), key=lambda unit: unit.bytes)),
            failed={spuid: why for spuid, why in self.tally.failed.items() if spuid in self._members},
        )

    def _units(self) -> list[UnitFigures]:
        members: dict[int, list[Member]] = {}
        for begin in self._members.values():
            members.setdefault(begin.unit, []).append(begin.member)
        given: Counter[int] = Counter()
        for manifest, _ in self._recent:
            given.update({busy.unit: busy.rows for busy in manifest.hottest})
        none = Size(0, 0)
        return [
            UnitFigures(
                *(unit, given[unit], (size := self.tally.sizes.get(unit, none)).quads, size.bytes, len(there)),
                tuple(Asker(each.spuid, each.text) for each in there[:NAMED]),
            )
            for unit, there in members.items()
        ]

    def _lag(self, mark: Mark) -> tuple[int | None, float | None]:
        if self._origin is None:
            return None, None
        try:
            end = self._origin.end()
        except TidingsError:
            return None, None  # the job itself reports errors of the log
        if end.commit <= mark.commit:
            return 0, 0.0
        return end.commit - mark.commit, (end.time - mark.time) / 1e6 if mark.time else None
