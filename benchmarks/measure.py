"""Shared by the benchmarks: timing two peers in turns, loading the city into both, and printing the JSON line."""

import gc
import json
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import psutil
import pyoxigraph

from tidings.bench.workloads.city import city
from tidings.engine.store.store import Store
from tidings.engine.updates.executor import Core
from tidings.log.entry import START, Entry
from tidings.log.folder import Folder
from tidings.log.journal import Journal, Settings

NOW = 1_700_000_000_000_000


def say(text: str) -> None:
    """Print progress to standard error, because standard output ends with one JSON line."""
    print(text, file=sys.stderr, flush=True)


def report(**figures: Any) -> None:
    print(json.dumps(figures))


def rounded(figure: float, digits: int = 3) -> float:
    return round(figure, digits)


def per_call(work: Callable[[Any], object], inputs: Sequence[Any]) -> float:
    """The mean seconds of a call, over all inputs."""
    start = time.perf_counter()
    for each in inputs:
        work(each)
    return (time.perf_counter() - start) / len(inputs)


def duel(
    ours: Callable[[Any], object], theirs: Callable[[Any], object], rounds: Iterable[Sequence[Any]]
) -> tuple[float, float]:
    """The seconds for a call of each peer in its best round. Both do the same rounds of work, in turns."""
    mine: list[float] = []
    other: list[float] = []
    for inputs in rounds:
        mine.append(per_call(ours, inputs))
        other.append(per_call(theirs, inputs))
    return min(mine), min(other)


def city_document(factor: float = 1.0) -> bytes:
    """The city as one N-Triples document."""
    return "".join(f"{s} {p} {o} .\n" for s, p, o in city(factor)).encode()


def our_city(factor: float = 1.0) -> Core:
    core = Core(Store((s, p, o, "") for s, p, o in city(factor)))
    gc.collect()
    gc.freeze()
    return core


def their_city(factor: float = 1.0) -> pyoxigraph.Store:
    store = pyoxigraph.Store()
    store.bulk_load(BytesIO(city_document(factor)), format=pyoxigraph.RdfFormat.N_TRIPLES)
    return store


def resident_mb() -> float:
    return psutil.Process().memory_info().rss / 1e6


def check(agreed: bool, what: str) -> None:
    """End the benchmark with an error if answers are wrong, so that it prints no times."""
    if not agreed:
        raise SystemExit(f"the answers disagree: {what}")


def write_log(folder: Path, entries: Iterable[Entry]) -> Path:
    """A data folder with these commits."""
    with Folder(folder):
        journal = Journal(folder, START, Settings(durability="os"))
        for entry in entries:
            journal.append(entry)
            if entry.commit % 5_000 == 0 and (batch := journal.take()):
                journal.write(batch)
        if batch := journal.take():
            journal.write(batch)
        journal.close()
    return folder
