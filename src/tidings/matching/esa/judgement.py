"""Measures how well relatedness agrees with people's judgements of word pairs, by Spearman's rank correlation.

ρ = the correlation of the ranks; equal values share the mean of their ranks
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tidings.matching.esa.related import EsaRelatedness


class Pair(NamedTuple):
    left: str
    right: str
    judged: float


class Agreement(NamedTuple):
    """`unknown` pairs have a word that the index does not have; they count as unrelated."""

    pairs: int
    unknown: int
    spearman: float


def agreement(esa: EsaRelatedness, pairs: Sequence[Pair]) -> Agreement:
    found = [float(esa.relate([pair.left], [pair.right])[0, 0]) for pair in pairs]
    unknown = sum(1 for pair in pairs if not (_known(esa, pair.left) and _known(esa, pair.right)))
    return Agreement(len(pairs), unknown, spearman([pair.judged for pair in pairs], found))


def spearman(left: Sequence[float], right: Sequence[float]) -> float:
    """Spearman's ρ of two sequences; 0 if all values of one are equal."""
    ours, theirs = _ranks(left), _ranks(right)
    if len(ours) < 2 or np.ptp(ours) == 0 or np.ptp(theirs) == 0:
        return 0.0
    return float(np.corrcoef(ours, theirs)[0, 1])


def _known(esa: EsaRelatedness, word: str) -> bool:
    return bool(esa.vector(word.casefold()).concepts.size)


def _ranks(values: Sequence[float]) -> NDArray[np.float64]:
    _, places, counts = np.unique(np.asarray(values, np.float64), return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2)[places], np.float64)
