"""What was told, exactly once, as a data sink of Spark: files that count once the manifest of their batch is there.

    OUT/told/…                     Parquet: the columns of `rows.TOLD`
    OUT/batches/NUMBER.json        a batch: its files, the last commit in it, and which units it gave most to do

A batch that is done again finds its manifest there, and changes nothing.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql.datasource import DataSource, DataSourceStreamArrowWriter, WriterCommitMessage
from pyspark.sql.types import StructType

from tidings.log.layout import sync_file, sync_folder, write_whole
from tidings.log.lines import is_sealed, sealed
from tidings.pipeline.scaleout.errors import StreamUnusable
from tidings.pipeline.scaleout.rows import TOLD, TOLD_ARROW, each_told
from tidings.pipeline.scaleout.unit import Told

FORMAT = "tidings-told"
HOTTEST = 20
"""Units that a manifest names."""


class Busy(msgspec.Struct, frozen=True, order=True):
    """How much a unit was given in a batch, and how large it is now."""

    rows: int
    unit: int
    quads: int
    bytes: int


class Manifest(msgspec.Struct, frozen=True):
    """A batch that was told."""

    number: int
    finished: float
    """Seconds since 1970."""
    files: tuple[str, ...]
    told: int
    rows: int
    """What units were given."""
    units: int
    hottest: tuple[Busy, ...]


@dataclass(frozen=True)
class Written(WriterCommitMessage):
    """What a task wrote."""

    file: str | None
    told: int
    busy: tuple[Busy, ...]


class ToldSink(DataSource):
    """What Spark makes a writer with."""

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def schema(self) -> str:
        return TOLD

    def streamWriter(self, schema: StructType, overwrite: bool) -> "ToldWriter":  # noqa: N802
        return ToldWriter(Path(self.options["path"]))


class ToldWriter(DataSourceStreamArrowWriter):
    def __init__(self, out: Path) -> None:
        self._out = out

    def write(self, iterator: Iterator[pa.RecordBatch]) -> Written:
        table = pa.Table.from_batches(iterator, TOLD_ARROW)
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
        path = _manifest(self._out, batchId)
        if path.exists():
            self._remove(written)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
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


def _manifest(out: Path, number: int) -> Path:
    return out / "batches" / f"{number:020}.json"


# -- reading it again -------------------------------------------------------------------------------------------


def manifests(out: Path, after: int = -1) -> Iterator[Manifest]:
    """The batches after one, in order. Raises StreamUnusable."""
    for path in sorted((out / "batches").glob("*.json")):
        if int(path.stem) > after:
            text = path.read_bytes()
            if not is_sealed(text.removesuffix(b"\n")):
                raise StreamUnusable(f"{path}: the checksum of the manifest is wrong")
            yield msgspec.json.decode(text, type=Manifest)


def read_told(out: Path, manifest: Manifest) -> list[Told]:
    """What a batch tells: to each subscriber in its order."""
    found: list[Told] = []
    for name in manifest.files:
        try:
            found.extend(each_told(pq.read_table(out / "told" / name)))
        except (OSError, pa.ArrowInvalid) as error:
            raise StreamUnusable(f"{out / 'told' / name} cannot be read: {error}") from error
    return sorted(found, key=lambda told: (told.commit, told.spuid, told.sequence))


def sizes(out: Path) -> dict[int, dict[str, Any]]:
    """The last size of every unit."""
    found: dict[int, dict[str, Any]] = {}
    for manifest in manifests(out):
        for name in manifest.files:
            table = pq.read_table(out / "told" / name, columns=["unit", "spuid", "quads", "bytes", "rows"])
            for row in table.filter(pa.compute.is_null(table["spuid"])).to_pylist():
                found[row["unit"]] = row
    return found
