"""The default backend, with what was found best for it on the vocabulary `clinic` of the benchmark, which no test uses.

The thresholds and floors were chosen there for the greatest F1 with a precision above .85 (docs/matching.md).
"""

from tidings.matching.alignment import Aligned, Curve, Thesaurus, WordVectors
from tidings.matching.language.values import Scoring
from tidings.matching.matcher.scores import Knowledge
from tidings.matching.opposites import AllOpposites, BuiltInOpposites, Opposites
from tidings.matching.pooling import Greatest, Pooled
from tidings.matching.relatedness import Calibration

_WORDS = Curve(middle=0.3, steepness=10.0)
_NAMES = Curve(middle=0.45, steepness=8.0)
_WITH_THESAURUS = Calibration(threshold=0.6, attribute_exponent=0.3, floor=0.4, scoring=Scoring.PRODUCT)
_ALONE = Calibration(threshold=0.55, attribute_exponent=0.3, floor=0.4, scoring=Scoring.PRODUCT)


def vectors_alone(vectors: WordVectors) -> Knowledge:
    """Vectors find fewer likes than a thesaurus, so a word without any does not weigh as much: sides count evenly."""
    return _knowledge(Aligned("vectors", _ALONE, vectors, _WORDS, even=True), vectors, BuiltInOpposites())


def vectors_with_thesaurus(vectors: WordVectors, thesaurus: Thesaurus, opposites: Opposites) -> Knowledge:
    aligned = Aligned("static", _WITH_THESAURUS, vectors, _WORDS, thesaurus)
    return _knowledge(aligned, vectors, AllOpposites(BuiltInOpposites(), opposites))


def _knowledge(aligned: Aligned, vectors: WordVectors, opposites: Opposites) -> Knowledge:
    names = Greatest(aligned, Pooled("names", aligned.calibration, vectors, _NAMES))
    return Knowledge(aligned, opposites, names)
