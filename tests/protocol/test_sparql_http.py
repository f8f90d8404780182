"""What a request of the SPARQL 1.1 Protocol asks for, clause by clause."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.model.errors import BadRequest, UnsupportedFormat
from tidings.protocol.instants import After, At
from tidings.protocol.sparql_http import (
    DelayedUpdateRequest,
    DescriptionRequest,
    HttpRequest,
    QueryRequest,
    UpdateRequest,
    read_get,
    read_post,
)
from tidings.sparql.algebra import Dataset

BASE = "http://base.example/"
FORM = "application/x-www-form-urlencoded"


def get(query_string: str) -> HttpRequest:
    return read_get(query_string.encode(), BASE)


def post(content_type: str, body: str | bytes, query_string: str = "") -> HttpRequest:
    return read_post(content_type, query_string.encode(), body if isinstance(body, bytes) else body.encode(), BASE)


def test_a_get_asks_a_query() -> None:
    assert get("query=ASK%20%7B%7D&format=json") == QueryRequest("ASK {}", None, ("json",))
    assert get("query=ASK%20%7B%7D&format=&output=csv") == QueryRequest("ASK {}", None, ("csv",))


def test_an_update_may_have_its_time() -> None:
    later = post("application/sparql-update", "CLEAR ALL", "at=2026-11-15T10:00:00Z")
    assert later == DelayedUpdateRequest("CLEAR ALL", At(1_794_736_800_000_000))
    assert post(FORM, "update=CLEAR+ALL&delay=2.5") == DelayedUpdateRequest("CLEAR ALL", After(2.5))


def test_a_get_without_anything_asks_for_a_description() -> None:
    assert get("") == DescriptionRequest()


@pytest.mark.parametrize("body", ["query=ASK%7B%7D", "query=ASK%7B%7D&default-graph-uri=http%3A%2F%2Fg"])
def test_a_form_asks_a_query(body: str) -> None:
    asked = post(f"{FORM}; charset=UTF-8", body)
    assert isinstance(asked, QueryRequest)
    assert asked.text == "ASK{}"


def test_a_form_asks_an_update() -> None:
    assert post(FORM, "update=CLEAR+ALL&using-graph-uri=http://g") == UpdateRequest(
        "CLEAR ALL", Dataset(("<http://g>",), ())
    )


FRAGMENTS = (
    "update",
    "=",
    "+",
    "%",
    "%C3",
    "%A9",
    "%25",
    "%2b",
    "%zz",
    "%26",
    "é",
    "INSERT",
    "\x00",
    ";",
    "#",
    "\n",
    "\r",
)


@given(st.lists(st.sampled_from(FRAGMENTS)).map("".join))
def test_an_update_alone_is_read_as_one_parameter_of_several(value: str) -> None:
    """The second form has a parameter more, of which updates know nothing."""
    found = [_outcome(f"update={value}"), _outcome(f"update={value}&other=1")]
    assert found[0] == found[1]


def _outcome(body: str) -> object:
    try:
        return post(FORM, body)
    except BadRequest as error:
        return type(error)


@pytest.mark.parametrize("charset", ["", "; charset=utf-8", ';charset="UTF-8"', "; charset = us-ascii"])
def test_a_text_can_be_the_body(charset: str) -> None:
    assert post(f"application/sparql-query{charset}", "ASK {}") == QueryRequest("ASK {}")
    assert post(f"Application/SPARQL-Update{charset}", "CLEAR ALL") == UpdateRequest("CLEAR ALL")


def test_graphs_may_be_given_again_and_are_relative_to_the_base() -> None:
    asked = get("query=ASK{}&default-graph-uri=http://a&default-graph-uri=b&named-graph-uri=http://c")
    assert asked == QueryRequest("ASK{}", Dataset(("<http://a>", "<http://base.example/b>"), ("<http://c>",)))


def test_a_dataset_of_named_graphs_alone_has_an_empty_default_graph() -> None:
    asked = post("application/sparql-query", "ASK {}", "named-graph-uri=http://c")
    assert asked == QueryRequest("ASK {}", Dataset((), ("<http://c>",)))


def test_the_graph_parameters_of_the_other_kind_do_not_count() -> None:
    asked = post("application/sparql-update", "CLEAR ALL", "default-graph-uri=http://a")
    assert asked == UpdateRequest("CLEAR ALL")


@pytest.mark.parametrize(
    "query_string",
    [
        "query=a&query=b",
        "update=CLEAR%20ALL",
        "format=json",
        "query=%FF",
        "query=ASK{}&default-graph-uri=a>b",
        "query=a&default-graph-uri=",
    ],
)
def test_what_a_get_cannot_say(query_string: str) -> None:
    with pytest.raises(BadRequest):
        get(query_string)


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        (FORM, "query=a&query=b"),
        (FORM, "update=a&update=b"),
        (FORM, "query=a&update=b"),
        (FORM, "x=y"),
        (FORM, b"query=\xff"),
        ("application/sparql-query", b"\xff"),
    ],
)
def test_what_a_post_cannot_say(content_type: str, body: str | bytes) -> None:
    with pytest.raises(BadRequest):
        post(content_type, body)


def test_a_text_in_the_address_and_in_the_body_is_one_too_many() -> None:
    with pytest.raises(BadRequest):
        post("application/sparql-query", "ASK {}", "query=ASK{}")


@pytest.mark.parametrize(
    "content_type", ["", "text/plain", "application/json", "application/sparql-query; charset=UTF-16"]
)
def test_other_media_types_and_charsets_are_not_read(content_type: str) -> None:
    with pytest.raises(UnsupportedFormat):
        post(content_type, "ASK {}".encode("utf-16"))
