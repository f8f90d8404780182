"""Pieces to counts of terms, in Python workers. Terms are found by the code that finds them in phrases later.

A row is a block of documents, as arrays: the terms of all its documents once, and each document's terms by their places
among these. The last block of a piece also says what became of the piece's pages.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from pyspark.sql import DataFrame, SparkSession

from tidings.matching.esa.terms import counted
from tidings.model.errors import TidingsError
from tidings.spark.errors import WorkerError
from tidings.spark.esa.errors import DumpDamaged
from tidings.spark.esa.pages import Skipped
from tidings.spark.esa.sources import Piece, read_documents

SCHEMA = (
    "pages binary, sizes binary, places binary, counts binary, "
    "titles array<string>, terms array<string>, df array<int>, tally string"
)
_ARROW = pa.schema(
    [
        *((name, pa.binary()) for name in ("pages", "sizes", "places", "counts")),
        *((name, pa.list_(pa.string())) for name in ("titles", "terms")),
        ("df", pa.list_(pa.int32())),
        ("tally", pa.string()),
    ]
)
_FULL = 1 << 20
"""Terms of documents in a block: 8 MB."""
PAGES, KEPT, SHORT, DAMAGED = "pages", "kept", "too short", "damaged"
_MOST_TERMS = 50_000
"""Of a document; a book of lists has no more."""


class Block(NamedTuple):
    """Documents and their terms: those of the first document are the first `sizes[0]` of `places` and `counts`."""

    pages: NDArray[np.int64]
    sizes: NDArray[np.int32]
    places: NDArray[np.int32]
    counts: NDArray[np.int32]
    terms: pa.Array


def counts(spark: SparkSession, pieces: list[Piece], shortest: int, *, lenient: bool) -> DataFrame:
    """A partition for each piece."""
    work = _worker([msgspec.json.encode(piece) for piece in pieces], shortest, lenient)
    return spark.range(0, len(pieces), 1, len(pieces)).mapInArrow(work, SCHEMA)


def blocks(path: Path) -> Iterator[Block]:
    """Those of a file of counts, one at a time."""
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(1, columns=[*Block._fields]):
            pages, *others = (batch[name][0].as_buffer() for name in ("pages", "sizes", "places", "counts"))
            sizes, places, counts = (np.frombuffer(each, np.int32) for each in others)
            yield Block(np.frombuffer(pages, np.int64), sizes, places, counts, batch["terms"].flatten())


def _worker(pieces: list[bytes], shortest: int, lenient: bool) -> Callable[[Iterator[Any]], Iterator[Any]]:
    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                piece = msgspec.json.decode(pieces[number], type=Piece)
                try:
                    yield from _counted(piece, shortest, lenient=lenient)
                except TidingsError as error:
                    raise WorkerError(error) from error

    return work


def _counted(piece: Piece, shortest: int, *, lenient: bool) -> Iterator[pa.RecordBatch]:
    tally: Counter[str] = Counter()
    filling = _Filling()
    try:
        for document in read_documents(piece):
            tally[PAGES] += 1
            if isinstance(document, Skipped):
                tally[document.value] += 1
                continue
            terms = counted(document.text)
            if len(terms) > _MOST_TERMS:
                terms = Counter(dict(terms.most_common(_MOST_TERMS)))
            if len(terms) < shortest:
                tally[SHORT] += 1
                continue
            tally[KEPT] += 1
            filling.add(document.number, document.title, terms)
            if len(filling.places) >= _FULL:
                yield filling.batch(None)
                filling = _Filling()
    except DumpDamaged:
        if not lenient:
            raise
        tally[DAMAGED] += 1
    yield filling.batch(msgspec.json.encode(tally).decode())


class _Filling:
    """A block to which documents are added."""

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

    def batch(self, tally: str | None) -> pa.RecordBatch:
        places = np.array(self.places, np.int32)
        arrays = (
            np.array(self._pages, np.int64),
            np.array(self._sizes, np.int32),
            places,
            np.array(self._counts, np.int32),
        )
        df = np.bincount(places, minlength=len(self._number)).astype(np.int32)
        row = (*(each.tobytes() for each in arrays), self._titles, list(self._number), df, tally)
        return pa.RecordBatch.from_arrays(
            [pa.array([x], f.type) for x, f in zip(row, _ARROW, strict=True)], schema=_ARROW
        )
