"""What is on its way to a unit, and what it has to tell, as the columns that Spark carries."""

from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

import msgspec
import pyarrow as pa

from tidings.engine.lutt import Items
from tidings.model.terms import Quad, intern
from tidings.spark.streaming.unit import Arrival, Change, Departure, Inbox, Member, Told

ROUTED = "unit bigint, kind string, version bigint, seq bigint, time bigint, weight int, " + ", ".join(
    f"{each} string" for each in "spog"
)
ROUTED_ARROW = pa.schema(
    [
        ("unit", pa.int64()),
        ("kind", pa.string()),
        ("version", pa.int64()),
        ("seq", pa.int64()),
        ("time", pa.int64()),
        ("weight", pa.int32()),
        *((name, pa.string()) for name in "spog"),
    ]
)
CHANGE, PAST, SEED, BEGIN, END = "change", "past", "seed", "begin", "end"

TOLD = (
    "unit bigint, spuid string, sequence bigint, commit bigint, time bigint, variables string, added string, "
    "removed string, reason string, quads bigint, bytes bigint, rows bigint"
)
"""What a subscriber is told; or, without a spuid, how large a unit is, and how many rows it was given."""
TOLD_ARROW = pa.schema(
    [
        (name, pa.string() if kind == "string" else pa.int64())
        for name, kind in (column.split() for column in TOLD.split(", "))
    ]
)

Given: TypeAlias = tuple[str, int, int, int, int, str, str, str, str]
"""Kind, version, commit, time, weight, and a quad; or, of a member, its spuid and itself as JSON."""
Addressed: TypeAlias = tuple[Any, ...]
"""A unit, and what it is given."""
PACKED = "unit bigint, pack binary"
PACKED_ARROW = pa.schema([("unit", pa.int64()), ("pack", pa.binary())])

_pack = msgspec.msgpack.encode
_unpack = msgspec.msgpack.Decoder(list[Given]).decode
_unpack_told = msgspec.msgpack.Decoder(list[tuple[Any, ...]]).decode
_json = msgspec.json.encode
_member = msgspec.json.Decoder(Member).decode


class Rows:
    """Rows for units in the making: tuples of all columns."""

    __slots__ = ("_rows", "version")

    def __init__(self, version: int = 0) -> None:
        self.version = version
        self._rows: list[Addressed] = []

    def __len__(self) -> int:
        return len(self._rows)

    def changes(self, kind: str, seq: int, time: int, found: dict[int, Items]) -> None:
        version, add = self.version, self._rows.append
        for unit, items in found.items():
            for quad, weight in items:
                add((unit, kind, version, seq, time, weight, *quad))

    def seed(self, unit: int, seq: int, time: int, quad: Quad) -> None:
        self._rows.append((unit, SEED, self.version, seq, time, 1, *quad))

    def begin(self, unit: int, seq: int, time: int, member: Member) -> None:
        self._rows.append((unit, BEGIN, self.version, seq, time, 0, member.spuid, "", _json(member).decode(), ""))

    def end(self, unit: int, seq: int, spuid: str) -> None:
        self._rows.append((unit, END, self.version, seq, 0, 0, spuid, "", "", ""))

    def take(self) -> list[Addressed]:
        """What there is, which is then no longer here."""
        rows, self._rows = self._rows, []
        return rows


def columns_of(rows: list[Addressed]) -> pa.RecordBatch:
    """Rows one by one."""
    columns = zip(*rows, strict=True) if rows else [()] * len(ROUTED_ARROW)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, ROUTED_ARROW, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=ROUTED_ARROW)


def packs_of(rows: list[Addressed]) -> pa.RecordBatch:
    """Rows packed, one pack a unit: what a state costs Spark, it costs a row and a column of it."""
    by_unit: dict[int, list[Given]] = {}
    for unit, *rest in rows:
        by_unit.setdefault(unit, []).append(tuple(rest))
    packs = [_pack(given) for given in by_unit.values()]
    return pa.RecordBatch.from_arrays(
        [pa.array(by_unit, pa.int64()), pa.array(packs, pa.binary())], schema=PACKED_ARROW
    )


def given_in(packs: Iterable[bytes]) -> list["Given"]:
    """What is in packs, in an order of its own: they come in any, and a batch that is done again must be the same."""
    return sorted(row for pack in packs for row in _unpack(pack))


def inbox_of(rows: Iterable[Given]) -> Inbox:
    """Rows of one unit (their columns after the unit) as what they mean."""
    inbox = Inbox()
    for kind, version, seq, time, weight, s, p, o, g in rows:
        if kind == CHANGE:
            inbox.changes.append(Change(seq, time, (intern(s), intern(p), intern(o), intern(g)), weight))
        elif kind == END:
            inbox.departures.append(Departure(seq, version, s))
        else:
            arrival = inbox.arrivals.get(version)
            if arrival is None:
                arrival = inbox.arrivals[version] = Arrival(0, 0)
            if kind == PAST:
                arrival.past.append(Change(seq, time, (intern(s), intern(p), intern(o), intern(g)), weight))
            else:
                arrival.seq, arrival.time = seq, time
                if kind == SEED:
                    arrival.seed.append((intern(s), intern(p), intern(o), intern(g)))
                else:
                    arrival.members.append(_member(o))
    for arrival in inbox.arrivals.values():
        arrival.members.sort(key=lambda member: member.spuid)
    return inbox


def told_row(unit: int, told: Told) -> tuple[Any, ...]:
    spuid, sequence, commit, time, variables, added, removed, reason = told
    return (
        *(unit, spuid, sequence, commit, time, _json(variables).decode()),
        *(_json(added).decode(), _json(removed).decode(), reason, None, None, None),
    )


def size_row(unit: int, quads: int, size: int, rows: int) -> tuple[Any, ...]:
    return unit, *(None for _ in range(8)), quads, size, rows


def told_of(row: dict[str, Any]) -> Told:
    """What `told_row` made a row of."""
    decode = msgspec.json.decode
    return Told(
        row["spuid"],
        row["sequence"],
        row["commit"],
        row["time"],
        tuple(decode(row["variables"])),
        [tuple(each) for each in decode(row["added"])],
        [tuple(each) for each in decode(row["removed"])],
        row["reason"],
    )


def each_told(batch: pa.Table) -> Iterator[Told]:
    for row in batch.to_pylist():
        if row["spuid"] is not None:
            yield told_of(row)


def told_pack(unit: int, rows: list[tuple[Any, ...]]) -> tuple[int, bytes]:
    """Rows of `TOLD`, packed: the columns of a row of `PACKED`."""
    return unit, _pack(rows)


def told_table(batches: Iterable[pa.RecordBatch]) -> pa.Table:
    """Packs of rows as a table."""
    rows = [row for batch in batches for pack in batch.column("pack").to_pylist() for row in _unpack_told(pack)]
    columns = zip(*rows, strict=True) if rows else [()] * len(TOLD_ARROW)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, TOLD_ARROW, strict=True)]
    return pa.Table.from_arrays(arrays, schema=TOLD_ARROW)
