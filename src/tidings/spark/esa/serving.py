"""Converts the index from Parquet to the arrays that matching uses, a batch of terms at a time."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from tidings.lexicons.esa.folder import Manifest
from tidings.lexicons.esa.writing import IndexWriter

_TOGETHER = 4096


def serve(
    out: Path, files: list[Path], words: pa.Table, concepts: pa.Table, source: str, how: dict[str, float]
) -> Manifest:
    """Write the arrays. `words` has term, id and idf, ordered by id, which is the order of the terms' bytes; `concepts`
    has page and title, ordered by page. The number of a concept is its place among the pages."""
    pages = concepts["page"].to_numpy()
    sizes = np.zeros(len(words), np.int64)
    for batch in _batches(files, ["id", "size"]):
        sizes[batch["id"].to_numpy()] = batch["size"].to_numpy()
    terms = (each.as_py() for each in words["term"])
    titles = (each.as_py() for each in concepts["title"])
    writer = IndexWriter(out, terms, words["idf"].to_numpy(), sizes.tolist(), titles)
    for batch in _batches(files, ["id", "pages", "weights"]):
        _place(writer, batch, pages)
    return writer.finish(source, how)


def _place(writer: IndexWriter, batch: pa.RecordBatch, pages: NDArray[Any]) -> None:
    ends = np.cumsum(pc.list_value_length(batch["pages"]).to_numpy())
    concepts = np.searchsorted(pages, batch["pages"].flatten().to_numpy()).astype(np.int32)
    weights = batch["weights"].flatten().to_numpy()
    start = 0
    for term, end in zip(batch["id"].to_pylist(), ends.tolist(), strict=True):
        writer.place(term, concepts[start:end], weights[start:end])
        start = end


def _batches(files: list[Path], columns: list[str]) -> Iterator[pa.RecordBatch]:
    for file in files:
        with pq.ParquetFile(file) as opened:
            yield from opened.iter_batches(_TOGETHER, columns=columns)
