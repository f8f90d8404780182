"""Events and subscriptions as JSON.

    event         {"type": "parking occupied event", "free": 3, "tags": ["a", "b"]}      "@id" names it
    subscription  {"predicates": [{"attribute": "type", "value": "parking", "approximate": ["attribute", "value"]},
                                  {"attribute": "free", "operator": ">", "value": 0, "approximate": "attribute"}],
                   "threshold": 0.6, "floor": 0.3, "scoring": "joint", "attribute_exponent": 0.5, "mappings": 3}

`predicates` may also be a text in the paper's notation, and so may a whole subscription.
"""

from collections.abc import Iterator
from math import isfinite
from typing import Any, assert_never

from tidings.matching.language.bounds import DEFAULT_BOUNDS, Bounds
from tidings.matching.language.errors import MatchingDocumentError
from tidings.matching.language.notation import read_subscription
from tidings.matching.language.values import (
    Between,
    Compares,
    Condition,
    Equals,
    Event,
    EventTuple,
    Operator,
    Parameters,
    Predicate,
    Scoring,
    Subscription,
    Value,
)
from tidings.model.errors import RequestTooComplex

_MEMBERS = {"predicates", "threshold", "floor", "scoring", "attribute_exponent", "mappings"}
_PREDICATE = {"attribute", "operator", "value", "approximate", "open"}
_SIDES = {"attribute", "value"}
_ENDS = {None: (False, False), "low": (True, False), "high": (False, True), "both": (True, True)}


def event_of(document: Any, bounds: Bounds = DEFAULT_BOUNDS) -> Event:
    """Raises MatchingDocumentError, RequestTooComplex."""
    if not isinstance(document, dict):
        raise MatchingDocumentError("an event is an object of attributes and values", "")
    members = dict(document)
    name = members.pop("@id", None)
    if name is not None and not isinstance(name, str):
        raise MatchingDocumentError("the name of an event is a text", "/@id")
    tuples: list[EventTuple] = []
    for attribute, given in members.items():
        for value in _values(given, f"/{_escaped(attribute)}"):
            tuples.append(EventTuple(attribute, value))
            if len(tuples) > bounds.tuples:
                most = bounds.tuples
                raise RequestTooComplex(f"an event has at most {most:,} tuples", measured=len(tuples), limit=most)
    return bounds.check_event(Event(tuple(tuples), name))


def event_document(event: Event) -> dict[str, Any]:
    document: dict[str, Any] = {} if event.id is None else {"@id": event.id}
    for each in event.tuples:
        if each.attribute not in document:
            document[each.attribute] = each.value
        elif isinstance(there := document[each.attribute], list):
            there.append(each.value)
        else:
            document[each.attribute] = [there, each.value]
    return document


def _values(given: Any, path: str) -> Iterator[Value]:
    if isinstance(given, list):
        for place, each in enumerate(given):
            yield from _scalar(each, f"{path}/{place}")
    else:
        yield from _scalar(given, path)


def _scalar(given: Any, path: str) -> Iterator[Value]:
    """One value; nothing for null, because an unknown value makes no tuple."""
    match given:
        case None:
            return
        case bool():
            yield "true" if given else "false"
        case str():
            yield given
        case int() | float() if isfinite(given):
            yield given
        case _:
            raise MatchingDocumentError("a value is a text, a number, true, false or a list of these", path)


# -- subscriptions ----------------------------------------------------------------------------------------------


def subscription_of(document: Any, bounds: Bounds = DEFAULT_BOUNDS) -> Subscription:
    """Raises MatchingDocumentError, MatchingSyntaxError, RequestTooComplex."""
    if isinstance(document, str):
        return read_subscription(document, bounds=bounds)
    if not isinstance(document, dict):
        raise MatchingDocumentError("a subscription is an object with the member predicates, or a text", "")
    _check_members(document, _MEMBERS, "")
    parameters = _parameters(document)
    predicates = document.get("predicates")
    if isinstance(predicates, str):
        return read_subscription(predicates, parameters, bounds)
    if not isinstance(predicates, list):
        raise MatchingDocumentError("a list of predicates, or a text in the notation, is missing", "/predicates")
    read = (_predicate(each, f"/predicates/{place}") for place, each in enumerate(predicates[: bounds.predicates + 1]))
    return bounds.check_subscription(Subscription(tuple(read), parameters))


def _parameters(document: dict[str, Any]) -> Parameters:
    scoring = document.get("scoring")
    if scoring is not None and scoring not in set(Scoring):
        raise MatchingDocumentError(f"scoring is one of {', '.join(Scoring)}", "/scoring")
    mappings = document.get("mappings", 1)
    if not isinstance(mappings, int) or isinstance(mappings, bool) or mappings < 1:
        raise MatchingDocumentError("a whole number, at least 1", "/mappings")
    return Parameters(
        _fraction(document, "threshold"),
        _fraction(document, "floor"),
        None if scoring is None else Scoring(scoring),
        _fraction(document, "attribute_exponent"),
        mappings,
    )


