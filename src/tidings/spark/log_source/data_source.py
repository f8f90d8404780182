"""The commit log as a data source of Spark, `format("tidings-log")`, for batches and for streams.

    spark.read.format("tidings-log").load("DIR or http://…")           options: after, last, partitions, graphs
    spark.readStream.format("tidings-log").option("commits", 200_000)  the most commits of a micro-batch

A row is a change. If the option `graphs` (a JSON list) names some graphs, a commit that changes none of them has a row
with the operation `none`. An offset is a commit with its time. A commit that the broker is still writing is not read. A
log that is damaged, has gaps or is another one makes the job fail before it writes anything.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import msgspec
import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxRows, SupportsTriggerAvailableNow
from pyspark.sql.types import StructType

from tidings.log.entry import Entry
from tidings.model.access import Graphs
from tidings.model.errors import BadRequest, TidingsError
from tidings.model.graph_patterns import read_graphs, written
from tidings.protocol.entry_lines import NONE
from tidings.spark.errors import WorkerError
from tidings.spark.log_source.origin import Mark, Origin, checked, origin_of

FORMAT = "tidings-log"
SCHEMA = "seq bigint, time timestamp, op string, s string, p string, o string, g string, by string"
ARROW = pa.schema(
    [("seq", pa.int64()), ("time", pa.timestamp("us", "UTC")), *((name, pa.string()) for name in ("op", *"spog", "by"))]
)
ROWS = 20_000
"""The approximate number of rows of an Arrow batch: a commit is not divided."""
SMALL = 2_000
"""The fewest commits for each task of a range."""
COMMITS = 200_000
_NOTHING = (None,) * 5


@dataclass(frozen=True, slots=True)
class Slice(InputPartition):
    """The commits in (start, end], which one task reads. A boundary within a batch has no time, and is not checked."""

    start: Mark
    end: Mark


def slices(start: Mark, end: Mark, parts: int) -> list[Slice]:
    """A range divided into `parts` slices, or fewer if it is small."""
    count = end.commit - start.commit
    parts = max(1, min(parts, count // SMALL))
    edges = [start, *(Mark(start.commit + count * n // parts) for n in range(1, parts)), end]
    return [Slice(*pair) for pair in pairwise(edges)] if count > 0 else []


def batches(entries: Iterator[Entry], rows: int = ROWS) -> Iterator[pa.RecordBatch]:
    """The changes of commits as Arrow batches. Building them by column is three times as fast as by row."""
    columns: tuple[list[Any], ...] = tuple([] for _ in ARROW)
    seqs, times, ops, ss, ps, os, gs, bys = columns
    for entry in entries:
        publisher = entry.publisher
        for (s, p, o, g), weight in entry.delta.items():
            seqs.append(entry.commit)
            times.append(entry.time)
            ops.append("add" if weight > 0 else "remove")
            ss.append(s)
            ps.append(p)
            os.append(o)
            gs.append(g)
            bys.append(publisher)
        if not entry.delta:
            for column, value in zip(columns, (entry.commit, entry.time, NONE, *_NOTHING), strict=True):
                column.append(value)
        if len(seqs) >= rows:
            yield _batch(columns)
            for column in columns:
                column.clear()
    if seqs:
        yield _batch(columns)


def _batch(columns: Sequence[list[Any]]) -> pa.RecordBatch:
    arrays = [pa.array(column, field.type) for column, field in zip(columns, ARROW, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=ARROW)


def read_slice(log: str, graphs: Graphs, partition: InputPartition) -> Iterator[pa.RecordBatch]:
    """The changes of a slice, for a task of Spark."""
    assert isinstance(partition, Slice)
    try:
        yield from batches(checked(origin_of(log, graphs), partition.start, partition.end))
    except TidingsError as error:
        raise WorkerError(error) from error


class TidingsLog(DataSource):
    """The data source. Register it with `spark.dataSource.register`."""

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def schema(self) -> str:
        return SCHEMA

    def reader(self, schema: StructType) -> "BatchReader":
        return BatchReader(self.options)

    def streamReader(self, schema: StructType) -> "StreamReader":  # noqa: N802
        return StreamReader(self.options)


class BatchReader(DataSourceReader):
    """Reads all commits up to the present, or those in (after, last]."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._log = _log(options)
        self._graphs = graphs_in(options)
        self._after = number(options, "after", 0)
        self._last = number(options, "last", 0)
        self._parts = number(options, "partitions", 2)

    def partitions(self) -> Sequence[InputPartition]:
        try:
            end = origin_of(self._log, self._graphs).end()
        except TidingsError as error:
            raise WorkerError(error) from error
        if self._last and self._last < end.commit:
            end = Mark(self._last)
        return slices(Mark(self._after), end, self._parts)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return read_slice(self._log, self._graphs, partition)


class StreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reads commits as a stream."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._log = _log(options)
        self._graphs = graphs_in(options)
        self._after = number(options, "after", 0)
        self._commits = number(options, "commits", COMMITS)
        self._parts = number(options, "partitions", 2)
        self._until: Mark | None = None
        """With `availableNow`, the last commit when the query began."""

    def initialOffset(self) -> dict[str, int]:  # noqa: N802
        return offset_of(Mark(self._after))

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        return ReadMaxRows(self._commits)  # Spark has no limit for commits; it passes this number to `latestOffset`

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        self._until = self._end()

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:  # noqa: N802
        end = self._until or self._end()
        most = end.commit if isinstance(limit, ReadAllAvailable) else start["seq"] + self._commits
        if end.commit > most:
            end = self._mark(most)
        if end.commit <= start["seq"]:
            return start
        return offset_of(end)

    def reportLatestOffset(self) -> dict[str, int]:  # noqa: N802
        return offset_of(self._until or self._end())

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        return slices(mark_of(start), mark_of(end), self._parts)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return read_slice(self._log, self._graphs, partition)

    def _end(self) -> Mark:
        try:
            return origin_of(self._log, self._graphs).end()
        except TidingsError as error:
            raise WorkerError(error) from error

    def _mark(self, commit: int) -> Mark:
        try:
            return mark_at(origin_of(self._log, self._graphs), commit)
        except TidingsError as error:
            raise WorkerError(error) from error


def mark_at(origin: Origin, commit: int) -> Mark:
    """A commit with its time."""
    entry = next(origin.commits(commit - 1, commit), None)
    return Mark(commit, entry.time if entry else 0)


def offset_of(mark: Mark) -> dict[str, int]:
    """A mark as an offset in Spark's checkpoints."""
    return {"seq": mark.commit, "time": mark.time}


def mark_of(offset: Mapping[str, int]) -> Mark:
    return Mark(offset["seq"], offset["time"])


def _log(options: Mapping[str, str]) -> str:
    if not (log := options.get("path")):
        raise WorkerError(BadRequest("say which log: a data folder, or the address of a broker"))
    return log


def graphs_option(graphs: Graphs) -> str:
    """The value of the option `graphs` for some graphs."""
    return msgspec.json.encode(written(graphs)).decode()


def graphs_in(options: Mapping[str, str]) -> Graphs:
    try:
        return read_graphs(msgspec.json.decode(options.get("graphs", '["*"]'), type=list[str]))
    except msgspec.DecodeError as error:
        raise WorkerError(BadRequest(f"graphs is {options['graphs']!r}, and can be a list of them: {error}")) from error
    except TidingsError as error:
        raise WorkerError(error) from error


def number(options: Mapping[str, str], name: str, default: int) -> int:
    given = options.get(name, str(default))
    if not given.isdecimal() or len(given) > 18:
        raise WorkerError(BadRequest(f"{name} is {given!r}, and can be a number of commits or tasks"))
    return int(given)
