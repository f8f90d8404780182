"""Static word vectors: one for each piece of a word, from the files that the package wordllama carries.

The package's own loader asks a hub on the network; here its files are read, and none of its code runs.
"""

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidings.extras import extra_missing, needing

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_WHAT = "approximate matching needs word vectors"
_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
_KEPT = 65_536
"""Vectors of words that are kept: 64 MB."""
_LONGEST = 200
"""Characters of a word that are looked at."""


class StaticVectors:
    """The vector of a word or term is the mean of those of its pieces."""

    def __init__(self, weights: "NDArray[np.float32]", tokenizer: Any) -> None:
        self._weights = weights
        self._tokenizer = tokenizer
        self._kept: dict[str, NDArray[np.float32] | None] = {}

    @property
    def dimensions(self) -> int:
        return int(self._weights.shape[1])

    def vector(self, item: str) -> "NDArray[np.float32] | None":
        kept = self._kept
        if item in kept:
            return kept[item]
        if len(kept) >= _KEPT:
            kept.clear()  # words come again soon; an order of use would cost more than it saves
        found = kept[item] = self._made(item)
        return found

    def _made(self, item: str) -> "NDArray[np.float32] | None":
        import numpy as np

        pieces = self._tokenizer.encode(item[:_LONGEST], add_special_tokens=False).ids
        if not pieces:
            return None
        total = self._weights[pieces].astype(np.float32).sum(axis=0)  # of length 1, it is what their mean is
        length = np.sqrt((total * total).sum())
        return np.asarray(total / length, np.float32) if length else None


def load_static_vectors() -> StaticVectors:
    """Raises ExtraMissing."""
    folder = _folder()
    with needing(_WHAT, "matching"):
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer
    tokenizer = Tokenizer.from_file(str(folder / _TOKENIZER))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return StaticVectors(load_file(folder / _WEIGHTS)["embedding.weight"], tokenizer)


def _folder() -> Path:
    """Where the package is; it is not imported."""
    found = importlib.util.find_spec("wordllama")
    if found is None or not found.submodule_search_locations:
        raise extra_missing(f"{_WHAT}, which the package wordllama has", "matching")
    return Path(found.submodule_search_locations[0])
