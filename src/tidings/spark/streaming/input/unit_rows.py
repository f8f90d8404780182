"""The five kinds of rows for units, and their encoding.

ChangeRow  a commit has changed a quad that concerns the unit
PastRow    a change by a commit before the batch, for members that begin late
SeedRow    a quad that existed when members began
BeginRow   a member begins
EndRow     a member ends

`version` is the version of the registry in which members begin or end.
"""

from collections.abc import Iterable, Iterator
from typing import TypeAlias, assert_never

import msgspec
import pyarrow as pa

from tidings.engine.lutt import Items
from tidings.model.terms import Quad, Term, intern
from tidings.spark.streaming.packs import PACKED_ARROW
from tidings.spark.streaming.unit import Arrival, Change, Departure, Inbox, Member

ROUTED = "unit bigint, commit bigint, row binary"
"""Single rows, for jobs that sort them by commits."""
ROUTED_ARROW = pa.schema([("unit", pa.int64()), ("commit", pa.int64()), ("row", pa.binary())])


class ChangeRow(msgspec.Struct, frozen=True, gc=False, array_like=True, tag="change"):
    commit: int
    time: int
    weight: int
    s: Term
    p: Term
    o: Term
    g: Term


class PastRow(msgspec.Struct, frozen=True, gc=False, array_like=True, tag="past"):
    version: int
    commit: int
    time: int
    weight: int
    s: Term
    p: Term
    o: Term
    g: Term


class SeedRow(msgspec.Struct, frozen=True, gc=False, array_like=True, tag="seed"):
    version: int
    commit: int
    time: int
    s: Term
    p: Term
    o: Term
    g: Term


class BeginRow(msgspec.Struct, frozen=True, array_like=True, tag="begin"):
    version: int
    commit: int
    time: int
    member: Member


class EndRow(msgspec.Struct, frozen=True, gc=False, array_like=True, tag="end"):
    version: int
    commit: int
    spuid: str


UnitRow: TypeAlias = ChangeRow | PastRow | SeedRow | BeginRow | EndRow
Addressed: TypeAlias = tuple[int, UnitRow]
"""A row with the unit that it is for."""

encode = msgspec.msgpack.encode
decode = msgspec.msgpack.Decoder(UnitRow).decode
_unpack = msgspec.msgpack.Decoder(list[UnitRow]).decode


def changes(commit: int, time: int, found: dict[int, Items]) -> Iterator[Addressed]:
    """The changes of a commit, for each unit that they concern."""
    for unit, items in found.items():
        for quad, weight in items:
            yield unit, ChangeRow(commit, time, weight, *quad)


def past(version: int, commit: int, time: int, found: dict[int, Items]) -> Iterator[Addressed]:
    for unit, items in found.items():
        for quad, weight in items:
            yield unit, PastRow(version, commit, time, weight, *quad)


def routed_batch(rows: list[Addressed]) -> pa.RecordBatch:
    """A batch of single rows."""
    columns = ([unit for unit, _ in rows], [row.commit for _, row in rows], [encode(row) for _, row in rows])
    arrays = [pa.array(column, field.type) for column, field in zip(columns, ROUTED_ARROW, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=ROUTED_ARROW)


def packed_batch(rows: list[Addressed]) -> pa.RecordBatch:
    """A batch with one pack of rows for each unit."""
    by_unit: dict[int, list[UnitRow]] = {}
    for unit, row in rows:
        by_unit.setdefault(unit, []).append(row)
    packs = [encode(given) for given in by_unit.values()]
    return pa.RecordBatch.from_arrays(
        [pa.array(by_unit, pa.int64()), pa.array(packs, pa.binary())], schema=PACKED_ARROW
    )


def unpacked(packs: Iterable[bytes]) -> list[UnitRow]:
    """The rows of packs, sorted: packs come in any order, and a batch that is repeated must give the same result."""
    return sorted([row for pack in packs for row in _unpack(pack)], key=encode)


def inbox_of(rows: Iterable[UnitRow]) -> Inbox:
    """The rows of one unit as an inbox."""
    inbox = Inbox()
    change = inbox.changes.append
    for row in rows:
        if isinstance(row, ChangeRow):  # nearly all of them are
            change(Change(row.commit, row.time, _quad(row), row.weight))
            continue
        if isinstance(row, EndRow):
            inbox.departures.append(Departure(row.commit, row.version, row.spuid))
            continue
        arrival = inbox.arrivals.get(row.version)
        if arrival is None:
            arrival = inbox.arrivals[row.version] = Arrival(0, 0)
        match row:
            case PastRow():
                arrival.past.append(Change(row.commit, row.time, _quad(row), row.weight))
            case SeedRow():
                arrival.commit, arrival.time = row.commit, row.time
                arrival.seed.append(_quad(row))
            case BeginRow():
                arrival.commit, arrival.time = row.commit, row.time
                arrival.members.append(row.member)
            case _:
                assert_never(row)
    for arrival in inbox.arrivals.values():
        arrival.members.sort(key=lambda member: member.spuid)
    return inbox


def _quad(row: ChangeRow | PastRow | SeedRow) -> Quad:
    return intern(row.s), intern(row.p), intern(row.o), intern(row.g)
