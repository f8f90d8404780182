"""A unit as keyed state of Spark: a snapshot, and records of the changes since, in RocksDB.

A Python process that has processed the last batch of a unit still has the unit, and need not read its state; the head
tells whether it is the same. If the process has an earlier state of the unit, it reads the records since. After a
crash, a retry or a move to another machine, the unit is restored from its records.
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
"""Of which take it is; bytes of the snapshot, and of the records since."""
RECORD = "stamp bigint, record binary"
SLACK = 8_192
"""Bytes of records that are no reason for a new snapshot: whoever comes back late finds what it missed."""
WARM = 1_000_000
"""Quads that a process keeps of units that it has done."""

_encode = msgspec.msgpack.encode
_decode = msgspec.msgpack.Decoder(Record).decode
_row = Row("unit", "pack")


class Warm:
    """Units that this process has done, and may do again: the least recent go first."""

    def __init__(self, most: int = WARM) -> None:
        self._most = most
        self._units: OrderedDict[tuple[str, int], tuple[int, Unit]] = OrderedDict()
        self._quads = 0

    def take(self, job: str, unit: int) -> tuple[int, Unit] | None:
        """A unit with the number of the take that it is as of; it is no longer here."""
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
    """For Spark: what to do with the rows of a unit."""

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
        """A unit as it is after a take."""
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
        """What became of it; or all of it, once that is far less than what became of it since."""
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
    """A number for all that a unit was ever given."""
    return crc32(_encode(given), before) + 1
