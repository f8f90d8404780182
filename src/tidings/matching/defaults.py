"""The default backend and its alternatives, with parameters chosen on the vocabularies `clinic` and `harbour`.

Too many notifications are worse than too few: where F1 was about the same, the higher threshold and floor were chosen.
docs/matching.md has the details.
"""

from tidings.matching.alignment import Aligned, Curve
from tidings.matching.evidence import Thesaurus, Weights, WordVectors
from tidings.matching.language.values import Scoring
from tidings.matching.matcher.scores import Knowledge
from tidings.matching.opposites import AllOpposites, BuiltInOpposites, Opposites
from tidings.matching.paraphrases import Paraphrases
from tidings.matching.pooling import Greatest, Pooled
from tidings.matching.relatedness import Calibration
from tidings.matching.synonym_lists import SynonymLists

_WORDS = Curve(middle=0.3, steepness=10.0)
_NAMES = Curve(middle=0.45, steepness=8.0)
_LISTS = Weights(
    cosine=7.3, near=1.15, beyond=0.0, explained=4.9, mentioned=0.95, doubt=5.0, listed=2.4, overlap=2.2, unlisted=-0.5
)
"""The weights with a thesaurus and lists of synonyms. The regression counted related terms like synonyms."""
_WITH_THESAURUS = Calibration(threshold=0.6, attribute_exponent=0.2, floor=0.45, scoring=Scoring.PRODUCT)
_ALONE = Calibration(threshold=0.55, attribute_exponent=0.3, floor=0.4, scoring=Scoring.PRODUCT)


def vectors_alone(vectors: WordVectors, phrases: WordVectors | None = None) -> Knowledge:
    """Static vectors without a thesaurus. They find fewer similar words, so a word without one counts less: `even`.
    `phrases` are vectors of a sentence transformer, for descriptions."""
    name, paraphrases = ("vectors", None) if phrases is None else ("minilm", Paraphrases(phrases, None))
    aligned = Aligned(name, _ALONE, vectors, _WORDS, even=True, paraphrases=paraphrases)
    return _knowledge(aligned, vectors, BuiltInOpposites())


def vectors_with_thesaurus(
    vectors: WordVectors,
    thesaurus: Thesaurus,
    opposites: Opposites,
    phrases: WordVectors | None = None,
    lists: SynonymLists | None = None,
) -> Knowledge:
    """Static vectors with a thesaurus, optionally with `lists` of synonyms and a sentence transformer (`phrases`)."""
    name, paraphrases = ("static", None) if phrases is None else ("minilm", Paraphrases(phrases, thesaurus))
    weights = Weights() if lists is None else _LISTS
    aligned = Aligned(name, _WITH_THESAURUS, vectors, _WORDS, thesaurus, weights, paraphrases=paraphrases, lists=lists)
    return _knowledge(aligned, vectors, AllOpposites(BuiltInOpposites(), opposites))


def _knowledge(aligned: Aligned, vectors: WordVectors, opposites: Opposites) -> Knowledge:
    names = Greatest(aligned, Pooled("names", aligned.calibration, vectors, _NAMES))
    return Knowledge(aligned, opposites, names)
