"""Computes an inverted index from counts: the formulas of `matching/esa/formulas.py` on arrays, in Python workers.

    vocabulary   the terms that enough documents have, and not too many; idf = ln(n / df)
    weights      (1 + ln count) · idf; the terms of a document have length 1
    postings     for each term, the `most` documents with the greatest weights; they have length 1

Each block of documents becomes one block of postings for each bucket of terms, and Spark shuffles the blocks by bucket.
A row of the shuffle is a block, so a posting costs little more than the copying of its 16 bytes. The task of a bucket
writes its file, and Spark gets only the name.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

from tidings.matching.esa.formulas import idf, tf
from tidings.spark.esa.counting import Block, blocks

BUCKET = 4_000_000
"""The approximate number of postings of a bucket. One worker has them in memory, about 200 MB."""
_MOST_BUCKETS = 1 << 16
HERE = 4_000_000
"""Up to this many terms of blocks, this process adds them up itself: about 200 MB, and one second."""
_KINDS = {"ids": np.int32, "pages": np.int64, "weights": np.float32}
_SHUFFLED = pa.schema([("bucket", pa.int32()), *((name, pa.binary()) for name in _KINDS)])
_SHUFFLED_SCHEMA = "bucket int, ids binary, pages binary, weights binary"
_INDEX = pa.schema(
    [
        *(("id", pa.int32()), ("term", pa.string()), ("df", pa.int64()), ("idf", pa.float64()), ("size", pa.int32())),
        *(("pages", pa.list_(pa.int64())), ("weights", pa.list_(pa.float32()))),
    ]
)
_WRITTEN = pa.schema([("file", pa.string())])


def frequencies(spark: SparkSession, counts: list[Path], rarest: int, commonest: float, here: int = HERE) -> pa.Table:
    """term, df: the terms of enough documents, and not of too many. A block of counts has each of its terms once. If
    there are few, this process adds them up, because starting a Spark job would take longer."""
    within = (pc.field("df") >= rarest) & (pc.field("df") <= max(1.0, commonest))
    if sum(map(_size, counts)) <= here:
        read = [pq.read_table(each, columns=["terms", "df"]) for each in counts]
        parts = [[table[name].combine_chunks().flatten() for table in read] for name in ("terms", "df")]
        every = pa.table([pa.chunked_array(part) for part in parts], ["term", "df"])
        found = every.group_by("term").aggregate([("df", "sum")]).rename_columns(["term", "df"])
        return found.filter(within)
    blocks = spark.read.parquet(*(str(each.absolute()) for each in counts))
    rows = blocks.select(f.inline(f.arrays_zip("terms", "df"))).toDF("term", "df")
    summed = rows.groupBy("term").agg(f.sum("df").alias("df"))
    return summed.where((f.col("df") >= rarest) & (f.col("df") <= max(1.0, commonest))).toArrow()


def _size(counts: Path) -> int:
    """How many terms the blocks of a file have."""
    table = pq.read_metadata(counts)
    paths = [table.schema.column(place).path for place in range(table.num_columns)]
    column = next(place for place, path in enumerate(paths) if path.startswith("terms."))
    return sum(table.row_group(place).column(column).num_values for place in range(table.num_row_groups))


def vocabulary(every: pa.Table, documents: int, most: int) -> pa.Table:
    """term, df, idf, id: the most frequent terms, ordered by their bytes."""
    kept = every.sort_by([("df", "descending"), ("term", "ascending")]).slice(0, most).sort_by("term")
    known = idf(documents, kept["df"].to_numpy())
    return kept.append_column("idf", pa.array(known)).append_column("id", pa.array(range(len(kept)), pa.int32()))


class Pruning(NamedTuple):
    most: int
    least: float


def postings(
    spark: SparkSession, counts: list[Path], words: Path, total: int, pruning: Pruning, out: Path
) -> list[str]:
    """Write the postings to files with a row for each term, its pages ascending. Returns the names of the files.
    `words` is the file of the vocabulary, in which the place of a term is its id; `total` is how many postings there
    are before pruning."""
    buckets = min(max(spark.sparkContext.defaultParallelism, -(-total // BUCKET)), _MOST_BUCKETS)
    files = [str(each.absolute()) for each in counts]
    where = str(words.absolute())
    weighed = spark.range(0, len(files), 1, len(files)).mapInArrow(_weighing(files, where, buckets), _SHUFFLED_SCHEMA)
    gathering = _gathering(where, pruning, str(out.absolute()))
    return [row.file for row in weighed.groupBy("bucket").applyInArrow(gathering, "file string").collect()]


# -- blocks of documents to blocks of postings --------------------------------------------------------------------


def _weighing(files: list[str], words: str, buckets: int) -> Callable[[Iterator[Any]], Iterator[Any]]:
    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        known = _vocabulary(words)
        for batch in batches:
            for number in batch.column(0).to_pylist():
                for block in blocks(Path(files[number])):
                    yield _divided(weighed(block, known), buckets)

    return work


class Postings(NamedTuple):
    """Postings: the ids of terms, the pages that have them, and their weights in these."""

    ids: NDArray[np.int32]
    pages: NDArray[np.int64]
    weights: NDArray[np.float32]


def weighed(block: Block, words: pa.Table) -> Postings:
    """The postings of a block; the weights of each document have length 1."""
    ids = pc.index_in(block.terms, words["term"].chunk(0)).fill_null(-1).to_numpy()
    telling = np.append(words["idf"].to_numpy(), 0.0)[ids]  # 0 for unknown terms, whose id is -1
    weights = tf(block.counts) * telling[block.places]
    document = np.repeat(np.arange(len(block.pages)), block.sizes)
    lengths = np.sqrt(np.bincount(document, weights=weights * weights, minlength=len(block.pages)))
    some = np.flatnonzero(weights > 0)
    weights = (weights[some] / lengths[document[some]]).astype(np.float32)
    return Postings(ids[block.places[some]], block.pages[document[some]], weights)


def _divided(found: Postings, buckets: int) -> pa.RecordBatch:
    """Postings divided by the buckets of their terms."""
    bucket = (found.ids % buckets).astype(np.uint16)
    order = np.argsort(bucket, kind="stable")
    ends = np.cumsum(np.bincount(bucket, minlength=buckets))
    parts = [[part.tobytes() for part in np.split(array[order], ends[:-1])] for array in found]
    columns = [pa.array(range(buckets), pa.int32()), *(pa.array(part, pa.binary()) for part in parts)]
    return pa.RecordBatch.from_arrays(columns, schema=_SHUFFLED)


# -- blocks of postings to the index ------------------------------------------------------------------------------


def _gathering(words: str, pruning: Pruning, out: str) -> Callable[[pa.Table], pa.Table]:
    def work(table: pa.Table) -> pa.Table:
        parts = ([np.frombuffer(part.as_buffer(), kind) for part in table[name]] for name, kind in _KINDS.items())
        found = pruned(Postings(*(np.concatenate(part) for part in parts)), pruning)
        file = f"{table['bucket'][0]}-{uuid4().hex[:12]}.parquet"
        pq.write_table(indexed(found, _vocabulary(words)), Path(out, file), use_dictionary=False)
        return pa.table({"file": [file]}, schema=_WRITTEN)

    return work


def pruned(found: Postings, pruning: Pruning) -> Postings:
    """Pruned postings, ordered by term and page. Among equal weights, the first documents are kept, so that an index
    does not depend on how it was built."""
    order = np.lexsort((found.pages, found.ids))
    ids, pages, weights = found.ids[order], found.pages[order], found.weights[order]
    starts = np.flatnonzero(np.diff(ids, prepend=-1))
    sizes = np.diff(starts, append=len(ids))
    kept = np.ones(len(ids), bool)
    if pruning.least > 0 and len(starts):
        kept = weights >= np.float32(pruning.least) * np.repeat(np.maximum.reduceat(weights, starts), sizes)
    # Most terms are in few documents. Sorting only the others by weight takes a quarter of the time.
    for place in np.flatnonzero(sizes > pruning.most).tolist():
        own = slice(starts[place], starts[place] + sizes[place])
        kept[own][np.argsort(-weights[own], kind="stable")[pruning.most :]] = False
    return Postings(ids[kept], pages[kept], weights[kept])


def indexed(found: Postings, words: pa.Table) -> pa.Table:
    """A table with a row for each term, whose weights have length 1."""
    starts = np.flatnonzero(np.diff(found.ids, prepend=-1))
    sizes = np.diff(starts, append=len(found.ids))
    weights = found.weights.astype(np.float64)
    lengths = np.sqrt(np.add.reduceat(weights * weights, starts)) if len(starts) else np.empty(0)
    normal = (weights / np.repeat(lengths, sizes)).astype(np.float32)
    ids = found.ids[starts]
    ends = pa.array(np.append(starts, len(found.ids)), pa.int32())
    lists = [pa.ListArray.from_arrays(ends, pa.array(each)) for each in (found.pages, normal)]
    told = words.take(pa.array(ids)).select(["term", "df", "idf"])
    columns = [pa.array(ids), *told.itercolumns(), pa.array(sizes, pa.int32()), *lists]
    return pa.Table.from_arrays(columns, schema=_INDEX)


class _Version(NamedTuple):
    path: str
    changed: int


def _vocabulary(path: str) -> pa.Table:
    return _kept(_Version(path, Path(path).stat().st_mtime_ns))


@lru_cache(maxsize=1)
def _kept(version: _Version) -> pa.Table:
    """The vocabulary, which a worker caches for its next tasks."""
    return pq.read_table(version.path).combine_chunks()
