"""The log as a data source of Spark, with every change once for each unit that it concerns.

    spark.readStream.format("tidings-routed").option("registry", …).option("commits", 20_000).load("DIR or http://…")

An offset is a commit and a version of the registry. A version takes effect in the batch that reaches the commit with
which its members begin; if the job is past that commit, the batch also has the changes since. Each task has the LUTT: a
join with a table of its entries would send the table to every task of every batch, and could not use its index.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import TypeAlias, assert_never

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxRows, SupportsTriggerAvailableNow
from pyspark.sql.types import StructType

from tidings.engine.lutt import Items
from tidings.model.errors import TidingsError
from tidings.spark.errors import WorkerError
from tidings.spark.log_source.data_source import ROWS, Slice, mark_at, mark_of, number, offset_of, slices
from tidings.spark.log_source.origin import Mark, Origin, checked, origin_of
from tidings.spark.streaming.input import unit_rows
from tidings.spark.streaming.input.unit_rows import (
    ROUTED,
    Addressed,
    BeginRow,
    EndRow,
    SeedRow,
    packed_batch,
    routed_batch,
)
from tidings.spark.streaming.packs import PACKED
from tidings.spark.streaming.router import Following, Router
from tidings.spark.streaming.subscriptions.registry import Begin, End, Registry

FORMAT = "tidings-routed"
COMMITS = 20_000

RowsOfCommit: TypeAlias = Callable[[int, int, dict[int, Items]], Iterator[Addressed]]
"""A function from the number and time of a commit, and its changes by unit, to rows."""


class Offset(dict[str, int]):
    """The progress of the job: a commit, its time, and a version of the registry."""

    def __init__(self, mark: Mark, version: int) -> None:
        super().__init__(**offset_of(mark), version=version)


@dataclass(frozen=True, slots=True)
class Commits(InputPartition):
    """A slice of commits, for the members as of a version."""

    slice: Slice
    version: int
    since: int
    """The commit after which the batch begins."""


@dataclass(frozen=True, slots=True)
class CaughtUp(InputPartition):
    """A slice of earlier commits, for the members that begin late, in one version."""

    slice: Slice
    version: int


@dataclass(frozen=True, slots=True)
class Commands(InputPartition):
    """The members that begin or end in a version."""

    version: int


@dataclass(frozen=True, slots=True)
class Seeds(InputPartition):
    """A file with seeds of the members that begin."""

    version: int
    path: str


class Feed:
    """Divides a batch into parts, and reads each part. It does not depend on the interface of Spark's readers."""

    def __init__(self, log: str, registry: str, parts: int = 2) -> None:
        self._log = log
        self._folder = registry
        self._parts = parts

    @property
    def origin(self) -> Origin:
        return origin_of(self._log)

    @property
    def closed(self) -> bool:
        """Whether the job is being stopped."""
        return _registry(self._folder).closed

    def next(self, start: Mapping[str, int], end: Mark, commits: int | None, last: int | None = None) -> Offset:
        """The end of the batch that begins after `start`, if the log ends with `end`, and the registry with `last`."""
        registry = _registry(self._folder)
        version, newest = start["version"], registry.last() if last is None else last
        if commits is not None and end.commit > start["seq"] + commits:
            end = mark_at(self.origin, start["seq"] + commits)
        if end.commit < start["seq"]:
            end = mark_of(start)
        while version < newest and registry.version(version + 1).reach <= end.commit:
            version += 1
        return Offset(end, version)

    def parts(self, start: Mapping[str, int], end: Mapping[str, int]) -> list[InputPartition]:
        registry = _registry(self._folder)
        since, until = mark_of(start), mark_of(end)
        found: list[InputPartition] = [
            Commits(slice_, end["version"], since.commit) for slice_ in slices(since, until, self._parts)
        ]
        for number_ in range(start["version"] + 1, end["version"] + 1):
            version = registry.version(number_)
            found.append(Commands(number_))
            found += [Seeds(number_, str(registry.path / file.path)) for file in version.seeds]
            if version.begins and version.commit < since.commit:
                missed = slices(Mark(version.commit, version.time), since, self._parts)
                found += [CaughtUp(slice_, number_) for slice_ in missed]
        return found

    def read(self, part: InputPartition) -> Iterator[list[Addressed]]:
        registry = _registry(self._folder)
        match part:
            case Commits(slice_, version, since):
                router = _following(self._folder).at(version, since)
                yield from self._routed(slice_, router, unit_rows.changes)
            case CaughtUp(slice_, version):
                router = _members_of(self._folder, version)
                yield from self._routed(slice_, router, partial(unit_rows.past, version))
            case Commands(version):
                yield _commands(registry, version)
            case Seeds(version, path):
                yield from _seeds(registry, version, Path(path))

    def _routed(self, slice_: Slice, router: Router, rows_of: RowsOfCommit) -> Iterator[list[Addressed]]:
        found: list[Addressed] = []
        for entry in checked(self.origin, slice_.start, slice_.end):
            found.extend(rows_of(entry.commit, entry.time, router.find(entry.delta.items())))
            if len(found) >= ROWS:
                yield found
                found = []
        yield found


