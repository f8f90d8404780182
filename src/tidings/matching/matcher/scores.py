"""Scores of predicates against tuples, from 0 (unrelated) to 1 (the tuple meets the predicate).

    exact attribute, value, comparison   1 or 0
    approximate attribute                relatedness of the attributes, to the power of the attribute exponent (of its
                                         square root if the value is not approximate, and so gives less evidence)
    approximate value                    relatedness of the values, 0 if a guard rules them out
    product scoring                      the entry-wise product of these, as in the paper
    joint scoring                        if both are approximate: the mean of that product and of the relatedness of
                                         "attribute value", read as one phrase on either side
    below the floor                      0

A table has the predicates of one subscription, or the distinct ones of thousands. The scores of a tuple are an array.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

import numpy as np
from numpy.typing import NDArray

from tidings.matching.language.notation import number_of
from tidings.matching.language.values import (
    Between,
    Compares,
    Condition,
    Equals,
    EventTuple,
    Operator,
    Predicate,
    Scoring,
    Subscription,
    Value,
)
from tidings.matching.matcher.guards import Guard, Guards
from tidings.matching.matcher.recent import Recent
from tidings.matching.opposites import BuiltInOpposites, Opposites
from tidings.matching.relatedness import Relatedness, against
from tidings.matching.words import spelled

CACHED_BYTES = 64 * 2**20
"""The size of a table's cache of scores."""


@dataclass(frozen=True, slots=True)
class Scored:
    """A predicate, and how it is scored."""

    predicate: Predicate
    scoring: Scoring
    attribute_exponent: float
    floor: float


class Knowledge:
    """The knowledge about words: how related they are, and which rule each other out."""

    def __init__(
        self, relatedness: Relatedness, opposites: Opposites | None = None, attributes: Relatedness | None = None
    ) -> None:
        """`attributes`: a backend of its own for names of attributes, if there is one."""
        self.relatedness = relatedness
        self.attributes = attributes or relatedness
        self.opposites = opposites or BuiltInOpposites()

    def scored(self, subscription: Subscription) -> list[Scored]:
        """The predicates of a subscription, with the backend's parameters where it has none of its own."""
        parameters = subscription.parameters
        default = self.relatedness.calibration
        exponent, floor = parameters.attribute_exponent, parameters.floor
        exponent = default.attribute_exponent if exponent is None else exponent
        floor = default.floor if floor is None else floor
        scoring = parameters.scoring or default.scoring
        return [Scored(each, scoring, exponent, floor) for each in subscription.predicates]

    def threshold(self, subscription: Subscription) -> float:
        own = subscription.parameters.threshold
        return self.relatedness.calibration.threshold if own is None else own


@dataclass(frozen=True, slots=True)
class Anatomy:
    """The parts of the score of a predicate and a tuple. `joint` is None unless scoring is joint; `guard` is the one
    that ruled them out, if any."""

    score: float
    attribute: float
    value: float
    joint: float | None
    guard: Guard | None


