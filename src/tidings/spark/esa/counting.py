"""Pieces to counts of terms, in Python workers: a row for each document, and one for each piece that says what became
of its pages. Terms are found by the code that finds them in phrases later.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import accumulate
from typing import Any, TypeAlias

import msgspec
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from tidings.matching.esa.terms import counted
from tidings.model.errors import TidingsError
from tidings.spark.errors import WorkerError
from tidings.spark.esa.errors import DumpDamaged
from tidings.spark.esa.pages import Skipped
from tidings.spark.esa.sources import Piece, read_documents

SCHEMA = "page bigint, title string, terms map<string, int>, tally string"
_ARROW = pa.schema(
    [
        ("page", pa.int64()),
        ("title", pa.string()),
        ("terms", pa.map_(pa.string(), pa.int32())),
        ("tally", pa.string()),
    ]
)
_TOGETHER = 256
"""Documents of a batch."""
PAGES, KEPT, SHORT, DAMAGED = "pages", "kept", "too short", "damaged"
_MOST_TERMS = 50_000
"""Of a document; a book of lists has no more."""
_Row: TypeAlias = tuple[int, str, dict[str, int], str | None]


def counts(spark: SparkSession, pieces: list[Piece], shortest: int, *, lenient: bool) -> DataFrame:
    """A partition for each piece."""
    work = _worker([msgspec.json.encode(piece) for piece in pieces], shortest, lenient)
    return spark.range(0, len(pieces), 1, len(pieces)).mapInArrow(work, SCHEMA)


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
    rows: list[_Row] = []
    try:
        for document in read_documents(piece):
            tally[PAGES] += 1
            if isinstance(document, Skipped):
                tally[document.value] += 1
                continue
            terms: dict[str, int] = counted(document.text)
            if len(terms) > _MOST_TERMS:
                terms = dict(Counter(terms).most_common(_MOST_TERMS))
            if len(terms) < shortest:
                tally[SHORT] += 1
                continue
            tally[KEPT] += 1
            rows.append((document.number, document.title, terms, None))
            if len(rows) == _TOGETHER:
                yield _batch(rows)
                rows = []
    except DumpDamaged:
        if not lenient:
            raise
        tally[DAMAGED] += 1
    rows.append((-1, "", {}, msgspec.json.encode(tally).decode()))
    yield _batch(rows)


def _batch(rows: list[_Row]) -> pa.RecordBatch:
    """Maps from flat columns: Arrow takes three times as long to make them of Python's."""
    pages, titles, terms, tallies = zip(*rows, strict=True)
    ends = accumulate((len(each) for each in terms), initial=0)
    keys = pa.array([term for each in terms for term in each], pa.string())
    values = pa.array([count for each in terms for count in each.values()], pa.int32())
    maps = pa.MapArray.from_arrays(pa.array(ends, pa.int32()), keys, values)
    columns = [pa.array(pages, pa.int64()), pa.array(titles, pa.string()), maps, pa.array(tallies, pa.string())]
    return pa.RecordBatch.from_arrays(columns, schema=_ARROW)
