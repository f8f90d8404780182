"""A lake as an origin of commits, `lake:DIR`: for history that the log may no longer have."""

from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds

from tidings.log.entry import Entry, published_by
from tidings.model.access import Graphs
from tidings.model.terms import intern
from tidings.model.zset import ZSet
from tidings.protocol.entry_lines import NONE
from tidings.spark.errors import LakeDamaged
from tidings.spark.lake.lake import Lake
from tidings.spark.lake.manifest import IngestedBatch
from tidings.spark.log_source.origin import Mark

ROWS = 500_000
"""The approximate number of changes read at a time: a merged batch has millions, sorted by predicate."""
_PIECE = 20_000
_COLUMNS = ("seq", "time", "op", *"spog", "by")
_SCHEMA = pa.schema(
    [("seq", pa.int64()), ("time", pa.timestamp("us", "UTC")), *((name, pa.string()) for name in _COLUMNS[2:])]
)


class LakeOrigin:
    """The changes of a lake, commit by commit. Raises LakeUnusable, LakeDamaged."""

    def __init__(self, path: Path, rows: int = ROWS) -> None:
        self._lake = Lake(path)
        self._rows = rows

    def graphs(self) -> Graphs:
        return self._lake.graphs

    def first(self) -> int:
        return 1  # a lake begins with the first commit

    def end(self) -> Mark:
        return self._lake.end()

    def commits(self, after: int, last: int) -> Iterator[Entry]:
        for batch in self._lake.batches():
            first, end = max(after, batch.first - 1), min(last, batch.last)
            step = max(1, self._rows * (batch.last - batch.first + 1) // max(1, batch.rows))
            for start in range(first, end, step):
                yield from self._entries(batch, start, min(start + step, end))

    def _entries(self, batch: IngestedBatch, after: int, last: int) -> Iterator[Entry]:
        seq = ds.field("seq")
        try:
            files = ds.dataset(self._lake.paths(batch.files), schema=_SCHEMA)
            table = files.to_table(filter=(seq > after) & (seq <= last)).sort_by("seq")
        except (OSError, pa.ArrowInvalid) as error:
            raise LakeDamaged(f"the changes of {batch.name} cannot be read: {error}") from error
        for number, rows in groupby(_rows(table), itemgetter(0)):
            changes = list(rows)
            _, time, *_, by = changes[0]
            delta = {
                (intern(s), intern(p), intern(o), intern(g)): 1 if op == "add" else -1
                for _, _, op, s, p, o, g, _ in changes
                if op != NONE
            }
            yield Entry(number, time, ZSet.owning(delta), () if by is None else (published_by(by),))


def _rows(table: pa.Table) -> Iterator[tuple[Any, ...]]:
    columns = [table["seq"], table["time"].cast("int64"), *(table[name] for name in _COLUMNS[2:])]
    for piece in pa.table(columns, names=_COLUMNS).to_batches(_PIECE):
        yield from zip(*(column.to_pylist() for column in piece.columns), strict=True)
