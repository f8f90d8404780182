"""Writes an ESA index as it comes, term by term: memory does not grow with the index. It is there once `finish` has
written the manifest, and not before.
"""

import io
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

import msgspec
import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from tidings.lexicons.esa.folder import ARRAYS, FORMAT, MANIFEST, VERSION, File, Manifest, digest

_HEADER = 128
"""Bytes of the header of an array, which says how long the array is, and is written last."""


class IndexWriter:
    """Terms have to come in the order of their bytes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        (folder / MANIFEST).unlink(missing_ok=True)
        self._files = {name: _Array(folder / name, dtype) for name, dtype in ARRAYS.items()}
        self._files["starts.npy"].add(np.zeros(1, np.int64))
        self._last = b""
        self._letters = self._postings = 0

    def __enter__(self) -> "IndexWriter":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for each in self._files.values():
            each.close()

    def term(self, term: str, idf: float, concepts: NDArray[np.int32], weights: NDArray[np.float32]) -> None:
        """The concepts have to ascend."""
        letters = term.encode()
        if letters <= self._last:
            raise ValueError(f"{term!r} comes after {self._last.decode()!r}")
        self._last = letters
        self._letters += len(letters)
        self._postings += len(concepts)
        self._files["terms.bin"].add(np.frombuffer(letters, np.uint8))
        self._files["term_ends.npy"].add(np.array([self._letters], np.int64))
        self._files["idf.npy"].add(np.array([idf], np.float32))
        self._files["starts.npy"].add(np.array([self._postings], np.int64))
        self._files["concepts.npy"].add(concepts)
        self._files["weights.npy"].add(weights)

    def titles(self, titles: Iterable[str]) -> None:
        """Of the concepts, in the order of their numbers."""
        end = 0
        for title in titles:
            letters = title.encode("utf-8", "replace")
            end += len(letters)
            self._files["titles.bin"].add(np.frombuffer(letters, np.uint8))
            self._files["title_ends.npy"].add(np.array([end], np.int64))

    def finish(self, source: str, parameters: Mapping[str, float]) -> Manifest:
        for each in self._files.values():
            each.close()
        made = Manifest(
            FORMAT, VERSION, source, self._files["title_ends.npy"].length, self._files["idf.npy"].length,
            self._postings, dict(parameters),
            {name: File((self._folder / name).stat().st_size, digest(self._folder / name)) for name in ARRAYS},
        )  # fmt: skip
        path = self._folder / MANIFEST
        fresh = path.with_suffix(".new")
        with fresh.open("wb") as file:
            file.write(msgspec.json.format(msgspec.json.encode(made)) + b"\n")
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
        return made


class _Array:
    """A file that grows: bare bytes, or an array of numpy with its header."""

    def __init__(self, path: Path, dtype: type[np.generic]) -> None:
        self.length = 0
        self._dtype = np.dtype(dtype)
        self._bare = path.suffix == ".bin"
        self._file: BinaryIO = path.open("wb", buffering=1 << 20)
        if not self._bare:
            self._file.write(bytes(_HEADER))

    def add(self, values: NDArray[Any]) -> None:
        self.length += len(values)
        self._file.write(values.astype(self._dtype, copy=False).tobytes())

    def close(self) -> None:
        if self._file.closed:
            return
        if not self._bare:
            self._file.seek(0)
            self._file.write(_header(self._dtype, self.length))
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()


def _header(dtype: "np.dtype[Any]", length: int) -> bytes:
    made = io.BytesIO()
    described = {"descr": npy.dtype_to_descr(dtype), "fortran_order": False, "shape": (length,)}
    npy.write_array_header_1_0(made, described)
    header = made.getvalue()
    if len(header) != _HEADER:
        raise ValueError(f"a header of {len(header)} bytes")
    return header
