"""The interface of backends, which tell the matcher how related phrases are: static vectors, WordNet and ESA.

A phrase is an attribute or a value in words, such as "parking occupied event". The relatedness of two phrases is 0 if
they are unrelated, or if one of them has no word that the backend knows; it is 1 if they are the same, up to spelling
(`words.spelled`). In between, larger means more related, on the backend's own scale; so each backend has its own
threshold.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

from tidings.matching.language.values import Scoring

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Matrix: TypeAlias = "NDArray[np.float32]"


@dataclass(frozen=True, slots=True)
class Calibration:
    """The best parameters for a backend, found by experiment on words that no evaluation uses."""

    threshold: float
    """The match degree (a geometric mean of scores) from which an event counts as a match."""
    attribute_exponent: float = 1.0
    floor: float = 0.0
    """The least score with which a tuple meets a predicate. A high score of one predicate cannot make up for another
    below the floor."""
    scoring: Scoring = Scoring.JOINT


class Relatedness(Protocol):
    """Symmetric and deterministic. Implementations bound their caches."""

    @property
    def name(self) -> str:
        """The name under which it is configured and reported."""
        ...

    @property
    def calibration(self) -> Calibration: ...

    def relate(self, left: Sequence[str], right: Sequence[str]) -> "Matrix":
        """The relatedness of each phrase of `left` (rows) to each of `right` (columns), each 0 to 1."""
        ...


class Vectors(Relatedness, Protocol):
    """A backend in which relatedness is the cosine of vectors, cut at 0."""

    def vectors(self, phrases: Sequence[str]) -> "Matrix":
        """One row for each phrase: of length 1, or 0 for a phrase without any known word."""
        ...


Related: TypeAlias = "Callable[[Sequence[str]], Matrix]"


@runtime_checkable
class Preparing(Protocol):
    """A backend that can prepare thousands of phrases once, and then relate other phrases to them many times."""

    def against(self, right: Sequence[str]) -> Related:
        """A function that relates phrases to these, as `relate` does, and returns a new array each time."""
        ...


def against(relatedness: Relatedness, right: Sequence[str]) -> Related:
    """`relate` with a fixed right side, prepared if the backend can do that."""
    if isinstance(relatedness, Preparing):
        return relatedness.against(right)
    return lambda left: relatedness.relate(left, right).copy()
