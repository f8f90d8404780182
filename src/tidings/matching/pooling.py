"""Relatedness of phrases by the mean of their words' vectors: coarser than word by word, and more tolerant.

"empty parking slot" and "parking vacancy" do not agree word for word, but the means of their vectors are close. This
works well for names of attributes, which are short; among values, it cannot distinguish "wheat harvested" from "maize
harvested".
"""

from collections.abc import Sequence

import numpy as np

from tidings.matching.alignment import MOST_WORDS, Stretch
from tidings.matching.evidence import WordVectors
from tidings.matching.relatedness import Calibration, Matrix, Related, Relatedness, against
from tidings.matching.words import spelled


class Pooled:
    """A backend as `relatedness` defines it."""

    def __init__(self, name: str, calibration: Calibration, vectors: WordVectors, curve: Stretch) -> None:
        self.name = name
        self.calibration = calibration
        self._vectors = vectors
        self._curve = curve

    def relate(self, left: Sequence[str], right: Sequence[str]) -> Matrix:
        return self.against(right)(left)

    def against(self, right: Sequence[str]) -> Related:
        theirs = np.array([self._pooled(each) for each in right], np.float32).reshape(-1, self._vectors.dimensions)
        places: dict[str, list[int]] = {}
        for place, each in enumerate(right):
            places.setdefault(spelled(each), []).append(place)

        def related(left: Sequence[str]) -> Matrix:
            found = np.zeros((len(left), len(right)), np.float32)
            for row, text in enumerate(left):
                cosines = np.einsum("id,d->i", theirs, self._pooled(text))
                found[row] = np.where(cosines > 0, self._curve(cosines), 0)
                found[row, places.get(spelled(text), [])] = 1.0
            return np.minimum(found, 1.0)

        return related

    def _pooled(self, text: str) -> Matrix:
        phrase = " ".join(spelled(text).split()[:MOST_WORDS])
        vector = self._vectors.vector(phrase) if phrase else None
        return np.zeros(self._vectors.dimensions, np.float32) if vector is None else vector


class Greatest:
    """The greatest relatedness that any of several backends finds."""

    def __init__(self, first: Relatedness, *others: Relatedness) -> None:
        self.name = first.name
        self.calibration = first.calibration
        self._backends = (first, *others)

    def relate(self, left: Sequence[str], right: Sequence[str]) -> Matrix:
        return self.against(right)(left)

    def against(self, right: Sequence[str]) -> Related:
        prepared = [against(each, right) for each in self._backends]
        return lambda left: np.maximum.reduce([each(left) for each in prepared])
