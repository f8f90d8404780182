"""The history lake on Spark: a log of a million changes taken in, and the graph of some commits taken out again.

Prints one JSON line: `ingest_changes_per_s` (warm: a small log was taken in before), `asof_s` (the graph after the last
commit, counted, warm, without a snapshot), `asof_half_s` (after half of them), `lake_bytes_per_change`. What comes out
is compared with the fold of the log first.
"""

import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from measure import check, report, rounded, say
from tidings.engine.store import Store
from tidings.log.entry import START, Entry
from tidings.log.folder import Folder
from tidings.log.journal import Journal, Settings
from tidings.log.reading import read
from tidings.model.terms import Quad
from tidings.model.zset import ZSet
from tidings.pipeline import travel
from tidings.pipeline.filling import Upkeep
from tidings.pipeline.ingest import Ingest
from tidings.pipeline.lake import Lake
from tidings.pipeline.session import session

CHANGES = 1_000_000
_ROUNDS = 3
_NEVER = Upkeep(snapshot_every=1 << 60)


def city_life(changes: int) -> Iterator[Entry]:
    """30,000 lamps whose dozen properties change a few at a time."""
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


def write_log(folder: Path, changes: int) -> Path:
    with Folder(folder):
        journal = Journal(folder, START, Settings(durability="os"))
        for entry in city_life(changes):
            journal.append(entry)
            if entry.seq % 5_000 == 0 and (batch := journal.take()):
                journal.write(batch)
        if batch := journal.take():
            journal.write(batch)
        journal.close()
    return folder


def main() -> None:
    changes = int(sys.argv[1]) if len(sys.argv) > 1 else CHANGES
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        log = write_log(folder / "data", changes)
        small = write_log(folder / "small", max(1, changes // 5))
        say(f"{changes:,} changes written; Spark starts")
        spark = session()
        Ingest(spark, Lake.make(folder / "warm"), str(small), upkeep=_NEVER).run()
        lake = Lake.make(folder / "lake")
        start = time.perf_counter()
        Ingest(spark, lake, str(log), upkeep=_NEVER).run()
        ingested = time.perf_counter() - start
        rows = sum(batch.rows for batch in lake.batches())
        say(f"{rows:,} changes in {ingested:.1f} s, in {len(lake.batches())} batches")
        last = lake.end().seq
        _check(set(travel.each_quad(spark, lake, last // 2)), log, last // 2)
        times: dict[int, list[float]] = {last: [], last // 2: []}
        for _ in range(_ROUNDS):
            for at, taken in times.items():
                start = time.perf_counter()
                quads = travel.quads(spark, lake, at).count()
                taken.append(time.perf_counter() - start)
                say(f"as of {at:,}: {quads:,} quads in {taken[-1]:.2f} s")
        report(
            ingest_changes_per_s=rounded(rows / ingested, 0),
            asof_s=rounded(statistics.median(times[last]), 2),
            asof_half_s=rounded(statistics.median(times[last // 2]), 2),
            lake_bytes_per_change=rounded(sum(file.bytes for file in lake.files()) / rows, 1),
        )
        spark.stop()


def _check(found: set[Quad], log: Path, at: int) -> None:
    store = Store()
    for entry in read(log):
        if entry.seq > at:
            break
        store.apply(entry.delta)
    check(found == set(store), f"the graph after commit {at:,} is the fold of the log")


if __name__ == "__main__":
    main()
