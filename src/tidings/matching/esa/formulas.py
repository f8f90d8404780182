"""The formulas of explicit semantic analysis, on arrays.

    idf(t)     log(n / df(t))
    T[t, d]    tf(t, d) · idf(t),  tf = 1 + log(count)      and the terms of a document d have length 1
    v(t)       the row T[t, ·], pruned to the documents with the greatest weights, of length 1
    v(phrase)  Σ idf(t) · v(t), of length 1                 so that frequent words do not outweigh the others
    relatedness  v · w                                      the cosine

1 + log(count) is from Gabrilovich and Markovitch, where the paper uses the count: a word that occurs a hundred times in
a page does not say a hundred times as much about it.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Weights: TypeAlias = NDArray[np.float32]
Places: TypeAlias = NDArray[np.int32]


class Vector(NamedTuple):
    """A sparse vector over concepts: their numbers, ascending, and their weights."""

    concepts: Places
    weights: Weights


EMPTY = Vector(np.empty(0, np.int32), np.empty(0, np.float32))


def idf(documents: int, frequency: NDArray[np.int64]) -> NDArray[np.float64]:
    """The inverse document frequency of terms, from the number of documents that have them."""
    return np.asarray(np.log(documents / frequency), np.float64)


def tf(count: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
    return np.asarray(1.0 + np.log(count), np.float64)


def normal(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The weights scaled to length 1, or all 0."""
    length = float(np.sqrt(np.dot(weights, weights)))
    return weights / length if length else weights


def pruned(concepts: Places, weights: NDArray[np.float64], most: int, least: float) -> Vector:
    """The `most` concepts with the greatest weights, without those below `least` times the greatest; of length 1.

    Among equal weights, the first concepts are kept, so that an index does not depend on how it was built.
    """
    order = np.lexsort((concepts, -weights))[:most]
    if order.size:
        order = order[weights[order] >= least * weights[order[0]]]
    kept = np.sort(order)
    return Vector(concepts[kept], normal(weights[kept]).astype(np.float32))


def combined(words: Sequence[tuple[float, Vector]]) -> Vector:
    """The vector of a phrase, from the vectors of its words and their weights (idf)."""
    known = [(share, vector) for share, vector in words if vector.concepts.size]
    if not known:
        return EMPTY
    concepts = np.concatenate([vector.concepts for _, vector in known])
    weights = np.concatenate([share * vector.weights.astype(np.float64) for share, vector in known])
    places, back = np.unique(concepts, return_inverse=True)
    summed = np.bincount(back, weights=weights, minlength=places.size).astype(np.float64)
    return Vector(places.astype(np.int32), normal(summed).astype(np.float32))


def cosine(left: Vector, right: Vector) -> float:
    """The cosine of two vectors of length 1."""
    _, ours, theirs = np.intersect1d(left.concepts, right.concepts, assume_unique=True, return_indices=True)
    return float(np.dot(left.weights[ours], right.weights[theirs]))
