"""Writes an ESA index. The writer needs the length of each term's vector first; then the vectors may come in any order,
a few at a time, and the writer puts them into mapped files. The index exists once `finish` has written the manifest.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.lib.format import open_memmap
from numpy.typing import NDArray

from tidings.lexicons.esa.folder import ARRAYS, FORMAT, MANIFEST, VERSION, File, Manifest, digest

_TOGETHER = 100_000


class IndexWriter:
    """Writes one index. Terms have to be in the order of their bytes."""

    def __init__(
        self, folder: Path, terms: Iterable[str], idf: Sequence[float], sizes: Sequence[int], titles: Iterable[str]
    ) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        (folder / MANIFEST).unlink(missing_ok=True)
        self._terms = _write_texts(folder, "term", terms, ordered=True)
        self._documents = _write_texts(folder, "title", titles)
        if not self._terms == len(idf) == len(sizes):
            raise ValueError(f"{self._terms} terms, {len(idf)} of their idf and {len(sizes)} of their sizes")
        self._starts = np.concatenate(([0], np.cumsum(np.asarray(sizes, np.int64)))).astype(np.int64)
        np.save(folder / "idf.npy", np.asarray(idf, np.float32))
        np.save(folder / "starts.npy", self._starts)
        self._concepts = _made(folder / "concepts.npy", int(self._starts[-1]))
        self._weights = _made(folder / "weights.npy", int(self._starts[-1]))

    def place(self, term: int, concepts: NDArray[np.int32], weights: NDArray[np.float32]) -> None:
        """The vector of a term, by the number of the term; its concepts have to ascend."""
        start, end = int(self._starts[term]), int(self._starts[term + 1])
        if end - start != len(concepts):
            raise ValueError(f"term {term} has {len(concepts)} concepts, not {end - start}")
        self._concepts[start:end] = concepts
        self._weights[start:end] = weights

    def finish(self, source: str, parameters: Mapping[str, float]) -> Manifest:
        for array in (self._concepts, self._weights):
            if isinstance(array, np.memmap):
                array.flush()
        files = {name: File((self._folder / name).stat().st_size, digest(self._folder / name)) for name in ARRAYS}
        postings = int(self._starts[-1])
        made = Manifest(FORMAT, VERSION, source, self._documents, self._terms, postings, dict(parameters), files)
        path = self._folder / MANIFEST
        with path.with_suffix(".new").open("wb") as file:
            file.write(msgspec.json.format(msgspec.json.encode(made)) + b"\n")
            file.flush()
            os.fsync(file.fileno())
        path.with_suffix(".new").replace(path)
        return made


def _made(path: Path, length: int) -> NDArray[Any]:
    kind = ARRAYS[path.name]
    if length:
        return open_memmap(path, "w+", kind, (length,))
    np.save(path, np.empty(0, kind))
    return np.empty(0, kind)


def _write_texts(folder: Path, name: str, texts: Iterable[str], *, ordered: bool = False) -> int:
    """NAMEs.bin and NAME_ends.npy."""
    ends: list[NDArray[np.int64]] = []
    sizes: list[int] = []
    total, last = 0, b""
    with (folder / f"{name}s.bin").open("wb", buffering=1 << 20) as file:
        for text in texts:
            letters = text.encode("utf-8", "replace")
            if ordered and letters <= last:
                raise ValueError(f"{text!r} comes after {last.decode()!r}")
            last = letters
            file.write(letters)
            sizes.append(len(letters))
            if len(sizes) == _TOGETHER:
                ends.append(total + np.cumsum(sizes, dtype=np.int64))
                total, sizes = int(ends[-1][-1]), []
    ends.append(total + np.cumsum(sizes, dtype=np.int64))
    every = np.concatenate(ends)
    np.save(folder / f"{name}_ends.npy", every)
    return len(every)