def _fraction(document: dict[str, Any], name: str) -> float | None:
    given = document.get(name)
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given <= 1:
        raise MatchingDocumentError("a number from 0 to 1", f"/{name}")
    return float(given)


def _predicate(document: Any, path: str) -> Predicate:
    if not isinstance(document, dict):
        raise MatchingDocumentError("a predicate is an object with attribute and value", path)
    _check_members(document, _PREDICATE, path)
    attribute = document.get("attribute")
    if not isinstance(attribute, str) or not attribute.strip():
        raise MatchingDocumentError("the attribute is missing, or is no text", f"{path}/attribute")
    sides = _approximate(document.get("approximate", ()), f"{path}/approximate")
    condition = _condition(document, "value" in sides, path)
    return Predicate(attribute, condition, "attribute" in sides)


def _approximate(given: Any, path: str) -> frozenset[str]:
    if isinstance(given, bool):
        return frozenset(_SIDES if given else ())
    sides = [given] if isinstance(given, str) else given
    if not isinstance(sides, list | tuple) or not all(isinstance(each, str) and each in _SIDES for each in sides):
        raise MatchingDocumentError('"attribute", "value", both in a list, or true for both', path)
    return frozenset(sides)


def _condition(document: dict[str, Any], approximate: bool, path: str) -> Condition:
    operator, given = document.get("operator", "="), document.get("value")
    here = f"{path}/value"
    if operator == "=":
        values = list(_scalar(given, here))
        if not values:
            raise MatchingDocumentError("the value is missing", here)
        return Equals(values[0], approximate)
    if approximate:
        raise MatchingDocumentError("a value that is compared cannot be approximate", f"{path}/approximate")
    if operator == "between":
        return _between(document, given, path)
    if operator not in set(Operator):
        raise MatchingDocumentError(f"an operator is one of =, {', '.join(Operator)}, between", f"{path}/operator")
    return Compares(Operator(operator), _number(given, here))


def _between(document: dict[str, Any], given: Any, path: str) -> Between:
    if not isinstance(given, list) or len(given) != 2:
        raise MatchingDocumentError("a range is a list of its low and its high end", f"{path}/value")
    low, high = (_number(each, f"{path}/value/{place}") for place, each in enumerate(given))
    if low > high:
        raise MatchingDocumentError("the range is empty: its low end is above its high end", f"{path}/value")
    ends = document.get("open")
    if not (ends is None or isinstance(ends, str)) or ends not in _ENDS:
        raise MatchingDocumentError("open is low, high or both", f"{path}/open")
    return Between(low, high, *_ENDS[ends])


def _number(given: Any, path: str) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float) or not isfinite(given):
        raise MatchingDocumentError("only numbers can be compared", path)
    return float(given)


def _check_members(document: dict[str, Any], known: set[str], path: str) -> None:
    for name in document:
        if name not in known:
            raise MatchingDocumentError(f"there is no such member; there are {', '.join(sorted(known))}",
                                        f"{path}/{_escaped(name)}")  # fmt: skip


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def subscription_document(subscription: Subscription) -> dict[str, Any]:
    """The document of a subscription, as `subscription_of` reads it."""
    parameters = subscription.parameters
    given: dict[str, Any] = {
        "threshold": parameters.threshold,
        "attribute_exponent": parameters.attribute_exponent,
        "floor": parameters.floor,
        "scoring": None if parameters.scoring is None else parameters.scoring.value,
        "mappings": None if parameters.mappings == 1 else parameters.mappings,
    }
    predicates = [_predicate_document(each) for each in subscription.predicates]
    return {"predicates": predicates} | {name: value for name, value in given.items() if value is not None}


def _predicate_document(predicate: Predicate) -> dict[str, Any]:
    document: dict[str, Any] = {"attribute": predicate.attribute}
    sides = ["attribute"] if predicate.approximate_attribute else []
    match predicate.condition:
        case Equals(value, approximate):
            document["value"] = value
            sides += ["value"] if approximate else []
        case Compares(operator, bound):
            document |= {"operator": operator.value, "value": bound}
        case Between(low, high, low_open, high_open):
            document |= {"operator": "between", "value": [low, high]}
            ends = next(name for name, open_ends in _ENDS.items() if open_ends == (low_open, high_open))
            document |= {} if ends is None else {"open": ends}
        case _:
            assert_never(predicate.condition)
    return document | ({"approximate": sides} if sides else {})
