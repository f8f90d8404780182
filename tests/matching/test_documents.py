"""Events and subscriptions as JSON: what they mean, and the place of what is wrong."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.matching.language.bounds import Bounds
from tidings.matching.language.documents import event_document, event_of, subscription_of
from tidings.matching.language.errors import MatchingDocumentError
from tidings.matching.language.values import (
    Between,
    Compares,
    Equals,
    EventTuple,
    Operator,
    Parameters,
    Predicate,
    Scoring,
)
from tidings.model.errors import RequestTooComplex, TidingsError

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


def test_an_event_is_an_object_of_attributes_and_values() -> None:
    event = event_of({"@id": "urn:e", "type": "parking", "free": 3, "open": True, "tags": ["a", 2], "none": None})
    assert event.id == "urn:e"
    assert event.tuples == (
        EventTuple("type", "parking"),
        EventTuple("free", 3),
        EventTuple("open", "true"),
        EventTuple("tags", "a"),
        EventTuple("tags", 2),
    )
    assert event_of(event_document(event)) == event
    assert event_of({}).tuples == ()


def test_a_subscription_is_a_list_of_predicates_with_parameters() -> None:
    read = subscription_of(
        {
            "predicates": [
                {"attribute": "type", "value": "parking", "approximate": True},
                {"attribute": "free", "operator": ">=", "value": 1, "approximate": "attribute"},
                {"attribute": "t", "operator": "between", "value": [18, 25], "open": "high"},
            ],
            "threshold": 0.5,
            "scoring": "product",
            "attribute_exponent": 1,
            "mappings": 3,
        }
    )
    assert read.parameters == Parameters(0.5, None, Scoring.PRODUCT, 1.0, 3)
    assert read.predicates == (
        Predicate("type", Equals("parking", approximate=True), approximate_attribute=True),
        Predicate("free", Compares(Operator.AT_LEAST, 1.0), approximate_attribute=True),
        Predicate("t", Between(18, 25, high_open=True)),
    )


def test_the_notation_is_welcome_inside_json() -> None:
    assert subscription_of("{a = b~}") == subscription_of({"predicates": "{a = b~}"})


@pytest.mark.parametrize(
    ("document", "path"),
    [
        (3, ""),
        ({}, "/predicates"),
        ({"predicates": [3]}, "/predicates/0"),
        ({"predicates": [{"attribute": " ", "value": 1}]}, "/predicates/0/attribute"),
        ({"predicates": [{"attribute": "a"}]}, "/predicates/0/value"),
        ({"predicates": [{"attribute": "a", "value": 1, "approximate": "all"}]}, "/predicates/0/approximate"),
        ({"predicates": [{"attribute": "a", "value": 1, "operator": "!"}]}, "/predicates/0/operator"),
        ({"predicates": [{"attribute": "a", "value": "x", "operator": ">"}]}, "/predicates/0/value"),
        (
            {"predicates": [{"attribute": "a", "value": 1, "operator": ">", "approximate": True}]},
            "/predicates/0/approximate",
        ),
        ({"predicates": [{"attribute": "a", "value": [2, 1], "operator": "between"}]}, "/predicates/0/value"),
        ({"predicates": [{"attribute": "a", "value": [1, "x"], "operator": "between"}]}, "/predicates/0/value/1"),
        ({"predicates": [], "threshold": 2}, "/threshold"),
        ({"predicates": [], "scoring": "best"}, "/scoring"),
        ({"predicates": [], "mappings": 0}, "/mappings"),
        ({"predicates": [], "x/y": 0}, "/x~1y"),
    ],
)
def test_an_error_says_where_in_the_document_it_is(document: Any, path: str) -> None:
    with pytest.raises(MatchingDocumentError) as caught:
        subscription_of(document)
    assert caught.value.path == path
    assert caught.value.to_json()["error"] == "matching_document_error"


@pytest.mark.parametrize(
    ("document", "path"), [([], ""), ({"a": {"b": 1}}, "/a"), ({"a": [1, {}]}, "/a/1"), ({"@id": 3}, "/@id")]
)
def test_an_event_is_flat(document: Any, path: str) -> None:
    with pytest.raises(MatchingDocumentError) as caught:
        event_of(document)
    assert caught.value.path == path


def test_an_event_of_too_many_tuples_is_refused() -> None:
    assert len(event_of({"a": list(range(10_000))}).tuples) == 10_000
    with pytest.raises(RequestTooComplex) as caught:
        event_of({"a": list(range(20_000))})
    assert caught.value.data() == {"measured": 10_001, "limit": 10_000}
    with pytest.raises(RequestTooComplex):
        event_of({"a": "x" * 2_000})
    with pytest.raises(RequestTooComplex):
        subscription_of({"predicates": [{"attribute": "a", "value": 1}] * 3}, Bounds(predicates=2))


@given(JSON)
def test_any_document_is_read_or_refused_with_a_code(document: Any) -> None:
    assert _status(event_of, document) in {200, 400, 413}
    assert _status(subscription_of, document) in {200, 400, 413}


def _status(read: Callable[[Any], object], document: Any) -> int:
    try:
        read(document)
    except TidingsError as error:
        return error.status
    return 200
