"""Opens an ESA index: reads the manifest and maps the arrays; looking up a word then reads what it needs.

`open_index` always compares sizes with the manifest; digests only on request, because that reads all files.
"""

import hashlib
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from tidings.lexicons.errors import IndexDamaged, IndexUnusable
from tidings.matching.esa.index import Index, Texts

MANIFEST = "esa.json"
FORMAT = "tidings-esa"
VERSION = 1
ARRAYS: dict[str, type[np.generic]] = {
    "terms.bin": np.uint8, "term_ends.npy": np.int64, "idf.npy": np.float32, "starts.npy": np.int64,
    "concepts.npy": np.int32, "weights.npy": np.float32, "titles.bin": np.uint8, "title_ends.npy": np.int64,
}  # fmt: skip
_BLOCK = 1 << 20


class File(msgspec.Struct, frozen=True):
    bytes: int
    sha256: str


class Manifest(msgspec.Struct, frozen=True):
    """The content of esa.json."""

    format: str
    version: int
    source: str
    """The documents from which the index was built, for people."""
    documents: int
    terms: int
    postings: int
    parameters: dict[str, float]
    files: dict[str, File]


def read_manifest(folder: Path) -> Manifest:
    """Raises IndexUnusable."""
    path = folder / MANIFEST
    try:
        found = msgspec.json.decode(path.read_bytes(), type=Manifest)
    except FileNotFoundError:
        raise IndexUnusable(f"{folder} is no ESA index, or not finished: it has no {MANIFEST}") from None
    except OSError as error:
        raise IndexUnusable(f"{path} cannot be read: {error.strerror}") from error
    except msgspec.DecodeError as error:
        raise IndexUnusable(f"{path} is not that of an ESA index: {error}") from error
    if (found.format, found.version) != (FORMAT, VERSION):
        raise IndexUnusable(f"{path} is of version {found.version}, this Tidings knows {VERSION} only")
    if missing := ARRAYS.keys() - found.files.keys():
        raise IndexUnusable(f"{path} does not name {min(missing)}")
    return found


def open_index(folder: Path, *, verify: bool = False) -> Index:
    """The index in a folder. `verify` checks the digests of all files. Raises IndexUnusable, IndexDamaged."""
    manifest = read_manifest(folder)
    for name in ARRAYS:
        _check(folder / name, manifest.files[name], verify=verify)
    array = {name: _mapped(folder / name) for name in ARRAYS}
    _check_shapes(folder, manifest, array)
    return Index(
        terms=Texts(array["terms.bin"], array["term_ends.npy"]),
        idf=array["idf.npy"],
        starts=array["starts.npy"],
        concepts=array["concepts.npy"],
        weights=array["weights.npy"],
        titles=Texts(array["titles.bin"], array["title_ends.npy"]),
    )


def digest(path: Path) -> str:
    result = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            result.update(block)
    return result.hexdigest()


def _check(path: Path, expected: File, *, verify: bool) -> None:
    try:
        size = path.stat().st_size
        if size != expected.bytes:
            raise IndexDamaged(f"{path} has {size:,} bytes, not {expected.bytes:,}")
        if verify and digest(path) != expected.sha256:
            raise IndexDamaged(f"{path} is not what was written: its digest is another")
    except FileNotFoundError:
        raise IndexDamaged(f"{path} is missing") from None
    except OSError as error:
        raise IndexDamaged(f"{path} cannot be read: {error.strerror}") from error


def _mapped(path: Path) -> NDArray[Any]:
    kind = ARRAYS[path.name]
    if path.stat().st_size == 0:
        return np.empty(0, kind)  # an empty file cannot be mapped
    try:
        if path.suffix == ".bin":
            return np.memmap(path, kind, mode="r")
        found = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError) as error:
        raise IndexDamaged(f"{path} is no array: {error}") from error
    if found.dtype != kind or found.ndim != 1:
        raise IndexDamaged(f"{path} is another array than it should be")
    return np.asarray(found)


def _check_shapes(folder: Path, manifest: Manifest, array: dict[str, NDArray[Any]]) -> None:
    lengths = {
        "term_ends.npy": manifest.terms, "idf.npy": manifest.terms, "starts.npy": manifest.terms + 1,
        "concepts.npy": manifest.postings, "weights.npy": manifest.postings, "title_ends.npy": manifest.documents,
    }  # fmt: skip
    for name, length in lengths.items():
        if len(array[name]) != length:
            raise IndexDamaged(f"{folder / name} has {len(array[name]):,} entries, not {length:,}")
