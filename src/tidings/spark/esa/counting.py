"""Counts the terms of pieces, in Python workers, with the same code that later finds the terms of phrases.

For each piece, a worker writes a file. A row is a block of documents, as arrays: the distinct terms of all its
documents, and for each document the places of its terms among these. Spark gets only the name of the file and counters
of pages. To pass the arrays through Spark would cost more than all the rest (a third of the processor time of a build).
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from pyspark.sql import SparkSession

from tidings.matching.esa.terms import counted
from tidings.model.errors import TidingsError
from tidings.spark.errors import WorkerError
from tidings.spark.esa.errors import DumpDamaged
from tidings.spark.esa.pages import Skipped
from tidings.spark.esa.sources import Piece, read_documents

_SCHEMA = "file string, tally string"
_ARROW = pa.schema(
    [
        *((name, pa.binary()) for name in ("pages", "sizes", "places", "counts")),
        *((name, pa.list_(pa.string())) for name in ("titles", "terms")),
        ("df", pa.list_(pa.int32())),
    ]
)
_FULL = 1 << 20
"""How many terms of documents a block has: 8 MB."""
PAGES, KEPT, SHORT, DAMAGED = "pages", "kept", "too short", "damaged"
_MOST_TERMS = 50_000
"""The most different terms of a document; of a longer one, the most frequent are kept."""


class Block(NamedTuple):
    """Documents and their terms. Those of the first document are the first `sizes[0]` of `places` and `counts`."""

    pages: NDArray[np.int64]
    sizes: NDArray[np.int32]
    places: NDArray[np.int32]
    counts: NDArray[np.int32]
    terms: pa.Array


class Counted(NamedTuple):
    """The file with the counts of a piece, and counters of its pages."""

    file: str
    tally: dict[str, int]


def count(spark: SparkSession, pieces: list[Piece], folder: Path, shortest: int, *, lenient: bool) -> list[Counted]:
    """Count pieces, each in a partition of its own. Files of repeated or failed tasks are not in the result."""
    work = _worker([msgspec.json.encode(piece) for piece in pieces], str(folder.absolute()), shortest, lenient)
    found = spark.range(0, len(pieces), 1, len(pieces)).mapInArrow(work, _SCHEMA).collect()
    return [Counted(row.file, msgspec.json.decode(row.tally, type=dict[str, int])) for row in found]


def blocks(path: Path) -> Iterator[Block]:
    """The blocks of a file of counts, one at a time."""
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(1, columns=[*Block._fields]):
            pages, *others = (batch[name][0].as_buffer() for name in ("pages", "sizes", "places", "counts"))
            sizes, places, counts = (np.frombuffer(each, np.int32) for each in others)
            yield Block(np.frombuffer(pages, np.int64), sizes, places, counts, batch["terms"].flatten())


def _worker(pieces: list[bytes], folder: str, shortest: int, lenient: bool) -> Callable[[Iterator[Any]], Iterator[Any]]:
    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                piece = msgspec.json.decode(pieces[number], type=Piece)
                file = f"{number}-{uuid4().hex[:12]}.parquet"
                try:
                    tally = _written(piece, Path(folder, file), shortest, lenient=lenient)
                except TidingsError as error:
                    raise WorkerError(error) from error
                yield pa.RecordBatch.from_pydict({"file": [file], "tally": [msgspec.json.encode(tally).decode()]})

    return work


def _written(piece: Piece, path: Path, shortest: int, *, lenient: bool) -> Counter[str]:
    """Write the counts of a piece to a file. Returns the counters of its pages."""
    tally: Counter[str] = Counter()
    filling = _Filling()
    with pq.ParquetWriter(path, _ARROW, use_dictionary=False) as writer:
        try:
            for document in read_documents(piece):
                tally[PAGES] += 1
                if isinstance(document, Skipped):
                    tally[document.value] += 1
                elif len(terms := _terms(document.text)) < shortest:
                    tally[SHORT] += 1
                else:
                    tally[KEPT] += 1
                    filling.add(document.number, document.title, terms)
                    if len(filling.places) >= _FULL:
                        writer.write_batch(filling.batch())
                        filling = _Filling()
        except DumpDamaged:
            if not lenient:
                raise
            tally[DAMAGED] += 1
        writer.write_batch(filling.batch())
    return tally


def _terms(text: str) -> Counter[str]:
    found = counted(text)
    return found if len(found) <= _MOST_TERMS else Counter(dict(found.most_common(_MOST_TERMS)))


class _Filling:
    """Builds a block from documents."""

    def __init__(self) -> None:
        self._number: defaultdict[str, int] = defaultdict()
        self._number.default_factory = self._number.__len__
        self._pages: list[int] = []
        self._titles: list[str] = []
        self._sizes: list[int] = []
        self._counts: list[int] = []
        self.places: list[int] = []

    def add(self, page: int, title: str, terms: Counter[str]) -> None:
        self._pages.append(page)
        self._titles.append(title)
        self._sizes.append(len(terms))
        self.places.extend(map(self._number.__getitem__, terms))
        self._counts.extend(terms.values())

    def batch(self) -> pa.RecordBatch:
        places = np.array(self.places, np.int32)
        arrays = (
            np.array(self._pages, np.int64),
            np.array(self._sizes, np.int32),
            places,
            np.array(self._counts, np.int32),
        )
        df = np.bincount(places, minlength=len(self._number)).astype(np.int32)
        row = (*(each.tobytes() for each in arrays), self._titles, list(self._number), df)
        return pa.RecordBatch.from_arrays(
            [pa.array([x], f.type) for x, f in zip(row, _ARROW, strict=True)], schema=_ARROW
        )
