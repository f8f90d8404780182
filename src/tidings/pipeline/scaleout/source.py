"""The log as units see it, as a data source of Spark: every change once for each unit that it concerns.

    spark.readStream.format("tidings-routed").option("registry", …).option("commits", 20_000).load("DIR or http://…")

An offset is a commit and a version of the registry. A version is taken in once the batch reaches the commit that its
members begin with; if the batch is past that, what happened since comes with them. The LUTT is brought to the data: a
join with it as a table would have to carry the table to every task of every batch, and to give up what an index knows.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxRows, SupportsTriggerAvailableNow
from pyspark.sql.types import StructType

from tidings.model.errors import TidingsError
from tidings.pipeline.errors import Told
from tidings.pipeline.origin import Mark, Origin, checked, origin_of
from tidings.pipeline.scaleout.registry import Begin, End, Registry
from tidings.pipeline.scaleout.router import Following, Router
from tidings.pipeline.scaleout.rows import CHANGE, PAST, ROUTED, Columns
from tidings.pipeline.source import ROWS, Slice, mark_at, number, slices

FORMAT = "tidings-routed"
COMMITS = 20_000


class Offset(dict[str, int]):
    """How far the job is: a commit, its time, and a version of the registry."""

    def __init__(self, mark: Mark, version: int) -> None:
        super().__init__(seq=mark.seq, time=mark.time, version=version)


@dataclass(frozen=True, slots=True)
class Routed(InputPartition):
    """Commits for the members that there are as of a version."""

    slice: Slice
    version: int
    since: int
    """The commit that the batch begins after."""


@dataclass(frozen=True, slots=True)
class CaughtUp(InputPartition):
    """Commits for the members of one version, which the job is past."""

    slice: Slice
    version: int


@dataclass(frozen=True, slots=True)
class Commands(InputPartition):
    """Who begins and who ends with a version."""

    version: int


@dataclass(frozen=True, slots=True)
class Seeds(InputPartition):
    """A file with what concerns those who begin."""

    version: int
    path: str


class Feed:
    """What a batch consists of, and what each part of it holds. Does the work; knows nothing of Spark's ways."""

    def __init__(self, log: str, registry: str, parts: int = 2) -> None:
        self._log = log
        self._folder = registry
        self._parts = parts

    @property
    def origin(self) -> Origin:
        return origin_of(self._log)

    def next(self, start: Mapping[str, int], end: Mark, commits: int | None, last: int | None = None) -> Offset:
        """Where a batch ends that begins after `start`, if the log ends with `end`, and the registry with `last`."""
        registry = _registry(self._folder)
        version, newest = start["version"], registry.last() if last is None else last
        if commits is not None and end.seq > start["seq"] + commits:
            end = mark_at(self.origin, start["seq"] + commits)
        if end.seq < start["seq"]:
            end = Mark(start["seq"], start["time"])
        while version < newest and registry.version(version + 1).reach <= end.seq:
            version += 1
        return Offset(end, version)

    def parts(self, start: Mapping[str, int], end: Mapping[str, int]) -> list[InputPartition]:
        registry = _registry(self._folder)
        since, until = _mark(start), _mark(end)
        found: list[InputPartition] = [
            Routed(slice_, end["version"], since.seq) for slice_ in slices(since, until, self._parts)
        ]
        for number_ in range(start["version"] + 1, end["version"] + 1):
            version = registry.version(number_)
            found.append(Commands(number_))
            found += [Seeds(number_, str(registry.path / file.path)) for file in version.seeds]
            if version.begins and version.seq < since.seq:
                missed = slices(Mark(version.seq, version.time), since, self._parts)
                found += [CaughtUp(slice_, number_) for slice_ in missed]
        return found

    def read(self, part: InputPartition) -> Iterator[pa.RecordBatch]:
        registry = _registry(self._folder)
        match part:
            case Routed(slice_, version, since):
                router = _following(self._folder).at(version, since)
                yield from self._changes(slice_, router, Columns(), CHANGE)
            case CaughtUp(slice_, version):
                router = _members_of(self._folder, version)
                yield from self._changes(slice_, router, Columns(version), PAST)
            case Commands(version):
                yield _commands(registry, version)
            case Seeds(version, path):
                yield from _seeds(registry, version, Path(path))

    def _changes(self, slice_: Slice, router: Router, columns: Columns, kind: str) -> Iterator[pa.RecordBatch]:
        for entry in checked(self.origin, slice_.start, slice_.end):
            columns.changes(kind, entry.seq, entry.time, router.find(entry.delta.items()))
            if len(columns) >= ROWS:
                yield columns.batch()
        if len(columns):
            yield columns.batch()


