"""Backends for tests: relatedness that a test sets, and relatedness made of letters, which is the same each time."""

from collections.abc import Mapping, Sequence

import numpy as np

from tidings.matching.relatedness import Calibration, Matrix
from tidings.matching.words import spelled


class Told:
    """As related as it was told; the same phrase is 1, and everything else 0."""

    name = "told"

    def __init__(self, pairs: Mapping[tuple[str, str], float], threshold: float = 0.5) -> None:
        self._pairs = {frozenset(pair): related for pair, related in pairs.items()}
        self.calibration = Calibration(threshold)

    def relate(self, left: Sequence[str], right: Sequence[str]) -> Matrix:
        return np.array([[self._of(spelled(a), spelled(b)) for b in right] for a in left], np.float32).reshape(
            len(left), len(right)
        )

    def _of(self, left: str, right: str) -> float:
        return 1.0 if left == right else self._pairs.get(frozenset((left, right)), 0.0)


class Letters:
    """The share of letters that phrases have in common."""

    name = "letters"
    calibration = Calibration(0.4, 0.5)

    def relate(self, left: Sequence[str], right: Sequence[str]) -> Matrix:
        return np.array([[_shared(spelled(a), spelled(b)) for b in right] for a in left], np.float32).reshape(
            len(left), len(right)
        )


def _shared(left: str, right: str) -> float:
    if left == right:
        return 1.0
    a, b = set(left) - {" "}, set(right) - {" "}
    return len(a & b) / len(a | b) if a | b else 0.0
