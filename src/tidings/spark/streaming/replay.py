"""Replays a range of history as one job: the notifications that subscriptions would have got if they had existed then.

The units are those of the stream, but without keyed state: one task gets all rows of a unit, in the order of commits,
and processes them piece by piece. The output has the format of the stream's, with a single batch 0.

    OUT/registry/    the subscriptions, and the quads that concerned them when they began
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage
from pyspark.sql.types import StructType

from tidings.spark.errors import BeyondHistory
from tidings.spark.lake.lake import Lake
from tidings.spark.log_source.origin import absolute, origin_of
from tidings.spark.session import translated
from tidings.spark.streaming.errors import StreamUnusable
from tidings.spark.streaming.input import routed_source as source
from tidings.spark.streaming.input.unit_rows import UnitRow, decode, inbox_of
from tidings.spark.streaming.output.notification_rows import notification_row, packed_rows, size_row
from tidings.spark.streaming.output.sink import NotificationSink, NotificationWriter
from tidings.spark.streaming.packs import PACKED, PACKED_ARROW
from tidings.spark.streaming.subscriptions.enrolling import Enrolling, Refused
from tidings.spark.streaming.subscriptions.registrar import TOGETHER, Registrar
from tidings.spark.streaming.subscriptions.registry import Registry
from tidings.spark.streaming.subscriptions.requests import SubscriptionRequest
from tidings.spark.streaming.unit import LARGEST, Member, Unit

FORMAT = "tidings-told-at-once"
PIECE = 20_000
"""The approximate number of rows that a unit processes at a time: a commit is not divided."""

Row = tuple[Any, ...]


class Span(NamedTuple):
    """The commits in (after, last]."""

    after: int
    last: int


def span(log: str, after: int = 0, last: int | None = None) -> Span:
    """The commits of a log in (after, last]; by default up to its end. Raises BeyondHistory."""
    end = origin_of(log).end().commit
    found = Span(after, end if last is None else last)
    if not after <= found.last <= end:
        raise BeyondHistory(f"there are commits up to {end:,}, and not those after {after:,} up to {found.last:,}")
    return found


def replay(
    spark: SparkSession,
    log: str,
    out: Path,
    requests: Iterable[SubscriptionRequest],
    refused: Refused,
    *,
    span: Span,
    lake: Lake | None = None,
    together: int = TOGETHER,
    largest: int = LARGEST,
) -> None:
    """Write the notifications that the commits of a span would have caused. Raises the error of the job."""
    check_fresh(out)
    registry = Registry(out / "registry")
    enrolling = Enrolling(spark, log, lake, Registrar(registry, together=together), refused)
    for commit, members in sorted(_by_begin(requests, span).items()):
        enrolling.begin(enrolling.mark(commit), members)
    spark.dataSource.register(source.RoutedLog)
    spark.dataSource.register(BulkSink)
    routed = (
        spark.read.format(source.FORMAT)
        .option("registry", str(registry.path.absolute()))
        .option("after", span.after)
        .option("last", span.last)
        .option("partitions", spark.sparkContext.defaultParallelism)
        .load(absolute(log))
    )
    # With an explicit number, Spark does not merge these partitions: the rows are few, but take long to process.
    parts = int(spark.conf.get("spark.sql.shuffle.partitions") or 1)
    in_order = routed.repartition(parts, "unit").sortWithinPartitions("unit", "commit")
    notifications = in_order.mapInArrow(_notifying(largest), PACKED)
    with translated():
        notifications.write.format(FORMAT).mode("append").save(str(out.absolute()))


def check_fresh(out: Path) -> None:
    """Raise StreamUnusable unless a folder is new or empty."""
    try:
        if out.exists() and any(out.iterdir()):
            raise StreamUnusable(f"{out} has something in it: give an empty or a new folder")
    except OSError as error:
        raise StreamUnusable(f"{out} cannot be used: {error.strerror}") from error


def _by_begin(requests: Iterable[SubscriptionRequest], span: Span) -> dict[int, list[Member]]:
    """The members by the commit after which they begin, without those that begin after the span."""
    found: dict[int, list[Member]] = {}
    for request in requests:
        begins = max(span.after, request.begins or 0)
        if begins <= span.last:
            found.setdefault(begins, []).append(request.member)
    return found


# -- in a task --------------------------------------------------------------------------------------------------


def _notifying(largest: int) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def notify(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for unit, rows in groupby(_rows(batches), itemgetter(0)):
            for piece in notify_unit(unit, (row for _, row in rows), largest):
                pack = packed_rows(unit, piece)
                yield pa.RecordBatch.from_arrays([pa.array([each]) for each in pack], schema=PACKED_ARROW)

    return notify


def _rows(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[int, UnitRow]]:
    for batch in batches:
        yield from zip(batch["unit"].to_pylist(), map(decode, batch["row"].to_pylist()), strict=True)


def notify_unit(number: int, rows: Iterable[UnitRow], largest: int = LARGEST) -> Iterator[list[Row]]:
    """The notifications of a unit, piece by piece, from rows in the order of commits; at the end, its size."""
    unit = Unit(largest=largest)
    given = 0
    for piece in pieces(rows):
        given += len(piece)
        found = [notification_row(number, each) for each in unit.take(inbox_of(piece))]
        unit.record(whole=False)  # drops the changes recorded so far, which would accumulate
        if found:
            yield found
    yield [size_row(number, len(unit), 0, given)]


def pieces(rows: Iterable[UnitRow], most: int = PIECE) -> Iterator[list[UnitRow]]:
    """Rows in pieces of at least `most` rows, each of which ends with a complete commit."""
    piece: list[UnitRow] = []
    for _, of_commit in groupby(rows, attrgetter("commit")):
        piece.extend(of_commit)
        if len(piece) >= most:
            yield piece
            piece = []
    if piece:
        yield piece


# -- the data sink ----------------------------------------------------------------------------------------------


class BulkSink(NotificationSink):
    """The sink of the stream, for a batch job."""

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def writer(self, schema: StructType, overwrite: bool) -> "BulkWriter":
        return BulkWriter(Path(self.options["path"]))


class BulkWriter(DataSourceArrowWriter):
    def __init__(self, out: Path) -> None:
        self._batch = NotificationWriter(out)

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        return self._batch.write(iterator)

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        self._batch.commit(messages, 0)

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        self._batch.abort(messages, 0)
