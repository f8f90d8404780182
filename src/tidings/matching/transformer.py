"""Vectors of phrases from a sentence transformer: the forward pass of BERT, in numpy.

    x        word + position embedding of each token of a phrase, normalised
    x        norm(x + attention(x)), then norm(x + feed(x)), for each layer
    vector   the mean of x over the tokens of the phrase, with length 1

The tokens of many phrases go through the layers as rows of one array; attention is within each phrase. Each phrase
begins with a new block of rows, and products are computed block by block, all of the same shape. So the vector of a
phrase is the same to the last bit, whichever phrases are computed with it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf

Floats = NDArray[np.float32]

_ROWS = 4
"""Rows of a block: enough for most phrases of one or two words, with the tokens for their beginning and end."""
_PRODUCTS = 2**18
"""The most multiplications in a product that is computed at once. OpenBLAS divides larger ones among threads that
busy-wait for each other; on a machine with other work, that took 5 to 30 times the processor time."""
_TOGETHER = 2_048
"""How many rows go through the layers together: 40 MB of intermediate results."""


class Dense:
    """x · weight + bias. The weight is divided into parts of some columns each."""

    def __init__(self, weight: Floats, bias: Floats) -> None:
        """Raises ValueError if their shapes do not fit together."""
        if weight.shape[1:] != bias.shape:
            raise ValueError(f"a weight of {weight.shape} has a bias of {bias.shape}")
        self._bias = bias
        width = 1 << (_PRODUCTS // _ROWS // len(weight)).bit_length() - 1
        self._parts = [np.ascontiguousarray(weight[:, at : at + width]) for at in range(0, weight.shape[1], width)]

    def __call__(self, rows: Floats) -> Floats:
        blocks = rows.reshape(-1, _ROWS, rows.shape[1])
        found = np.empty((*blocks.shape[:2], len(self._bias)), np.float32)
        begin = 0
        for part in self._parts:
            end = begin + part.shape[1]
            np.matmul(blocks, part, out=found[:, :, begin:end])
            begin = end
        found += self._bias
        return found.reshape(len(rows), -1)


@dataclass(frozen=True, slots=True)
class Norm:
    """Layer normalisation: rows with mean 0 and variance 1, then scaled and shifted."""

    scale: Floats
    shift: Floats
    epsilon: np.float32

    def __call__(self, rows: Floats) -> Floats:
        centred = rows - rows.mean(axis=1, keepdims=True)
        variance = np.square(centred).mean(axis=1, keepdims=True)
        return np.asarray(centred / np.sqrt(variance + self.epsilon) * self.scale + self.shift, np.float32)


@dataclass(frozen=True, slots=True)
class Layer:
    attended: Dense
    """Gives the queries, keys and values of a row beside each other."""
    gathered: Dense
    after_attention: Norm
    widened: Dense
    narrowed: Dense
    after_feed: Norm


@dataclass(frozen=True, slots=True)
class Encoder:
    words: Floats
    places: Floats
    """Position embeddings, with the token type embedding added, as there is only one type."""
    norm: Norm
    layers: tuple[Layer, ...]
    heads: int

    @property
    def dimensions(self) -> int:
        return int(self.words.shape[1])

    @property
    def longest(self) -> int:
        """The most tokens that a phrase may have."""
        return len(self.places)

    def encode(self, phrases: Sequence[Sequence[int]]) -> Floats:
        """The vectors of phrases, a row for each. A phrase is a sequence of token numbers, and is not empty."""
        found = np.empty((len(phrases), self.dimensions), np.float32)
        order = sorted(range(len(phrases)), key=lambda place: len(phrases[place]))
        for places in _portions(order, [len(each) for each in phrases]):
            found[places] = self._encoded([phrases[place] for place in places])
        return found

    def _encoded(self, phrases: list[Sequence[int]]) -> Floats:
        """The vectors of phrases that are sorted by length, the shortest first."""
        runs = [_Run(size, len(list(same))) for size, same in groupby(map(len, phrases))]
        rows = np.zeros((sum(run.rows for run in runs), self.dimensions), np.float32)
        begin = 0
        for run, each in zip(runs, _by_phrase(rows, runs), strict=True):
            pieces = np.array(phrases[begin : begin + run.phrases])
            each[:] = self.words[pieces] + self.places[: run.size]
            begin += run.phrases
        rows = self.norm(rows)
        for layer in self.layers:
            rows = layer.after_attention(rows + layer.gathered(self._attention(layer.attended(rows), runs)))
            rows = layer.after_feed(rows + layer.narrowed(_gelu(layer.widened(rows))))
        totals = np.concatenate([np.add.reduce(each, axis=1) for each in _by_phrase(rows, runs)])
        return np.asarray(totals / np.sqrt(np.square(totals).sum(axis=1, keepdims=True)), np.float32)

    def _attention(self, attended: Floats, runs: list["_Run"]) -> Floats:
        width = self.dimensions // self.heads
        mixed = np.zeros((len(attended), self.dimensions), np.float32)
        for run, each, into in zip(runs, _by_phrase(attended, runs), _by_phrase(mixed, runs), strict=True):
            heads = each.reshape(run.phrases, run.size, 3, self.heads, width).transpose(2, 0, 3, 1, 4)
            queries, keys, values = np.ascontiguousarray(heads)
            weights = _softmax(queries @ keys.swapaxes(-1, -2) / np.float32(np.sqrt(width)))
            into[:] = (weights @ values).swapaxes(1, 2).reshape(into.shape)
        return mixed


class _Run(NamedTuple):
    """Phrases of the same number of tokens."""

    size: int
    phrases: int

    @property
    def rows(self) -> int:
        return self.phrases * _padded(self.size)


def encoder_of(weights: Mapping[str, Floats], layers: int, heads: int, epsilon: float) -> Encoder:
    """An encoder from weights, by their names in model files. Raises KeyError for a missing one, and ValueError for
    shapes that do not fit together."""

    def dense(*names: str) -> Dense:
        weight = np.concatenate([weights[f"{name}.weight"].T for name in names], axis=1)
        bias = np.concatenate([weights[f"{name}.bias"] for name in names])
        return Dense(weight.astype(np.float32, copy=False), bias.astype(np.float32, copy=False))

    def norm(name: str) -> Norm:
        return Norm(weights[f"{name}.weight"], weights[f"{name}.bias"], np.float32(epsilon))

    def layer(name: str) -> Layer:
        attention = f"{name}.attention.self"
        return Layer(
            attended=dense(f"{attention}.query", f"{attention}.key", f"{attention}.value"),
            gathered=dense(f"{name}.attention.output.dense"),
            after_attention=norm(f"{name}.attention.output.LayerNorm"),
            widened=dense(f"{name}.intermediate.dense"),
            narrowed=dense(f"{name}.output.dense"),
            after_feed=norm(f"{name}.output.LayerNorm"),
        )

    return Encoder(
        words=weights["embeddings.word_embeddings.weight"],
        places=weights["embeddings.position_embeddings.weight"] + weights["embeddings.token_type_embeddings.weight"][0],
        norm=norm("embeddings.LayerNorm"),
        layers=tuple(layer(f"encoder.layer.{number}") for number in range(layers)),
        heads=heads,
    )


def _padded(size: int) -> int:
    return -(-size // _ROWS) * _ROWS


def _portions(order: list[int], sizes: list[int]) -> Iterator[list[int]]:
    """The phrases in portions of at most `_TOGETHER` rows, or of one longer phrase."""
    portion: list[int] = []
    rows = 0
    for place in order:
        needed = _padded(sizes[place])
        if portion and rows + needed > _TOGETHER:
            yield portion
            portion, rows = [], 0
        portion.append(place)
        rows += needed
    if portion:
        yield portion


def _by_phrase(rows: Floats, runs: list[_Run]) -> Iterator[Floats]:
    """A view for each run, by phrase and token."""
    begin = 0
    for run in runs:
        end = begin + run.rows
        yield rows[begin:end].reshape(run.phrases, -1, rows.shape[1])[:, : run.size]
        begin = end


def _softmax(logits: Floats) -> Floats:
    raised = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=-1, keepdims=True), np.float32)


def _gelu(rows: Floats) -> Floats:
    return np.asarray(rows * (1 + erf(rows * np.float32(np.sqrt(0.5)))) / 2, np.float32)
