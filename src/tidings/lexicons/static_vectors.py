"""Static word vectors: one for each word piece, from the files in the package wordllama.

The package's own loader uses the network; this module only reads the files.
"""

import importlib.util
import re
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidings.extras import extra_missing, needing

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

_WHAT = "approximate matching needs word vectors"
_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
_KEPT = 65_536
"""Vectors in the cache, for words and terms of several pieces: 64 MB. One call may not ask for more of them."""
_WHOLE = re.compile("▁[a-z]+")
_PLAIN = re.compile("[a-z]+")
_LONGEST = 200
"""Characters of a word or term; the rest is ignored."""


class StaticVectors:
    """The vector of a word or term is the mean of the vectors of its pieces, scaled to length 1. The vectors are rows
    of a table: first a zero row for unknown words, then the words that are one piece, then the cache for the others."""

    def __init__(self, weights: "NDArray[np.float16]", tokenizer: Any, kept: int = _KEPT) -> None:
        import numpy as np

        self._weights = weights
        self._tokenizer, self._model = tokenizer, tokenizer.model
        self._whole = whole_words(tokenizer)
        self._table = np.empty((1 + len(self._whole) + kept, weights.shape[1]), np.float32)
        self._table[0] = 0
        self._table[1 : 1 + len(self._whole)] = _directions(weights[list(self._whole.values())].astype(np.float32))
        self._forget()

    @property
    def dimensions(self) -> int:
        return int(self._weights.shape[1])

    def vector(self, item: str) -> "NDArray[np.float32] | None":
        found = self.vectors([item])[0]
        return found if self._numbers[item] else None

    def vectors(self, items: "Sequence[str]") -> "NDArray[np.float32]":
        missing = self._missing(items)
        if missing:
            if self._end + len(missing) > len(self._table):
                self._forget()  # empty the whole cache: keeping it in order of use would cost more than it saves
                missing = self._missing(items)
            self._learn(missing)
        numbers = self._numbers
        found: NDArray[np.float32] = self._table[[numbers[item] for item in items]]
        return found

    def _missing(self, items: "Sequence[str]") -> list[str]:
        return list(dict.fromkeys([item for item in items if item not in self._numbers]))

    def _forget(self) -> None:
        self._numbers = {word: number for number, word in enumerate(self._whole, start=1)}
        self._end = 1 + len(self._whole)

    def _learn(self, items: list[str]) -> None:
        import numpy as np

        from tidings.matching.evidence import sums

        pieces = [self._pieces(item[:_LONGEST]) for item in items]
        known = [item for item, ids in zip(items, pieces, strict=True) if ids]
        self._numbers.update(dict.fromkeys(items, 0))
        if known:
            flat = self._weights[list(chain.from_iterable(pieces))].astype(np.float32)
            begin, self._end = self._end, self._end + len(known)
            self._table[begin : self._end] = _directions(sums(flat, [len(ids) for ids in pieces if ids]))
            self._numbers.update(zip(known, range(begin, self._end), strict=True))

    def _pieces(self, item: str) -> list[int]:
        """The pieces of a word or term. For plain words, skip the pre- and post-processing, half of the time."""
        if _PLAIN.fullmatch(item):
            return [piece.id for piece in self._model.tokenize(f"▁{item}")]
        ids: list[int] = self._tokenizer.encode(item, add_special_tokens=False).ids
        return ids


def whole_words(tokenizer: Any) -> dict[str, int]:
    """The words that are one piece, as most words of definitions are. Splitting others takes 5 µs, at first 30 µs."""
    pieces: dict[str, int] = tokenizer.get_vocab(with_added_tokens=False)
    return {piece[1:]: number for piece, number in pieces.items() if _WHOLE.fullmatch(piece)}


def _directions(totals: "NDArray[np.float32]") -> "NDArray[np.float32]":
    """Sums of vectors, scaled to length 1, which is the same as means scaled to length 1."""
    import numpy as np

    lengths = np.sqrt((totals * totals).sum(axis=1, keepdims=True))
    return np.asarray(totals / np.where(lengths > 0, lengths, np.float32(1)), np.float32)


def load_static_vectors(kept: int = _KEPT) -> StaticVectors:
    """Raises ExtraMissing."""
    with needing(_WHAT, "matching"):
        from safetensors.numpy import load_file
    return StaticVectors(load_file(_folder() / _WEIGHTS)["embedding.weight"], load_tokenizer(), kept)


def load_tokenizer() -> Any:
    """The tokenizer, which splits words into pieces. Raises ExtraMissing."""
    with needing(_WHAT, "matching"):
        from tokenizers import Tokenizer
    tokenizer = Tokenizer.from_file(str(_folder() / _TOKENIZER))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _folder() -> Path:
    """The folder of the package, which is not imported."""
    found = importlib.util.find_spec("wordllama")
    if found is None or not found.submodule_search_locations:
        raise extra_missing(f"{_WHAT}, which the package wordllama has", "matching")
    return Path(found.submodule_search_locations[0])