def _mark(offset: Mapping[str, int]) -> Mark:
    return Mark(offset["seq"], offset["time"])


def _commands(registry: Registry, number_: int) -> pa.RecordBatch:
    version = registry.version(number_)
    columns = Columns(number_)
    for command in registry.commands(number_):
        match command:
            case Begin(unit, member):
                columns.begin(unit, version.seq, version.time, member)
            case End(unit, spuid, seq):
                columns.end(unit, seq, spuid)
    return columns.batch()


def _seeds(registry: Registry, number_: int, path: Path) -> Iterator[pa.RecordBatch]:
    version = registry.version(number_)
    columns = Columns(number_)
    for batch in pq.ParquetFile(path).iter_batches(ROWS):
        for unit, *quad in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            columns.seed(unit, version.seq, version.time, tuple(quad))
        yield columns.batch()


# A process of Python does one task after another, for many batches: what was read once is kept.


@lru_cache(4)
def _registry(folder: str) -> Registry:
    return Registry(Path(folder))


@lru_cache(4)
def _following(folder: str) -> Following:
    return Following(_registry(folder))


@lru_cache(16)
def _members_of(folder: str, version: int) -> Router:
    """A router for those who begin with a version, and nobody else."""
    router = Router()
    for command in _registry(folder).commands(version):
        if isinstance(command, Begin):
            router.enter(command.unit, command.member)
    return router


# -- Spark's ways -----------------------------------------------------------------------------------------------


class RoutedLog(DataSource):
    """What Spark makes a reader with; register it with `spark.dataSource.register`."""

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def schema(self) -> str:
        return ROUTED

    def reader(self, schema: StructType) -> "BatchReader":
        return BatchReader(self.options)

    def streamReader(self, schema: StructType) -> "StreamReader":  # noqa: N802
        return StreamReader(self.options)


def _feed(options: Mapping[str, str]) -> Feed:
    return Feed(options["path"], options["registry"], number(options, "partitions", 2))


class BatchReader(DataSourceReader):
    """The log as it is now, or to the commit `last`, all at once."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._feed = _feed(options)
        self._last = number(options, "last", 0)

    def partitions(self) -> Sequence[InputPartition]:
        try:
            end = Mark(self._last) if self._last else self._feed.origin.end()
            first = Offset(Mark(), 0)
            return self._feed.parts(first, self._feed.next(first, end, None))
        except TidingsError as error:
            raise Told(error) from error

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return _told(self._feed.read(partition))


class StreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """The log as it grows."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._feed = _feed(options)
        self._after = number(options, "after", 0)
        self._commits = number(options, "commits", COMMITS)
        self._until: tuple[Mark, int] | None = None
        """With `availableNow`: where log and registry ended when the query began."""

    def initialOffset(self) -> dict[str, int]:  # noqa: N802
        return Offset(Mark(self._after), 0)

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        return ReadMaxRows(self._commits)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        try:
            self._until = self._feed.origin.end(), _registry(self._feed._folder).last()
        except TidingsError as error:
            raise Told(error) from error

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:  # noqa: N802
        try:
            end, last = self._until or (self._feed.origin.end(), None)
            commits = None if isinstance(limit, ReadAllAvailable) else self._commits
            return dict(self._feed.next(start, end, commits, last))
        except TidingsError as error:
            raise Told(error) from error

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        try:
            return self._feed.parts(start, end)
        except TidingsError as error:
            raise Told(error) from error

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return _told(self._feed.read(partition))


def _told(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """For errors to cross to the driver in words."""
    try:
        yield from batches
    except TidingsError as error:
        raise Told(error) from error
