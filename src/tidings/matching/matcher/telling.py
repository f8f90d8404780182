"""Writes a mapping as JSON: which tuple meets which predicate."""

from typing import Any

from tidings.matching.language.notation import write_event, write_predicate
from tidings.matching.language.values import Event, Subscription
from tidings.matching.matcher.matcher import Mapping


def mapping_document(subscription: Subscription, event: Event, mapping: Mapping) -> dict[str, Any]:
    pairs = zip(subscription.predicates, mapping.tuples, mapping.scores, strict=True)
    met = [
        {"predicate": write_predicate(predicate), "tuple": tuple_text(event, place), "score": round(score, 4)}
        for predicate, place, score in pairs
    ]
    return {"degree": round(mapping.degree, 4), "met": met}


def tuple_text(event: Event, place: int) -> str:
    """One tuple, in the notation."""
    return write_event(Event((event.tuples[place],)))[1:-1]
