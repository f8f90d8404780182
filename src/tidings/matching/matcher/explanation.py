"""Explains why an event matches or not: which tuple meets which predicate, its score, and why other tuples do not."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tidings.matching.language.notation import write_predicate
from tidings.matching.language.values import Event
from tidings.matching.matcher.matcher import Mapping, Matcher
from tidings.matching.matcher.scores import Anatomy
from tidings.matching.matcher.telling import tuple_text

_OTHERS = 3
"""How many other tuples an explanation names for each predicate."""
_CONSIDERED = 32
"""How many tuples are examined to find them."""


@dataclass(frozen=True, slots=True)
class Alternative:
    """A tuple that a predicate did not get, and why."""

    place: int
    anatomy: Anatomy
    reason: str


@dataclass(frozen=True, slots=True)
class Met:
    """How one predicate is met: by its tuple in the mapping, or without a mapping, by the tuple with the best score.
    `place` is None if no tuple meets it."""

    predicate: str
    place: int | None
    anatomy: Anatomy | None
    others: tuple[Alternative, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    matches: bool
    degree: float
    threshold: float
    met: tuple[Met, ...]
    event: Event
    reason: str

    def document(self) -> dict[str, Any]:
        """The explanation as JSON."""
        return {
            "matches": self.matches,
            "degree": round(self.degree, 4),
            "threshold": self.threshold,
            "reason": self.reason,
            "predicates": [self._met(each) for each in self.met],
        }

    def _met(self, met: Met) -> dict[str, Any]:
        document: dict[str, Any] = {"predicate": met.predicate}
        if met.place is not None and met.anatomy is not None:
            document |= {"tuple": self._tuple(met.place), **_numbers(met.anatomy)}
        others = [{"tuple": self._tuple(each.place), "reason": each.reason, **_numbers(each.anatomy)}
                  for each in met.others]  # fmt: skip
        return document | {"others": others}

    def _tuple(self, place: int) -> str:
        return tuple_text(self.event, place)


def explain(matcher: Matcher, event: Event) -> Explanation:
    best = next(iter(matcher.mappings(event)), None)
    degree = 0.0 if best is None else best.degree
    matches = best is not None and degree >= matcher.threshold
    scores = matcher.table.matrix(event.tuples)
    taken = _nearest(scores) if best is None else list(best.tuples)
    met = tuple(_met(matcher, event, place, scores[place], taken) for place in range(len(scores)))
    return Explanation(matches, degree, matcher.threshold, met, event, _reason(matcher, event, best, taken))


def _nearest(scores: NDArray[np.float32]) -> list[int | None]:
    """For each predicate, the tuple with the best score, regardless of other predicates; None if no tuple meets it."""
    return [int(row.argmax()) if row.any() else None for row in scores]


def _reason(matcher: Matcher, event: Event, best: Mapping | None, taken: Sequence[int | None]) -> str:
    predicates = matcher.subscription.predicates
    if best is not None:
        side = "reaches" if best.degree >= matcher.threshold else "is below"
        return f"the degree {best.degree:.3f} {side} the threshold {matcher.threshold:g}"
    if len(predicates) > len(event.tuples):
        return f"{len(predicates)} predicates need as many tuples; the event has {len(event.tuples)}"
    unmet = [write_predicate(each) for each, place in zip(predicates, taken, strict=True) if place is None]
    if unmet:
        return f"no tuple meets {' or '.join(unmet)}"
    return "each predicate needs a tuple of its own, and some are met by the same one only"


def _met(matcher: Matcher, event: Event, place: int, scores: NDArray[np.float32], taken: Sequence[int | None]) -> Met:
    mine = taken[place]
    nearest = [other for other in (-scores).argsort(kind="stable").tolist() if other != mine][:_CONSIDERED]
    told = [_alternative(matcher, event, place, other, taken) for other in nearest]
    told.sort(key=lambda each: (-each.anatomy.score, -each.anatomy.attribute))
    others = tuple(told[:_OTHERS])
    anatomy = None if mine is None else matcher.table.anatomy(place, event.tuples[mine])
    predicate = write_predicate(matcher.subscription.predicates[place])
    return Met(predicate, mine, anatomy, others)


def _alternative(matcher: Matcher, event: Event, place: int, other: int, taken: Sequence[int | None]) -> Alternative:
    anatomy = matcher.table.anatomy(place, event.tuples[other])
    if anatomy.guard is not None:
        reason: str = anatomy.guard.value
    elif anatomy.attribute == 0:
        reason = "the attribute differs"
    elif anatomy.value == 0:
        reason = "the value differs"
    elif anatomy.score == 0:
        reason = "it is below the floor"
    elif other in taken:
        reason = f"it goes to {write_predicate(matcher.subscription.predicates[taken.index(other)])}"
    else:
        reason = "it is less related"
    return Alternative(other, anatomy, reason)


def _numbers(anatomy: Anatomy) -> dict[str, float]:
    given = {"score": anatomy.score, "attribute": anatomy.attribute, "value": anatomy.value, "joint": anatomy.joint}
    return {name: round(number, 4) for name, number in given.items() if number is not None}
