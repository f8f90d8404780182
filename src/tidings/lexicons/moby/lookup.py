"""Looks up words in the Moby Thesaurus, which has a line for each word: `storm,blow,gale,hurricane,...`.

The file is mapped into memory, not read, and a bounded cache keeps results. The number of a word is the number of its
line; synonyms without a line of their own are ignored.
"""

from functools import lru_cache
from mmap import ACCESS_READ, mmap
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tidings.lexicons.errors import MobyMissing
from tidings.lexicons.moby.finding import moby_file
from tidings.lexicons.wordnet.forms import base_forms

_KEPT = 8_192


class Moby:
    """Implements the protocol of `matching` for lists of synonyms."""

    def __init__(self, path: Path) -> None:
        self._text, self._lines = _mapped(path)
        self._numbers = {word: number for number, word in enumerate(self._lines)}
        self.known = lru_cache(_KEPT)(self._known)
        self.listed = lru_cache(_KEPT)(self._listed)

    def _known(self, item: str) -> NDArray[np.int32]:
        numbers = self._numbers
        return _ordered({numbers[form] for form, _ in base_forms(item) if form in numbers})

    def _listed(self, item: str) -> NDArray[np.int32]:
        get = self._numbers.get
        found: set[int | None] = set()
        for form in {form for form, _ in base_forms(item)}:
            for start in self._lines.get(form, ()):
                found.update(map(get, _words(self._text, start)))
        return _ordered({number for number in found if number is not None})


def _ordered(numbers: set[int]) -> NDArray[np.int32]:
    return np.array(sorted(numbers), np.int32)


def _words(text: mmap, start: int) -> list[str]:
    """The words of the line that starts at `start`, including the first one."""
    return text[start : text.find(b"\n", start)].decode("latin-1").lower().rstrip("\r").split(",")


def _mapped(path: Path) -> tuple[mmap, dict[str, list[int]]]:
    """The mapped file, and the offsets of the lines of each word: words that differ only in case have several lines."""
    lines: dict[str, list[int]] = {}
    try:
        with path.open("rb") as file:
            text = mmap(file.fileno(), 0, access=ACCESS_READ)
    except (OSError, ValueError) as error:
        raise MobyMissing(f"{path} cannot be read: {error}") from error
    start = 0
    while (end := text.find(b"\n", start)) >= 0:
        comma = text.find(b",", start, end)
        if comma > start:
            lines.setdefault(text[start:comma].decode("latin-1").lower(), []).append(start)
        start = end + 1
    if not lines:
        raise MobyMissing(f"{path} has no line with a word and what may stand for it")
    return text, lines


def load_moby(named: Path | None = None) -> Moby:
    """Raises MobyMissing."""
    return Moby(moby_file(named))
