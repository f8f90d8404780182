"""The default backend, with what was found best for it on the vocabulary `clinic` of the benchmark, which no test uses.

The threshold and the floor were chosen there for the greatest F1 with a precision above .85 (docs/matching.md).
"""

from tidings.matching.alignment import Aligned, Curve, Thesaurus, WordVectors
from tidings.matching.language.values import Scoring
from tidings.matching.relatedness import Calibration

_WITH_THESAURUS = Calibration(threshold=0.5, attribute_exponent=0.3, floor=0.3, scoring=Scoring.PRODUCT)
_ALONE = Calibration(threshold=0.5, attribute_exponent=0.3, floor=0.35, scoring=Scoring.PRODUCT)


def static_relatedness(vectors: WordVectors, thesaurus: Thesaurus | None) -> Aligned:
    """Word vectors, aligned word by word, with a thesaurus if there is one."""
    if thesaurus is None:
        return Aligned("vectors", _ALONE, vectors, Curve(0.3, 10.0), even=True)
    return Aligned("static", _WITH_THESAURUS, vectors, Curve(0.35, 12.0), thesaurus)
