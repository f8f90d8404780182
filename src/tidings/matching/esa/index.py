"""An inverted index from terms to concepts with weights. It may be larger than memory: its arrays can be mapped from
files, and a look-up reads only a few pages.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tidings.matching.esa.formulas import EMPTY, Places, Vector, Weights


@dataclass(frozen=True, slots=True)
class Texts:
    """Many texts in one buffer; text i ends at `ends[i]`."""

    letters: NDArray[np.uint8]
    ends: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.ends)

    def __getitem__(self, place: int) -> bytes:
        start = int(self.ends[place - 1]) if place else 0
        return self.letters[start : int(self.ends[place])].tobytes()


@dataclass(frozen=True, slots=True)
class Index:
    """Terms are ordered by their bytes; the concepts of term i are `concepts[starts[i]:starts[i + 1]]`, ascending."""

    terms: Texts
    idf: Weights
    starts: NDArray[np.int64]
    concepts: Places
    weights: Weights
    titles: Texts
    """The titles of the concepts."""

    def find(self, term: str) -> int | None:
        """The place of a term, by binary search; None if the index does not have it."""
        wanted = term.encode()
        low, high = 0, len(self.terms)
        while low < high:
            middle = (low + high) // 2
            if self.terms[middle] < wanted:
                low = middle + 1
            else:
                high = middle
        return low if low < len(self.terms) and self.terms[low] == wanted else None

    def word(self, term: str) -> tuple[float, Vector]:
        """The idf and the vector of a term; 0 and an empty vector for an unknown term."""
        place = self.find(term)
        if place is None:
            return 0.0, EMPTY
        part = slice(int(self.starts[place]), int(self.starts[place + 1]))
        return float(self.idf[place]), Vector(np.array(self.concepts[part]), np.array(self.weights[part]))

    def title(self, concept: int) -> str:
        return self.titles[concept].decode("utf-8", "replace")
