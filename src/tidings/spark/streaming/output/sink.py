"""A data sink of Spark for notifications, each exactly once. It writes the files that `notifications` reads.

If a batch is repeated, its manifest exists already, and the sink changes nothing.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql.datasource import DataSource, DataSourceStreamArrowWriter, WriterCommitMessage
from pyspark.sql.types import StructType

from tidings.log.layout import sync_file, sync_folder, write_whole
from tidings.log.lines import sealed
from tidings.spark.streaming.output.notification_rows import table_of
from tidings.spark.streaming.output.notifications import Busy, Manifest, manifest_path
from tidings.spark.streaming.packs import PACKED

FORMAT = "tidings-told"
HOTTEST = 20
"""The most units that a manifest names."""


@dataclass(frozen=True)
class Written(WriterCommitMessage):
    """The output of a task."""

    file: str | None
    told: int
    busy: tuple[Busy, ...]


class NotificationSink(DataSource):
    """The data sink."""

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def schema(self) -> str:
        return PACKED

    def streamWriter(self, schema: StructType, overwrite: bool) -> "NotificationWriter":  # noqa: N802
        return NotificationWriter(Path(self.options["path"]))


class NotificationWriter(DataSourceStreamArrowWriter):
    def __init__(self, out: Path) -> None:
        self._out = out

    def write(self, iterator: Iterator[pa.RecordBatch]) -> Written:
        table = table_of(iterator)
        if not len(table):
            return Written(None, 0, ())
        sizes = table.filter(pa.compute.is_null(table["spuid"]))
        busy = tuple(
            Busy(row["rows"], row["unit"], row["quads"], row["bytes"])
            for row in sizes.select(["rows", "unit", "quads", "bytes"]).to_pylist()
        )
        name = f"{uuid4().hex}.parquet"
        folder = self._out / "told"
        folder.mkdir(parents=True, exist_ok=True)
        pq.write_table(table, folder / name, compression="zstd")
        sync_file(folder / name)
        return Written(name, len(table) - len(sizes), busy)

    def commit(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:  # noqa: N803
        written = [message for message in messages if isinstance(message, Written)]
        path = manifest_path(self._out, batchId)
        if path.exists():
            self._remove(written)
            return
        for folder in (path.parent, self._out / "told"):
            folder.mkdir(parents=True, exist_ok=True)
        sync_folder(self._out / "told")
        busy = [each for message in written for each in message.busy]
        manifest = Manifest(
            batchId,
            time.time(),
            tuple(message.file for message in written if message.file),
            sum(message.told for message in written),
            sum(each.rows for each in busy),
            len(busy),
            tuple(sorted(busy, reverse=True)[:HOTTEST]),
        )
        write_whole(path, sealed(msgspec.json.encode(manifest)))

    def abort(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:  # noqa: N803
        self._remove([message for message in messages if isinstance(message, Written)])

    def _remove(self, written: list[Written]) -> None:
        for message in written:
            if message.file:
                (self._out / "told" / message.file).unlink(missing_ok=True)
