"""Answers of the Subscribe language, as bytes and back."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.tables import table, truth
from tidings.model.formats.results.json import Head, ResultsDocument, term_value
from tidings.model.zset import ZSet
from tidings.protocol import notifications as wire
from tidings.protocol.answer_reading import decode_answer
from tidings.protocol.answers import (
    Answer,
    Cancelled,
    DelayedAccepted,
    Notification,
    Prepared,
    QueryAnswer,
    Unsubscribed,
    UpdateDone,
    encode,
    query_answer,
)
from tidings.protocol.errors import BadMessage, Refusal

texts = st.text(max_size=12)
numbers = st.integers(0, 1 << 60)
names = st.from_regex(r"[a-z]{1,5}", fullmatch=True)
aliases = st.none() | texts | st.integers(-(1 << 53), 1 << 53)
values = st.builds(lambda text: {"type": "literal", "value": text}, texts)
tables = st.builds(
    table,
    st.lists(names, max_size=3).map(tuple),
    st.lists(st.dictionaries(names, values, max_size=2), max_size=3).map(tuple),
)
data = st.dictionaries(
    st.sampled_from(["line", "oldest", "mistakes"]), st.integers(0, 99) | st.lists(texts, max_size=2)
)
instants = st.integers(0, 253_402_300_799_999_999)
answers = st.one_of(
    st.builds(
        Notification, texts, numbers, tables, tables, st.none() | numbers, st.none() | numbers,
        st.none() | st.booleans(), aliases,
    ),
    st.builds(Unsubscribed, texts, aliases),
    st.builds(UpdateDone, numbers, numbers, numbers, numbers, aliases),
    st.builds(DelayedAccepted, texts, instants, aliases),
    st.builds(Cancelled, texts, aliases),
    st.builds(Prepared, texts, st.lists(names, max_size=3).map(tuple), aliases),
    st.builds(QueryAnswer, tables | st.builds(truth, st.booleans()), aliases),
    st.builds(Refusal, texts, st.integers(400, 599), texts, data, aliases, st.none() | texts),
)  # fmt: skip


@given(answers)
def test_every_answer_is_read_as_it_was_written(answer: Answer) -> None:
    assert decode_answer(encode(answer)) == answer


@pytest.mark.parametrize(
    ("answer", "document"),
    [
        (Unsubscribed("s"), {"unsubscribed": {"spuid": "s"}}),
        (Unsubscribed("s", "a"), {"unsubscribed": {"spuid": "s", "alias": "a"}}),
        (
            UpdateDone(18, 7, 1, 0, "u"),
            {"response": {"sequence": 18, "time": 7, "added": 1, "removed": 0, "alias": "u"}},
        ),
        (
            DelayedAccepted("5f", 1_794_737_100_000_000),
            {"response": {"delayed": "5f", "at": "2026-11-15T10:05:00Z", "time": 1_794_737_100_000_000}},
        ),
        (Cancelled("5f", 4), {"response": {"cancelled": "5f", "alias": 4}}),
        (Prepared("c7", ("x",)), {"response": {"prepared": "c7", "variables": ["x"]}}),
        (QueryAnswer(truth(True)), {"response": {"head": {}, "boolean": True}}),
        (
            Refusal("history_gone", 410, "too old", {"oldest": 7}, "a", "s"),
            {"error": "history_gone", "status_code": 410, "error_description": "too old", "oldest": 7,
             "alias": "a", "spuid": "s"},
        ),
    ],
)  # fmt: skip
def test_answers_look_as_the_protocol_says(answer: Answer, document: object) -> None:
    assert json.loads(encode(answer)) == document


@pytest.mark.parametrize("resumed", [None, True, False])
@pytest.mark.parametrize("alias", [None, "lamps", 7])
def test_a_spliced_notification_is_one_like_any_other(alias: str | int | None, resumed: bool | None) -> None:
    came, went = ('"1"', "<http://example.org/a>"), ("_:b", None)
    body = wire.body(("x", "y"), ZSet([(came, 2), (went, -1)]), 17, 1_794_732_833_718_878)
    document = wire.first_answer(wire.head("urn:uuid:1", alias), 3, body, resumed)
    row = {"x": term_value('"1"'), "y": term_value("<http://example.org/a>")}
    assert decode_answer(document) == Notification(
        "urn:uuid:1", 3, table(("x", "y"), (row, row)), table(("x", "y"), ({"x": term_value("_:b")},)),
        17, 1_794_732_833_718_878, resumed, alias,
    )  # fmt: skip
    if resumed is None:
        assert document == wire.SPLICE % (wire.head("urn:uuid:1", alias), 3, body)


@given(tables | st.builds(truth, st.booleans()), aliases)
def test_a_spliced_result_is_an_answer_like_any_other(results: ResultsDocument, alias: str | int | None) -> None:
    document = json.dumps(json.loads(encode(QueryAnswer(results)))["response"]).encode()
    assert decode_answer(query_answer(document, alias)) == QueryAnswer(results, alias)


def test_a_notification_of_a_broker_of_another_make_is_understood() -> None:
    document = b'{"notification":{"spuid":"s","sequence":0,"addedResults":{"head":{"vars":["x"]}},"new":[]}}'
    assert decode_answer(document) == Notification("s", 0, ResultsDocument(Head(["x"])))


@pytest.mark.parametrize("document", [b"{}", b'{"welcome":{}}', b'{"response":{"alias":"a"}}'])
def test_what_only_newer_clients_know_is_nothing(document: bytes) -> None:
    assert decode_answer(document) is None


@pytest.mark.parametrize("document", [b"", b"[]", b"\xff", b'{"notification":{"spuid":1}}', b'{"response":[]}'])
def test_what_is_no_answer_is_a_bad_message(document: bytes) -> None:
    with pytest.raises(BadMessage, match="the answer cannot be read"):
        decode_answer(document)
