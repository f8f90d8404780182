"""Compares loading the city from an N-Triples document with pyoxigraph's `bulk_load` of the same bytes.

Prints one JSON line: `ratio_load` (ours / pyoxigraph, less is better) and `bytes_per_quad` (the growth of resident
memory by loading, in a process of its own).
"""

import gc
import subprocess
import sys
import tempfile
import time
from io import BytesIO
from pathlib import Path

import pyoxigraph

from measure import check, city_document, report, resident_mb, rounded, say
from tidings.engine.store.store import Store
from tidings.model.formats.rdf import RdfFormat, parse_rdf

_ROUNDS = 3


def main() -> None:
    document = city_document()
    mine: list[float] = []
    theirs: list[float] = []
    for number in range(_ROUNDS):
        start = time.perf_counter()
        store = Store(parse_rdf(document, RdfFormat.N_TRIPLES))
        between = time.perf_counter()
        peer = pyoxigraph.Store()
        peer.bulk_load(BytesIO(document), format=pyoxigraph.RdfFormat.N_TRIPLES)
        mine.append(between - start)
        theirs.append(time.perf_counter() - between)
        say(f"round {number + 1} of {_ROUNDS}: {mine[-1]:.2f} s, pyoxigraph {theirs[-1]:.2f} s, {len(store):,} quads")
        check(len(store) == len(peer), "both stores hold as many triples")
        del store, peer
        gc.collect()
    report(ratio_load=rounded(min(mine) / min(theirs)), bytes_per_quad=rounded(_bytes_per_quad(document), 1))


def _bytes_per_quad(document: bytes) -> float:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "city.nt"
        path.write_bytes(document)
        command = [sys.executable, __file__, "--hold", str(path)]
        output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return float(output)


def _hold(path: str) -> None:
    """Load a document, in a process of its own, and print the bytes for each quad."""
    with Path(path).open("rb") as warm:
        list(parse_rdf(warm.read(100_000).rsplit(b"\n", 1)[0], RdfFormat.N_TRIPLES))
    gc.collect()
    before = resident_mb()
    with Path(path).open("rb") as file:
        store = Store(parse_rdf(file, RdfFormat.N_TRIPLES))
    gc.collect()
    print((resident_mb() - before) * 1e6 / len(store))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--hold"]:
        _hold(sys.argv[2])
    else:
        main()
