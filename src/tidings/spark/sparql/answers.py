"""Reads an answer from Spark row by row, with one partition in memory at a time, as terms or as Parquet.

As terms, instants become xsd:dateTime, and commits xsd:integer.
"""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from tidings.model.results import Row
from tidings.model.terms import XSD, Term, literal
from tidings.spark.session import translated
from tidings.sparql.values.encode import encode_integer

ROWS = 10_000
"""Rows of a row group, which are in memory beside a partition."""

_KINDS = {"string": pa.string(), "timestamp": pa.timestamp("us", "UTC"), "bigint": pa.int64(), "double": pa.float64()}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _instant(micros: int) -> Term:
    instant = _EPOCH + timedelta(microseconds=micros)
    return literal(instant.replace(tzinfo=None).isoformat() + "Z", f"{XSD}dateTime")


_WRITERS: dict[str, Callable[[Any], Term]] = {"string": str, "timestamp": _instant, "bigint": encode_integer}


def each_row(frame: DataFrame) -> Iterator[tuple[Any, ...]]:
    """The rows in order, with instants in microseconds. Raises SparkFailed, OutOfMemory, LakeDamaged."""
    cells = [f.unix_micros(f"`{name}`") if kind == "timestamp" else f.col(f"`{name}`") for name, kind in frame.dtypes]
    with translated():
        yield from map(tuple, frame.select(*cells).toLocalIterator(prefetchPartitions=True))


def terms(frame: DataFrame) -> Iterator[Row]:
    """The rows with all cells as terms."""
    writers = [_WRITERS[kind] for _, kind in frame.dtypes]
    for row in each_row(frame):
        yield tuple([None if cell is None else write(cell) for cell, write in zip(row, writers, strict=True)])


def parquet(frame: DataFrame) -> Iterator[bytes]:
    """The rows as a Parquet file, in pieces."""
    schema = pa.schema([(name, _KINDS[kind]) for name, kind in frame.dtypes])
    rows, sink = each_row(frame), _Sink()
    with pq.ParquetWriter(sink, schema, compression="zstd") as writer:
        while some := list(islice(rows, ROWS)):
            cells = [pa.array(column, kind) for column, kind in zip(zip(*some, strict=True), schema.types, strict=True)]
            writer.write_batch(pa.record_batch(cells, schema))
            yield sink.taken()
    yield sink.taken()


class _Sink:
    """A writable file whose content is taken out piece by piece."""

    closed = False

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def write(self, piece: bytes) -> int:
        self._pieces.append(bytes(piece))
        return len(piece)

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass

    def taken(self) -> bytes:
        pieces, self._pieces = self._pieces, []
        return b"".join(pieces)
