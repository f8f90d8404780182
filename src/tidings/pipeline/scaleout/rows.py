"""What is on its way to a unit, and what it has to tell, as the columns that Spark carries."""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
import pyarrow as pa

from tidings.engine.lutt import Items
from tidings.model.terms import Quad, intern
from tidings.pipeline.scaleout.unit import Arrival, Change, Departure, Inbox, Member, Told

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

_json = msgspec.json.encode
_member = msgspec.json.Decoder(Member).decode


class Columns:
    """Rows for units in the making."""

    __slots__ = ("_lists", "version")

    def __init__(self, version: int = 0) -> None:
        self.version = version
        self._lists: tuple[list[Any], ...] = tuple([] for _ in ROUTED_ARROW)

    def __len__(self) -> int:
        return len(self._lists[0])

    def changes(self, kind: str, seq: int, time: int, found: dict[int, Items]) -> None:
        for unit, items in found.items():
            for (s, p, o, g), weight in items:
                self._add(unit, kind, seq, time, weight, s, p, o, g)

    def seed(self, unit: int, seq: int, time: int, quad: Quad) -> None:
        self._add(unit, SEED, seq, time, 1, *quad)

    def begin(self, unit: int, seq: int, time: int, member: Member) -> None:
        self._add(unit, BEGIN, seq, time, 0, member.spuid, "", _json(member).decode(), "")

    def end(self, unit: int, seq: int, spuid: str) -> None:
        self._add(unit, END, seq, 0, 0, spuid, "", "", "")

    def _add(self, unit: int, kind: str, seq: int, time: int, weight: int, s: str, p: str, o: str, g: str) -> None:
        units, kinds, versions, seqs, times, weights, ss, ps, os, gs = self._lists
        units.append(unit)
        kinds.append(kind)
        versions.append(self.version)
        seqs.append(seq)
        times.append(time)
        weights.append(weight)
        ss.append(s)
        ps.append(p)
        os.append(o)
        gs.append(g)

    def batch(self) -> pa.RecordBatch:
        """What there is, which is then no longer here."""
        arrays = [pa.array(column, field.type) for column, field in zip(self._lists, ROUTED_ARROW, strict=True)]
        self._lists = tuple([] for _ in ROUTED_ARROW)
        return pa.RecordBatch.from_arrays(arrays, schema=ROUTED_ARROW)


def inbox_of(rows: Iterable[tuple[Any, ...]]) -> Inbox:
    """Rows of one unit (their columns after the unit) as what they mean."""
    inbox = Inbox()
    for kind, version, seq, time, weight, s, p, o, g in rows:
        if kind == CHANGE:
            inbox.changes.append(Change(seq, time, (intern(s), intern(p), intern(o), intern(g)), weight))
        elif kind == END:
            inbox.departures.append(Departure(seq, s))
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
