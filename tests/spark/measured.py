"""Random histories of sensors, lakes made of them without Spark, and their figures in plain Python."""

import random
from collections.abc import Iterable, Iterator
from itertools import pairwise
from math import isfinite
from pathlib import Path
from statistics import fmean, median
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from tidings.log.entry import Entry
from tidings.model.terms import XSD, Quad, Term
from tidings.model.zset import ZSet
from tidings.spark.analytics.figures import Span
from tidings.spark.lake.lake import Lake
from tidings.spark.lake.manifest import IngestedBatch
from tidings.spark.log_source.data_source import ARROW, batches
from tidings.sparql.values.decode import decode
from tidings.sparql.values.kinds import Number

MINUTE = 60_000_000
START = 1_700_000_000_000_000
VALUE, STATE = "<http://example.org/value>", "<http://example.org/state>"
GRAPH = "<http://example.org/g>"
ODD = ('"off"', f'"NaN"^^<{XSD}double>', f'"-INF"^^<{XSD}float>', f'"300"^^<{XSD}byte>', "<http://example.org/none>")


def sensor(place: int) -> Term:
    return f"<http://example.org/sensor{place}>"


def sensors(seed: int, commits: int = 120) -> list[Entry]:
    """Readings that replace each other, sometimes stand beside each other, go away and come back."""
    chance = random.Random(seed)
    there: set[Quad] = set()
    entries: list[Entry] = []
    time = START
    for seq in range(1, commits + 1):
        delta: dict[Quad, int] = {}
        while not delta:
            _report(chance, there, delta)
        for quad, weight in delta.items():
            (there.add if weight > 0 else there.remove)(quad)
        time += chance.choice((0, 1, MINUTE, chance.randrange(5 * MINUTE), chance.randrange(60 * MINUTE)))
        entries.append(Entry(seq, time, ZSet.owning(delta), ()))
    return entries


def _report(chance: random.Random, there: set[Quad], delta: dict[Quad, int]) -> None:
    series = (sensor(chance.randrange(5)), chance.choice((VALUE, VALUE, STATE)), chance.choice(("", GRAPH)))
    kind = chance.random()
    old = sorted(quad for quad in there if (quad[0], quad[1], quad[3]) == series)
    if kind < 0.85:
        delta.update(dict.fromkeys(old, -1))
    if kind > 0.15:
        quad = (*series[:2], _reading(chance), series[2])
        if quad not in there:
            delta[quad] = 1


def _reading(chance: random.Random) -> Term:
    if chance.random() < 0.15:
        return chance.choice(ODD)
    value = chance.choice((chance.randint(-9, 9), round(chance.uniform(-50, 50), 2)))
    return f'"{value}"^^<{XSD}{"integer" if isinstance(value, int) else chance.choice(("decimal", "double"))}>'


def lake_of(folder: Path, entries: Iterable[Entry]) -> Lake:
    """A lake with these commits in one file."""
    lake = Lake.make(folder)
    room = lake.fresh("changes", 1)
    room.mkdir()
    pq.write_table(pa.Table.from_batches(batches(iter(entries)), ARROW), room / "part-0.parquet")
    found = lake.found(room)
    lake.publish(IngestedBatch(*found.range("seq"), *found.range("time"), found.files))
    return lake


# -- the figures, as plainly as they can be had ----------------------------------------------------------------------


class Held(NamedTuple):
    """A value, and when it held."""

    subject: Term
    graph: Term
    seq: int
    time: int
    value: Term
    number: float | None
    until: int | None


def held(entries: Iterable[Entry], predicate: Term, span: Span) -> list[Held]:
    open_: dict[Quad, Held] = {}
    found: list[Held] = []
    for entry in entries:
        for quad, weight in entry.delta.items():
            s, p, o, g = quad
            if entry.time >= span.until or p != predicate:
                continue
            if weight > 0:
                open_[quad] = Held(s, g, entry.commit, entry.time, o, number_of(o), None)
            else:
                found.append(open_.pop(quad)._replace(until=entry.time))
    found += open_.values()
    return sorted(each for each in found if each.time >= span.since or each.until is None or each.until > span.since)


def number_of(term: Term) -> float | None:
    """As the engine reads it."""
    value = decode(term)
    return float(value.value) if isinstance(value, Number) else None


Window = tuple[Term, Term, int, int, float | None, float | None, float | None, float | None]


def windowed(rows: Iterable[Held], span: Span, every: int) -> list[Window]:
    numbers = [each for each in rows if each.number is not None and isfinite(each.number)]
    result: list[Window] = []
    for subject, graph in sorted({(each.subject, each.graph) for each in numbers}):
        own = [each for each in numbers if (each.subject, each.graph) == (subject, graph)]
        for start in range(span.since // every * every, span.until, every):
            low, high = max(start, span.since), min(start + every, span.until)
            came = [each.number or 0.0 for each in own if low <= each.time < high]
            parts = [(each.number or 0.0, min(high, each.until or span.until) - max(low, each.time)) for each in own]
            weighed = [(value, length) for value, length in parts if length > 0]
            if came or weighed:
                total = sum(length for _, length in weighed)
                mean = sum(value * length for value, length in weighed) / total if total else None
                figures = (fmean(came), min(came), max(came)) if came else (None, None, None)
                result.append((subject, graph, start, len(came), *figures, mean))
    return result


def changes_of(entries: Iterable[Entry], span: Span) -> Iterator[tuple[Entry, Quad, int]]:
    for entry in entries:
        if span.since <= entry.time < span.until:
            for quad, weight in entry.delta.items():
                yield entry, quad, weight


def counted(found: Iterable[tuple[Entry, Quad, int]]) -> tuple[int, int, int]:
    """Additions, removals, commits."""
    rows = list(found)
    added = sum(weight > 0 for _, _, weight in rows)
    return added, len(rows) - added, len({entry.commit for entry, _, _ in rows})


Gap = tuple[Term, Term, int, int | None, float, float | None]


def silences(entries: Iterable[Entry], predicate: Term, span: Span, longer: int) -> list[Gap]:
    times: dict[tuple[Term, Term], set[int]] = {}
    for entry, (s, p, _, g), _ in changes_of(entries, Span(0, span.until)):
        if p == predicate:
            times.setdefault((s, g), set()).add(entry.time)
    result: list[Gap] = []
    for (subject, graph), own in times.items():
        ordered = sorted(own)
        between = [(one, other) for one, other in pairwise(ordered)]
        usual = round(median(other - one for one, other in between) / 1e6, 3) if between else None
        for since, until in (*between, (ordered[-1], None)):
            end = until or span.until
            if end - since > longer and end > span.since:
                result.append((subject, graph, since, until, round((end - since) / 1e6, 3), usual))
    return sorted(result, key=lambda gap: (-gap[4], gap[0], gap[1], gap[2]))