def _commands(registry: Registry, number_: int) -> list[Addressed]:
    version = registry.version(number_)
    found: list[Addressed] = []
    for command in registry.commands(number_):
        match command:
            case Begin(unit, member):
                found.append((unit, BeginRow(number_, version.commit, version.time, member)))
            case End(unit, spuid, commit):
                found.append((unit, EndRow(number_, commit, spuid)))
            case _:
                assert_never(command)
    return found


def _seeds(registry: Registry, number_: int, path: Path) -> Iterator[list[Addressed]]:
    version = registry.version(number_)
    for batch in pq.ParquetFile(path).iter_batches(ROWS):
        quads = zip(*(column.to_pylist() for column in batch.columns), strict=True)
        yield [(unit, SeedRow(number_, version.commit, version.time, *quad)) for unit, *quad in quads]


# A Python process runs many tasks of many batches, so it caches what it has read.


@lru_cache(4)
def _registry(folder: str) -> Registry:
    return Registry(Path(folder))


@lru_cache(4)
def _following(folder: str) -> Following:
    return Following(_registry(folder))


@lru_cache(16)
def _members_of(folder: str, version: int) -> Router:
    """A router for the members that begin in a version only."""
    router = Router()
    for command in _registry(folder).commands(version):
        if isinstance(command, Begin):
            router.enter(command.unit, command.member)
    return router


# -- the data source --------------------------------------------------------------------------------------------


class RoutedLog(DataSource):
    """The data source. Register it with `spark.dataSource.register`."""

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def schema(self) -> str:
        return PACKED if "packed" in self.options else ROUTED

    def reader(self, schema: StructType) -> "BatchReader":
        return BatchReader(self.options)

    def streamReader(self, schema: StructType) -> "StreamReader":  # noqa: N802
        return StreamReader(self.options)


def _feed(options: Mapping[str, str]) -> Feed:
    return Feed(options["path"], options["registry"], number(options, "partitions", 2))


class BatchReader(DataSourceReader):
    """Reads the whole log up to the present, or the commits in (after, last], as one batch."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._feed = _feed(options)
        self._made = packed_batch if "packed" in options else routed_batch
        self._after = number(options, "after", 0)
        self._last = number(options, "last", 0) if "last" in options else None

    def partitions(self) -> Sequence[InputPartition]:
        try:
            end = self._feed.origin.end() if self._last is None else Mark(self._last)
            first = Offset(Mark(self._after), 0)
            return self._feed.parts(first, self._feed.next(first, end, None))
        except TidingsError as error:
            raise WorkerError(error) from error

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return _batches(self._feed.read(partition), self._made)


class StreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reads the log as a stream."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._feed = _feed(options)
        self._made = packed_batch if "packed" in options else routed_batch
        self._after = number(options, "after", 0)
        self._commits = number(options, "commits", COMMITS)
        self._until: tuple[Mark, int] | None = None
        """With `availableNow`, the ends of the log and the registry when the query began."""

    def initialOffset(self) -> dict[str, int]:  # noqa: N802
        return Offset(Mark(self._after), 0)

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        return ReadMaxRows(self._commits)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        try:
            self._until = self._feed.origin.end(), _registry(self._feed._folder).last()
        except TidingsError as error:
            raise WorkerError(error) from error

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:  # noqa: N802
        try:
            if self._feed.closed:
                return start
            end, last = self._until or (self._feed.origin.end(), None)
            commits = None if isinstance(limit, ReadAllAvailable) else self._commits
            return dict(self._feed.next(start, end, commits, last))
        except TidingsError as error:
            raise WorkerError(error) from error

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        try:
            return self._feed.parts(start, end)
        except TidingsError as error:
            raise WorkerError(error) from error

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return _batches(self._feed.read(partition), self._made)


def _batches(
    parts: Iterator[list[Addressed]], made: Callable[[list[Addressed]], pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """The parts as Arrow batches. Errors become WorkerError, so that the driver can recognise them."""
    try:
        for part in parts:
            if part:
                yield made(part)
    except TidingsError as error:
        raise WorkerError(error) from error