class ScoreTable:
    """Predicates, prepared to be scored against tuples. Caches scores, up to `cached` bytes."""

    def __init__(self, scored: Sequence[Scored], knowledge: Knowledge, cached: int = CACHED_BYTES) -> None:
        self._size = len(scored)
        predicates = [each.predicate for each in scored]
        self._attributes = _Terms([each.attribute for each in predicates], knowledge, knowledge.attributes)
        values = ["" if text is None else text for text in (_value_text(each.condition) for each in predicates)]
        self._values = _Terms(values, knowledge, knowledge.relatedness)
        phrases = [f"{each.attribute} {value}" for each, value in zip(predicates, values, strict=True)]
        self._joint = np.array([_is_joint(each) for each in scored], bool)
        self._phrases = _Terms(phrases, knowledge, knowledge.relatedness, wanted=self._joint)
        self._exact_attribute = np.array([not each.approximate_attribute for each in predicates], bool)
        self._approximate_value = np.array([_is_approximate(each.condition) for each in predicates], bool)
        self._exact_value = np.array([_is_exact(each.condition) for each in predicates], bool)
        self._only_approximate = bool(self._approximate_value.all() and not self._exact_attribute.any())
        self._numbers = np.array([_number(each.condition) for each in predicates], np.float64)
        bounds = np.array([_interval(each.condition) for each in predicates], np.float64).reshape(-1, 2)
        self._low, self._high = bounds[:, 0], bounds[:, 1]
        self._floors = np.array([each.floor for each in scored], np.float32)
        self._exponents = np.array([_exponent(each) for each in scored], np.float32)
        self._columns: Recent[EventTuple] = Recent(cached, self._size)
        self._names: Recent[str] = Recent(cached // 4, self._size)

    def __len__(self) -> int:
        return self._size

    def matrix(self, tuples: Sequence[EventTuple]) -> NDArray[np.float32]:
        """A row for each predicate, a column for each tuple."""
        return self.columns(tuples).T

    def columns(self, tuples: Sequence[EventTuple]) -> NDArray[np.float32]:
        """The scores with a row for each tuple."""
        if not tuples:
            return np.empty((0, self._size), np.float32)
        return np.array(self._columns.of(tuples, self._scored))

    def anatomy(self, place: int, each: EventTuple) -> Anatomy:
        """The parts of one score."""
        text = _text(each.value)
        attribute = float(self._attribute_scores([each])[0, place])
        value = float(self._value_scores([each])[0, place])
        joint = float(self._phrases.relate([f"{each.attribute} {text}"])[0, place]) if self._joint[place] else None
        guard = self._values.why(text, place) if self._approximate_value[place] else None
        if guard is None and not self._exact_attribute[place]:
            guard = self._attributes.why(each.attribute, place)
        return Anatomy(float(self._scored([each])[0][place]), attribute, value, joint, guard)

    # -- scoring ------------------------------------------------------------------------------------------------

    def _scored(self, tuples: Sequence[EventTuple]) -> NDArray[np.float32]:
        """A row for each tuple."""
        scores = self._attribute_scores(tuples) * self._value_scores(tuples)
        if self._joint.any():
            joint = self._phrases.relate([f"{each.attribute} {_text(each.value)}" for each in tuples])
            both = (scores + joint) / 2
            scores = np.where(self._joint & (scores > 0), both, scores)
        scores[scores < self._floors] = 0
        return scores.astype(np.float32, copy=False)

    def _attribute_scores(self, tuples: Sequence[EventTuple]) -> NDArray[np.float32]:
        return np.array(self._names.of([each.attribute for each in tuples], self._named))

    def _named(self, names: Sequence[str]) -> NDArray[np.float32]:
        """The scores of attributes, which are cached because many tuples have the same ones."""
        if self._only_approximate:
            return self._attributes.guarded(names) ** self._exponents
        same = self._attributes.same(names)
        if self._exact_attribute.all():
            return same.astype(np.float32)
        related = self._attributes.guarded(names) ** self._exponents
        return np.where(self._exact_attribute, same, related)

    def _value_scores(self, tuples: Sequence[EventTuple]) -> NDArray[np.float32]:
        texts = [_text(each.value) for each in tuples]
        if self._only_approximate:
            return self._values.guarded(texts)
        numbers = np.array([_nan_unless(number_of(each.value)) for each in tuples])[:, None]
        within = (self._low <= numbers) & (numbers <= self._high)
        scores = within.astype(np.float32)
        if self._exact_value.any():
            same = self._values.same(texts) | (self._numbers == numbers)
            scores = np.where(self._exact_value, same, scores)
        if self._approximate_value.any():
            related = self._values.guarded(texts)
            scores = np.where(self._approximate_value, related, scores)
        return scores


class _Terms:
    """The distinct attributes, values or phrases of predicates; `wanted`: the predicates whose terms are needed."""

    def __init__(
        self,
        terms: Sequence[str],
        knowledge: Knowledge,
        relatedness: Relatedness,
        wanted: NDArray[np.bool_] | None = None,
    ) -> None:
        asked = [each if wanted is None or wanted[place] else "" for place, each in enumerate(terms)]
        distinct = list(dict.fromkeys(spelled(each) for each in asked))
        self._place = {term: place for place, term in enumerate(distinct)}
        self._index = np.array([self._place[spelled(each)] for each in asked], np.intp)
        self._related = against(relatedness, distinct)
        self._guards = Guards(distinct, knowledge.opposites)
        self._known: Recent[str] = Recent(CACHED_BYTES // 4, len(distinct))

    def relate(self, others: Sequence[str]) -> NDArray[np.float32]:
        return self._related(others)[:, self._index]

    def guarded(self, others: Sequence[str]) -> NDArray[np.float32]:
        """The relatedness to each term, 0 if a guard rules it out."""
        return np.array(self._known.of(others, self._found))[:, self._index]

    def _found(self, others: Sequence[str]) -> NDArray[np.float32]:
        """As `guarded`, uncached. A phrase that the guards rule out for all terms is not related at all, such as a
        number with words."""
        ruled_out = [self._guards.ruled_out(other) for other in others]
        asked = [row for row, out in enumerate(ruled_out) if len(out) < len(self._place)]
        related = np.zeros((len(others), len(self._place)), np.float32)
        if asked:
            related[asked] = self._related([others[row] for row in asked])
        for row in asked:
            related[row, list(ruled_out[row])] = 0.0
        return related

    def same(self, others: Sequence[str]) -> NDArray[np.bool_]:
        places = np.array([self._place.get(spelled(each), -1) for each in others])
        same: NDArray[np.bool_] = places[:, None] == self._index
        return same

    def why(self, other: str, place: int) -> Guard | None:
        return self._guards.why(other, int(self._index[place]))


# -- conditions -------------------------------------------------------------------------------------------------


def _is_joint(scored: Scored) -> bool:
    predicate = scored.predicate
    return scored.scoring is Scoring.JOINT and predicate.approximate_attribute and _is_approximate(predicate.condition)


def _exponent(scored: Scored) -> float:
    approximate = _is_approximate(scored.predicate.condition)
    return scored.attribute_exponent if approximate else float(np.sqrt(scored.attribute_exponent))


def _is_approximate(condition: Condition) -> bool:
    return isinstance(condition, Equals) and condition.approximate


def _is_exact(condition: Condition) -> bool:
    return isinstance(condition, Equals) and not condition.approximate


def _value_text(condition: Condition) -> str | None:
    return _text(condition.value) if isinstance(condition, Equals) else None


def _number(condition: Condition) -> float:
    return _nan_unless(number_of(condition.value)) if isinstance(condition, Equals) else np.nan


def _interval(condition: Condition) -> tuple[float, float]:
    """The closed interval of a comparison; an empty one for an equality."""
    match condition:
        case Equals():
            return np.inf, -np.inf
        case Between(low, high, low_open, high_open):
            return (
                np.nextafter(low, np.inf) if low_open else low,
                np.nextafter(high, -np.inf) if high_open else high,
            )
        case Compares(Operator.LESS, bound):
            return -np.inf, np.nextafter(bound, -np.inf)
        case Compares(Operator.AT_MOST, bound):
            return -np.inf, bound
        case Compares(Operator.GREATER, bound):
            return np.nextafter(bound, np.inf), np.inf
        case Compares(Operator.AT_LEAST, bound):
            return bound, np.inf
        case Compares():
            raise AssertionError(condition)
        case _:
            assert_never(condition)


def _text(value: Value) -> str:
    return value if isinstance(value, str) else f"{value:.15g}"


def _nan_unless(number: float | None) -> float:
    return np.nan if number is None else number
