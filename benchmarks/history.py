"""The history lake on Spark, on two cores: ingests a log of a million changes, restores the graph after some commits,
and compares the road join over cities of one, three and ten million quads with the engine, which has them in memory.

Prints one JSON line. `ingest_changes_per_s` is measured warm, after a small log. `asof_s` is the time to restore and
count the graph after the last commit, warm, without a snapshot; `asof_half_s` after half of the commits.
`history_ratio` is, by size, the time of Spark divided by that of the engine, for the lamps of all roads and their
values; for `history_ratio_loading`, the engine first loads the quads, as it has to for a graph of the past;
`history_ratio_one_road` is for one road, which the engine finds by an index. `speedup_2_cores` is the time on one core
divided by that on two. The results are checked: graphs against the fold of the log, answers against the engine's.

    python benchmarks/history.py [CHANGES [MILLIONS …]]
"""

import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from measure import check, report, rounded, say, write_log
from tidings.bench.workloads.city import NS, city
from tidings.engine.store.store import Store
from tidings.engine.updates.executor import Core
from tidings.log.entry import Entry
from tidings.log.reading import read
from tidings.model.results import Solutions
from tidings.model.terms import Quad
from tidings.model.zset import ZSet
from tidings.spark.lake import travel
from tidings.spark.lake.ingest import Ingest
from tidings.spark.lake.lake import Lake
from tidings.spark.lake.manifest import IngestedBatch
from tidings.spark.lake.writing import Upkeep
from tidings.spark.log_source.data_source import ARROW
from tidings.spark.session import session
from tidings.spark.sparql import query

CHANGES = 1_000_000
SIZES = [1.0, 3.0, 10.0]
"""Millions of quads."""
_CITY = 334_000
"""The approximate number of quads of the paper's city."""
_ROUNDS = 3
_MEMORY = "6g"
_LAMPS = (
    f"PREFIX ns: <{NS}> SELECT ?road ?lamp ?dimming "
    "{ ?road ns:isConnectedTo ?post . ?post ns:hasLamp ?lamp . ?lamp ns:hasDimmingValue ?dimming"
)
QUERIES = {"all": f"{_LAMPS} }}", "one": f"{_LAMPS} FILTER (?road = ns:ROAD_301) }}"}
_NEVER = Upkeep(snapshot_every=1 << 60)


def city_life(changes: int) -> Iterator[Entry]:
    """Commits for 30,000 lamps with a dozen properties, of which a few change at a time."""
    chance = random.Random(1)
    values: dict[tuple[str, str], str] = {}
    seq, instant, made = 0, 1_700_000_000_000_000, 0
    while made < changes:
        delta: dict[Quad, int] = {}
        for _ in range(chance.randint(1, 4)):
            s = f"<http://example.org/city/lamp/{chance.randrange(30_000)}>"
            p = f"<http://example.org/vocab#p{chance.randrange(12)}>"
            o = f'"{seq}.{len(delta)}"^^<http://www.w3.org/2001/XMLSchema#decimal>'
            if (s, p) in values and (s, p, values[s, p], "") not in delta:
                delta[s, p, values[s, p], ""] = -1
            elif (s, p) in values:
                continue
            delta[s, p, o, ""] = 1
            values[s, p] = o
        seq, instant, made = seq + 1, instant + chance.randrange(1, 2_000), made + len(delta)
        yield Entry(seq, instant, ZSet.owning(delta))


def lake_of(folder: Path, quads: Iterator[Quad]) -> Lake:
    """A lake with one commit that adds these quads."""
    lake = Lake.make(folder)
    path = lake.fresh("changes", 1)
    path.mkdir()
    size = 0
    while chunk := list(islice(quads, 1_000_000)):
        size += len(chunk)
        columns = dict(zip("spog", map(list, zip(*chunk, strict=True)), strict=True))
        table = pa.table({**columns, "seq": [1] * len(chunk), "time": [1] * len(chunk), "op": ["add"] * len(chunk)})
        table = table.sort_by("p").append_column("by", pa.nulls(len(chunk), pa.string()))
        pq.write_table(table.cast(_shuffled(table.schema)), path / f"{size}.parquet", compression="zstd")
    found = lake.found(path)
    lake.publish(IngestedBatch(1, 1, 1, 1, found.files))
    return lake


def _shuffled(schema: pa.Schema) -> pa.Schema:
    return pa.schema([ARROW.field(name) for name in schema.names])


