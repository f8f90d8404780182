"""The output of units as rows: a notification for a subscriber, or the present size of a unit.

Tasks return rows in packs (`packs`); the sink writes them as columns of a Parquet file.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
import pyarrow as pa

from tidings.spark.streaming.unit import Notification

NOTIFICATIONS = (
    "unit bigint, spuid string, sequence bigint, commit bigint, time bigint, variables string, added string, "
    "removed string, reason string, quads bigint, bytes bigint, rows bigint"
)
"""A notification; or, without a spuid, the size of a unit, and how many rows it got in the batch."""
NOTIFICATIONS_ARROW = pa.schema(
    [
        (name, pa.string() if kind == "string" else pa.int64())
        for name, kind in (column.split() for column in NOTIFICATIONS.split(", "))
    ]
)

_pack = msgspec.msgpack.encode
_unpack = msgspec.msgpack.Decoder(list[tuple[Any, ...]]).decode
_json = msgspec.json.encode


def notification_row(unit: int, notification: Notification) -> tuple[Any, ...]:
    spuid, sequence, commit, time, variables, added, removed, reason = notification
    return (
        *(unit, spuid, sequence, commit, time, _json(variables).decode()),
        *(_json(added).decode(), _json(removed).decode(), reason, None, None, None),
    )


def size_row(unit: int, quads: int, size: int, rows: int) -> tuple[Any, ...]:
    return unit, *(None for _ in range(8)), quads, size, rows


def notification_of(row: dict[str, Any]) -> Notification:
    """The inverse of `notification_row`."""
    decode = msgspec.json.decode
    return Notification(
        row["spuid"],
        row["sequence"],
        row["commit"],
        row["time"],
        tuple(decode(row["variables"])),
        [tuple(each) for each in decode(row["added"])],
        [tuple(each) for each in decode(row["removed"])],
        row["reason"],
    )


def notifications_in(batch: pa.Table) -> Iterator[Notification]:
    for row in batch.to_pylist():
        if row["spuid"] is not None:
            yield notification_of(row)


def packed_rows(unit: int, rows: list[tuple[Any, ...]]) -> tuple[int, bytes]:
    """Rows of `NOTIFICATIONS`, packed: the columns of a row of `PACKED`."""
    return unit, _pack(rows)


def table_of(batches: Iterable[pa.RecordBatch]) -> pa.Table:
    """A table of the rows in packs."""
    rows = [row for batch in batches for pack in batch.column("pack").to_pylist() for row in _unpack(pack)]
    columns = zip(*rows, strict=True) if rows else [()] * len(NOTIFICATIONS_ARROW)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, NOTIFICATIONS_ARROW, strict=True)]
    return pa.Table.from_arrays(arrays, schema=NOTIFICATIONS_ARROW)
