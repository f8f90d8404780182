"""A unit as keyed state of Spark: a snapshot, and records of the changes since, in RocksDB.

A Python process that has processed the last batch of a unit still has the unit in memory, and need not read its state.
The stamp in the head tells whether it is the same. If the process has an earlier state of the unit, it reads only the
records since. After a crash, a retry or a move to another machine, the unit is restored from its records.
"""

from collections import OrderedDict
from collections.abc import Iterator
from typing import Any
from zlib import compress, crc32, decompress

import msgspec
from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from tidings.spark.streaming.input.unit_rows import UnitRow, inbox_of, unpacked
from tidings.spark.streaming.output.notification_rows import notification_row, packed_rows, size_row
from tidings.spark.streaming.unit import LARGEST, Record, Unit

HEAD = "stamp bigint, whole bigint, since bigint"
"""The stamp of the last batch, the bytes of the snapshot, and those of the records since."""
RECORD = "stamp bigint, record binary"
SLACK = 8_192
"""Bytes of records without a new snapshot, so that a process with an earlier state finds the records that it missed."""
WARM = 1_000_000
"""The most quads of units that a process keeps in memory after their batch."""

_encode = msgspec.msgpack.encode
_decode = msgspec.msgpack.Decoder(Record).decode
_row = Row("unit", "pack")


class Warm:
    """A cache of units that this process has processed; the least recently used are dropped first."""

    def __init__(self, most: int = WARM) -> None:
        self._most = most
        self._units: OrderedDict[tuple[str, int], tuple[int, Unit]] = OrderedDict()
        self._quads = 0

    def take(self, job: str, unit: int) -> tuple[int, Unit] | None:
        """Remove a unit from the cache. Returns it with its stamp."""
        found = self._units.pop((job, unit), None)
        if found is not None:
            self._quads -= len(found[1])
        return found

    def keep(self, job: str, unit: int, stamp: int, done: Unit) -> None:
        self._units[job, unit] = stamp, done
        self._quads += len(done)
        while self._quads > self._most:
            _, (_, oldest) = self._units.popitem(last=False)
            self._quads -= len(oldest)


_warm = Warm()


class UnitProcessor(StatefulProcessor):
    """Processes the rows of a unit; called by Spark."""

    def __init__(self, job: str, largest: int = LARGEST) -> None:
        self._job = job
        self._largest = largest

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._head = handle.getValueState("head", HEAD)
        self._records = handle.getListState("records", RECORD)

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:  # noqa: N802, N803
        (number,) = key
        given = unpacked(bytes(row.pack) for row in rows)
        stamp, whole, since = self._head.get() or (0, 0, 0)
        unit = self._unit(number, stamp)
        told = [notification_row(number, each) for each in unit.take(inbox_of(given))]
        stamp = _stamp(stamp, given)
        size = self._write(unit, stamp, whole, since)
        _warm.keep(self._job, number, stamp, unit)
        told.append(size_row(number, len(unit), size, len(given)))
        yield _row(*packed_rows(number, told))

    def _unit(self, number: int, stamp: int) -> Unit:
        """The unit as of a stamp."""
        warm = _warm.take(self._job, number)
        if warm is not None and warm[0] == stamp:
            return warm[1]
        records = [(each, bytes(record)) for each, record in self._records.get()] if stamp else []
        if warm is not None:
            stamps = [each for each, _ in records]
            if warm[0] in stamps:
                missed = records[stamps.index(warm[0]) + 1 :]
                if warm[1].catch_up(_decode(decompress(record)) for _, record in missed):
                    return warm[1]
        return Unit.of((_decode(decompress(record)) for _, record in records), largest=self._largest)

    def _write(self, unit: Unit, stamp: int, whole: int, since: int) -> int:
        """Write a record of the changes; or a new snapshot, once the records since the last one are larger than it.
        Returns the size of the state."""
        if not whole or since > whole + SLACK:
            record = compress(_encode(unit.record(whole=True)), 1)
            self._records.put([(stamp, record)])
            whole, since = len(record), 0
        else:
            record = compress(_encode(unit.record(whole=False)), 1)
            self._records.appendValue((stamp, record))
            since += len(record)
        self._head.update((stamp, whole, since))
        return whole + since

    def close(self) -> None:
        pass


def _stamp(before: int, given: list[UnitRow]) -> int:
    """A checksum of all rows that a unit has ever got."""
    return crc32(_encode(given), before) + 1
