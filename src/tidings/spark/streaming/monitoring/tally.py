"""The sums over all batches of a job, kept beside its checkpoint, so that the batches need not be read again."""

from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from tidings.log.layout import write_whole
from tidings.spark.streaming.errors import StreamUnusable
from tidings.spark.streaming.output.notifications import Manifest
from tidings.spark.streaming.unit import ENDED

_COLUMNS = ["unit", "spuid", "sequence", "commit", "reason", "quads", "bytes"]


class Size(msgspec.Struct, frozen=True):
    """The size of the state of a unit."""

    quads: int
    bytes: int


class Tally(msgspec.Struct):
    batch: int = -1
    """The last batch in the sums."""
    rows: int = 0
    told: int = 0
    sizes: dict[int, Size] = msgspec.field(default_factory=dict)
    failed: dict[str, str] = msgspec.field(default_factory=dict)
    """The members that get no more notifications, with the reasons."""

    def add(self, out: Path, manifest: Manifest) -> None:
        """Add the next batch. Raises StreamUnusable."""
        for name in manifest.files:
            for row in _rows(out / "told" / name):
                if row["spuid"] is None:
                    self.sizes[row["unit"]] = Size(row["quads"], row["bytes"])
                elif row["reason"] in (None, ENDED):
                    self.failed.pop(row["spuid"], None)
                else:
                    self.failed[row["spuid"]] = row["reason"]
        self.batch = manifest.number
        self.rows += manifest.rows
        self.told += manifest.told


def _rows(path: Path) -> list[dict[str, Any]]:
    """The rows with sizes of units, and the first and last notifications; the others need not leave Arrow."""
    try:
        table = pq.read_table(path, columns=_COLUMNS)
    except (OSError, pa.ArrowInvalid) as error:
        raise StreamUnusable(f"{path} cannot be read: {error}") from error
    first = pc.equal(pc.fill_null(table["sequence"], 0), 0)
    wanted = pc.or_(first, pc.is_valid(table["reason"]))
    in_order = table.filter(wanted).sort_by([("commit", "ascending"), ("sequence", "ascending")])
    rows: list[dict[str, Any]] = in_order.to_pylist()
    return rows


def load(checkpoint: Path) -> Tally:
    """The tally that was kept. If it cannot be read, an empty one, which the batches fill again."""
    try:
        return msgspec.json.decode((checkpoint / "tally.json").read_bytes(), type=Tally)
    except (OSError, msgspec.DecodeError):
        return Tally()


def keep(checkpoint: Path, tally: Tally) -> None:
    try:
        write_whole(checkpoint / "tally.json", msgspec.json.encode(tally) + b"\n")
    except OSError as error:
        raise StreamUnusable(f"{checkpoint} cannot be written: {error.strerror}") from error