def join_over_history(spark: SparkSession, lake: Lake, rounds: int = _ROUNDS) -> dict[str, float]:
    """The seconds for each query, the best of some rounds. Checks the answers against the engine's."""
    start = time.perf_counter()
    store = travel.store(spark, lake, 1)
    times = {"loading": time.perf_counter() - start}
    core = Core(store)
    for name, text in QUERIES.items():
        ours, theirs = [], []
        for number in range(rounds):
            start = time.perf_counter()
            _, frame = query.run(travel.quads(spark, lake, 1), text)
            found = frame.toArrow()
            ours.append(time.perf_counter() - start)
            start = time.perf_counter()
            answer = core.query(text, now=0)
            assert isinstance(answer, Solutions)
            expected = list(answer.rows)
            theirs.append(time.perf_counter() - start)
            if not number:
                rows = zip(*(column.to_pylist() for column in found.columns), strict=True)
                check(sorted(rows) == sorted(expected), f"{name}: {len(expected):,} rows, the same in Spark and here")
        times[name], times[f"{name} here"] = min(ours), min(theirs)
        say(f"{len(store):,} quads, {name}: Spark {min(ours):.2f} s, the engine {min(theirs):.5f} s")
    return times


def main() -> None:
    changes = int(sys.argv[1]) if len(sys.argv) > 1 else CHANGES
    sizes = [float(size) for size in sys.argv[2:]] or SIZES
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        figures = _in_and_out(folder, changes)
        ratios: dict[str, dict[str, float]] = {"history_ratio": {}, "history_ratio_loading": {}}
        ratios["history_ratio_one_road"] = {}
        taken: dict[float, float] = {}
        spark = session("local[2]", memory=_MEMORY)
        for size in sizes:
            lake = lake_of(folder / f"{size}", ((s, p, o, "") for s, p, o in city(size * 1e6 / _CITY)))
            times = join_over_history(spark, lake)
            key = f"{size:g}M"
            ratios["history_ratio"][key] = rounded(times["all"] / times["all here"], 2)
            ratios["history_ratio_loading"][key] = rounded(times["all"] / (times["loading"] + times["all here"]), 2)
            ratios["history_ratio_one_road"][key] = rounded(times["one"] / times["one here"], 0)
            taken[size] = times["all"]
        spark.stop()
        alone = session("local[1]", memory=_MEMORY)
        middle = sizes[len(sizes) // 2]
        slow = join_over_history(alone, Lake(folder / f"{middle}"), 2)["all"]
        alone.stop()
        report(**figures, **ratios, speedup_2_cores=rounded(slow / taken[middle], 2))


def _in_and_out(folder: Path, changes: int) -> dict[str, float]:
    """Ingest a log into a lake, and restore graphs from it."""
    log = write_log(folder / "data", city_life(changes))
    small = write_log(folder / "small", city_life(max(1, changes // 5)))
    say(f"{changes:,} changes written; Spark starts")
    spark = session("local[2]", memory=_MEMORY)
    Ingest(spark, Lake.make(folder / "warm"), str(small), upkeep=_NEVER).run()
    lake = Lake.make(folder / "lake")
    start = time.perf_counter()
    Ingest(spark, lake, str(log), upkeep=_NEVER).run()
    ingested = time.perf_counter() - start
    rows = sum(batch.rows for batch in lake.batches())
    say(f"{rows:,} changes in {ingested:.1f} s, in {len(lake.batches())} batches")
    last = lake.end().commit
    _check(set(travel.each_quad(spark, lake, last // 2)), log, last // 2)
    times: dict[int, list[float]] = {last: [], last // 2: []}
    for _ in range(_ROUNDS):
        for at, taken in times.items():
            start = time.perf_counter()
            quads = travel.quads(spark, lake, at).count()
            taken.append(time.perf_counter() - start)
            say(f"as of {at:,}: {quads:,} quads in {taken[-1]:.2f} s")
    spark.stop()
    return {
        "ingest_changes_per_s": rounded(rows / ingested, 0),
        "asof_s": rounded(statistics.median(times[last]), 2),
        "asof_half_s": rounded(statistics.median(times[last // 2]), 2),
        "lake_bytes_per_change": rounded(sum(file.bytes for file in lake.files()) / rows, 1),
    }


def _check(found: set[Quad], log: Path, at: int) -> None:
    store = Store()
    for entry in read(log):
        if entry.commit > at:
            break
        store.apply(entry.delta)
    check(found == set(store), f"the graph after commit {at:,} is the fold of the log")


if __name__ == "__main__":
    main()
