"""Folders of a job as Spark would leave them, without Spark."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa

from tidings.spark.log_source.origin import Mark
from tidings.spark.streaming.monitoring.checkpoint import claim
from tidings.spark.streaming.output.notification_rows import notification_row, packed_rows, size_row
from tidings.spark.streaming.output.notifications import manifest_of
from tidings.spark.streaming.output.sink import NotificationWriter
from tidings.spark.streaming.packs import PACKED_ARROW
from tidings.spark.streaming.subscriptions.registrar import Registrar
from tidings.spark.streaming.subscriptions.registry import Registry
from tidings.spark.streaming.unit import Member, Notification

QUERY = "SELECT ?o { <urn:a> <urn:p> ?o }"


@dataclass
class FakeJob:
    """Batch by batch, as told."""

    folder: Path
    units: dict[str, int] = field(default_factory=dict)
    batch: int = -1

    @property
    def checkpoint(self) -> Path:
        return self.folder / "check"

    @property
    def out(self) -> Path:
        return self.folder / "told"

    def begin(self, *spuids: str) -> None:
        self.checkpoint.mkdir(exist_ok=True)
        claim(self.checkpoint, self.out)
        registrar = Registrar(Registry(self.checkpoint / "registry"), together=1)
        queries = (QUERY.replace("urn:p", f"urn:p{number}") for number in range(len(spuids)))
        begun, wrong = registrar.begin(map(Member, spuids, queries))
        assert not wrong
        registrar.registry.publish(Mark(), begun)
        self.units |= {each.member.spuid: each.unit for each in begun}

    def tell(self, mark: Mark, *told: Notification, seconds: float = 2.0, partitions: int = 2) -> None:
        """A batch that ends with a commit; each unit that told something has 10 quads, 100 bytes and 5 rows."""
        self.batch += 1
        rows = [notification_row(self.units[each.spuid], each) for each in told]
        rows += [size_row(unit, 10, 100, 5) for unit in sorted({self.units[each.spuid] for each in told})]
        writer = NotificationWriter(self.out)
        writer.commit([writer.write(iter([_batch(rows)]))], self.batch)
        made = manifest_of(self.out, self.batch)
        assert made is not None
        plan = {
            "batchWatermarkMs": 0,
            "batchTimestampMs": int((made.finished - seconds) * 1000),
            "conf": {"spark.sql.shuffle.partitions": str(partitions)},
        }
        offset = {"seq": mark.commit, "time": mark.time, "version": 1}
        for name, lines in (("offsets", (plan, offset)), ("commits", ({"nextBatchWatermarkMs": 0},))):
            path = self.checkpoint / "spark" / name / str(self.batch)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"\n".join([b"v1", *map(msgspec.json.encode, lines)]))


def _batch(rows: list[tuple[Any, ...]]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([each]) for each in packed_rows(0, rows)], schema=PACKED_ARROW)
