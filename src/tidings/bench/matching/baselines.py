"""The baselines of approximate matching: exact matching, sentence vectors, and the scheme of Hasan and Curry.

exact      every `~` is ignored
sentences  the cosine of whole phrases, by the vectors of a sentence transformer; with guards, and with a threshold, a
          floor, an exponent and a curve that are the best ones on the vocabularies for calibration
product    relatedness of attributes times relatedness of values, each the cosine of the phrases' vectors, without
          guards and without a floor; its threshold is the best one on the vocabularies for calibration
"""

from tidings.bench.matching.effectiveness import judge
from tidings.bench.matching.event_set import Sizes, event_set
from tidings.bench.matching.vocabulary import CALIBRATION, vocabulary
from tidings.matching.alignment import Curve
from tidings.matching.evidence import WordVectors
from tidings.matching.language.values import Parameters, Scoring
from tidings.matching.matcher.scores import Knowledge
from tidings.matching.pooling import Pooled
from tidings.matching.relatedness import Calibration, Matrix

_THRESHOLDS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
_CALIBRATED_ON = Sizes(seeds=60, events=300, subscriptions=40)


class _Plain:
    """Takes the cosine as the relatedness."""

    def __call__(self, cosine: Matrix) -> Matrix:
        return cosine


class _NoOpposites:
    def opposites(self, word: str) -> frozenset[str]:
        return frozenset()


def product(vectors: WordVectors) -> Knowledge:
    """The scheme of Hasan and Curry, with its threshold."""
    found = [(_f_score(_product(vectors, threshold)), threshold) for threshold in _THRESHOLDS]
    return _product(vectors, max(found)[1])


def sentences(vectors: WordVectors) -> Knowledge:
    """A sentence transformer alone."""
    calibration = Calibration(threshold=0.6, attribute_exponent=0.2, floor=0.5, scoring=Scoring.PRODUCT)
    return Knowledge(Pooled("sentences", calibration, vectors, Curve(middle=0.6, steepness=10.0)))


def _product(vectors: WordVectors, threshold: float) -> Knowledge:
    calibration = Calibration(threshold, attribute_exponent=1.0, floor=0.0, scoring=Scoring.PRODUCT)
    return Knowledge(Pooled("product", calibration, vectors, _Plain()), _NoOpposites())


def _f_score(knowledge: Knowledge) -> float:
    sets = [event_set(vocabulary(name), 0, _CALIBRATED_ON) for name in CALIBRATION]
    return sum(judge(each, knowledge, 1.0, Parameters()).loose.f_score for each in sets)
