"""Logs with random histories, and what they come to."""

import random
from collections.abc import Iterable
from pathlib import Path

import pyarrow.dataset as ds

from log.making import journal_of, write
from tidings.engine.store.store import Store
from tidings.log.entry import Entry, Note, published_by
from tidings.log.folder import Folder
from tidings.log.journal import Settings
from tidings.model.terms import Quad
from tidings.model.zset import ZSet
from tidings.spark.lake.lake import Lake
from tidings.spark.log_source.data_source import ARROW

Row = tuple[int, int, str, str, str, str, str, str | None]
OBJECTS = ('"1"', '"a \\"b\\"\\n"', '"été"@fr', '"x"@EN', "_:b", "<http://example.org/o>", '"𝔘"')

PUBLISHERS = (None, "alice", "été")


def history(seed: int, commits: int) -> list[Entry]:
    """Quads that come and go, in several graphs, with notes in between."""
    chance = random.Random(seed)
    there: set[Quad] = set()
    entries: list[Entry] = []
    time = 1_700_000_000_000_000
    for seq in range(1, commits + 1):
        delta: dict[Quad, int] = {}
        while not delta:
            for _ in range(chance.randint(1, 6)):
                quad = _quad(chance)
                delta[quad] = -1 if quad in there else 1
        for quad, weight in delta.items():
            (there.add if weight > 0 else there.remove)(quad)
        time += chance.randint(1, 2_000_000)
        notes: tuple[Note, ...] = (Note("subscribe", {"spuid": f"urn:{seq}"}),) if chance.random() < 0.1 else ()
        publisher = PUBLISHERS[seq % len(PUBLISHERS)]
        if publisher is not None:
            notes += (published_by(publisher),)
        entries.append(Entry(seq, time, ZSet.owning(delta), notes))
        if chance.random() < 0.1:
            entries.append(Entry(seq, time, ZSet.owning({}), (Note("remark", {"text": "…"}),)))
    return entries


def _quad(chance: random.Random) -> Quad:
    return (
        f"<http://example.org/s{chance.randrange(8)}>",
        f"<http://example.org/p{chance.randrange(4)}>",
        chance.choice(OBJECTS),
        chance.choice(("", "", "<http://example.org/g>", "<http://example.org/h>")),
    )


def log_with(folder: Path, entries: Iterable[Entry], settings: Settings | None = None) -> Path:
    """A data folder with these commits, in several segments."""
    with Folder(folder):
        journal = journal_of(folder, settings or Settings(segment_bytes=20_000, durability="os"))
        write(journal, entries)
        journal.close()
    return folder


def rows_of(entries: Iterable[Entry]) -> list[Row]:
    """The changes, as the lake should have them."""
    return sorted(
        (entry.commit, entry.time, "add" if weight > 0 else "remove", *quad, entry.publisher)
        for entry in entries
        for quad, weight in entry.delta.items()
    )


def rows_in(lake: Lake) -> list[Row]:
    """The changes that a lake has, without Spark."""
    paths = [path for batch in lake.batches() for path in lake.paths(batch.files)]
    if not paths:
        return []
    table = ds.dataset(paths, schema=ARROW).to_table()
    columns = [table[name].cast("int64" if name == "time" else table[name].type) for name in table.column_names]
    return sorted(zip(*(column.to_pylist() for column in columns), strict=True))


def replayed(entries: Iterable[Entry], at: int) -> set[Quad]:
    """The quads after a commit, by the engine."""
    store = Store()
    for entry in entries:
        if entry.commit <= at:
            store.apply(entry.delta)
    return set(store)
