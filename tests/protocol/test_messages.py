"""Requests of the Subscribe language: what clients write is what is understood, quirks and mistakes included."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.model.errors import BadRequest
from tidings.protocol.echo import NO_ECHO, Echo
from tidings.protocol.errors import BadMessage
from tidings.protocol.instants import After, At
from tidings.protocol.message_reading import decode, echo_of
from tidings.protocol.messages import (
    Cancel,
    DelayedUpdate,
    Graphs,
    Prepare,
    Query,
    Request,
    Resume,
    Subscribe,
    Unsubscribe,
    UnsubscribeByAlias,
    Update,
    UpdatePrepared,
    encode_request,
)
from tidings.sparql.algebra import Dataset

BASE = "http://base.example/"


def read(message: Any) -> Request:
    return decode(json.dumps(message).encode())


# -- there and back ---------------------------------------------------------------------------------------------

texts = st.text(max_size=12)
names = st.text(min_size=1, max_size=12)
aliases = (
    names
    | st.integers(-(1 << 53), 1 << 53)
    | st.floats(allow_nan=False, allow_infinity=False).filter(lambda alias: not alias.is_integer())
)
tokens = st.none() | texts
graphs = st.builds(Graphs, st.lists(texts, max_size=2).map(tuple), st.lists(texts, max_size=2).map(tuple))
publishers = st.none() | st.text("abc é7", min_size=1, max_size=9).filter(lambda name: name == name.strip())
echoes = st.builds(Echo, st.none() | aliases, st.none() | names)
dues = st.builds(At, st.integers(0, 10**17)) | st.builds(After, st.floats(0, 1e6))
terms = st.sampled_from(['"1"', "<http://example.org/a>", "<relative>", "_:b", '"x"@en', '"1"^^<http://example.org/t>'])
bindings = st.dictionaries(st.from_regex(r"[a-z]{1,5}", fullmatch=True), terms, max_size=3)


@st.composite
def resumes(draw: st.DrawFn) -> Resume:
    echo, authorization = draw(echoes), draw(tokens)
    otherwise = draw(st.none() | st.builds(Subscribe, texts, graphs, st.just(echo), st.just(authorization)))
    return Resume(draw(texts), draw(st.integers(-1, 1 << 40)), otherwise, echo, authorization)


requests = st.one_of(
    st.builds(Subscribe, texts, graphs, echoes, tokens),
    resumes(),
    names.flatmap(
        lambda spuid: st.builds(Unsubscribe, st.just(spuid), st.builds(Echo, aliases, st.just(spuid)), tokens)
    ),
    aliases.flatmap(lambda alias: st.builds(UnsubscribeByAlias, st.just(alias), st.just(Echo(alias)), tokens)),
    st.builds(Update, texts, graphs, publishers, echoes, tokens),
    st.builds(DelayedUpdate, texts, dues, graphs, publishers, echoes, tokens),
    st.builds(UpdatePrepared, texts, bindings, publishers, echoes, tokens),
    st.builds(Query, texts, graphs, echoes, tokens),
    st.builds(Prepare, texts, graphs, echoes, tokens),
    st.builds(Cancel, texts, echoes, tokens),
)


@given(requests)
def test_every_request_is_understood_as_it_was_meant(request: Request) -> None:
    document = encode_request(request)
    assert decode(document) == request
    assert echo_of(document) == request.echo


# -- as clients write them --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "request_"),
    [
        ({"subscribe": {"sparql": "ASK {}", "alias": "x"}}, Subscribe("ASK {}", echo=Echo("x"))),
        ({"subscribe": {"resume": {"spuid": "s", "sequence": 4}}}, Resume("s", 4)),
        ({"unsubscribe": {"spuid": "s"}}, Unsubscribe("s", Echo(None, "s"))),
        ({"unsubscribe": {"spuid": "", "alias": 3}}, UnsubscribeByAlias(3, Echo(3, ""))),
        ({"update": {"sparql": "CLEAR ALL", "publisher": "p"}}, Update("CLEAR ALL", publisher="p")),
        ({"update": {"sparql": "CLEAR ALL"}, "publisher": "p"}, Update("CLEAR ALL", publisher="p")),
        ({"update": {"sparql": "CLEAR ALL", "delay": 300}}, DelayedUpdate("CLEAR ALL", After(300.0))),
        ({"update": {"sparql": "CLEAR ALL", "delay": "PT5M"}}, DelayedUpdate("CLEAR ALL", After(300.0))),
        ({"update": {"sparql": "CLEAR ALL", "at": "1970-01-01T00:00:01Z"}}, DelayedUpdate("CLEAR ALL", At(1_000_000))),
        ({"update": {"prepared": "p", "bindings": {"?x": "1"}}}, UpdatePrepared("p", {"x": '"1"'})),
        ({"query": {"sparql": "ASK {}"}}, Query("ASK {}")),
        ({"prepare": {"sparql": "CLEAR ALL"}}, Prepare("CLEAR ALL")),
        ({"cancel": {"delayed": "d", "alias": 1.5}}, Cancel("d", Echo(1.5))),
    ],
)
def test_each_kind_of_message_is_a_request_of_its_own(message: Any, request_: Request) -> None:
    assert read(message) == request_


def test_members_that_nobody_knows_are_ignored() -> None:
    leak = {"httpsAgent": {"options": {"alias": "not mine"}, "sockets": [{}]}}
    assert read({"query": {"sparql": "ASK {}", "alias": "a"} | leak} | leak) == Query("ASK {}", echo=Echo("a"))


@pytest.mark.parametrize("token", ["JWT", "Bearer JWT"])
def test_a_token_may_stand_in_the_request_or_beside_it(token: str) -> None:
    inside = read({"subscribe": {"sparql": "ASK {}", "authorization": token}})
    beside = read({"subscribe": {"sparql": "ASK {}"}, "authorization": token})
    both = read({"subscribe": {"sparql": "ASK {}", "authorization": token}, "authorization": "other"})
    assert inside == beside == both == Subscribe("ASK {}", authorization=token)


@pytest.mark.parametrize("member", ["default-graph-uri", "default_graph_uri"])
@pytest.mark.parametrize("value", ["g", ["g"], ["g", "http://base.example/g"]])
def test_graphs_are_a_text_or_a_list_with_hyphens_or_underscores(member: str, value: Any) -> None:
    request = read({"query": {"sparql": "ASK {}", member: value}})
    assert isinstance(request, Query)
    assert request.graphs.dataset(BASE) == Dataset(("<http://base.example/g>",), ())


def test_a_list_without_graphs_leaves_the_dataset_to_the_text() -> None:
    request = read({"query": {"sparql": "ASK {}", "default-graph-uri": []}})
    assert isinstance(request, Query)
    assert request.graphs.dataset(BASE) is None


def test_bindings_become_terms_with_absolute_iris() -> None:
    values = {"a": {"type": "uri", "value": "lamp"}, "$b": {"type": "literal", "value": "1", "datatype": "http://t"}}
    request = read({"update": {"prepared": "p", "bindings": values}})
    assert isinstance(request, UpdatePrepared)
    assert request.bound(BASE) == {"a": "<http://base.example/lamp>", "b": '"1"^^<http://t>'}


# -- mistakes ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ([], "cannot be read"),
        ({}, "exactly one of the members subscribe, unsubscribe, update, query, prepare, publish, cancel; this has 0"),
        ({"query": {"sparql": "ASK {}"}, "update": {"sparql": "CLEAR ALL"}}, "this has 2"),
        ({"query": {}}, "the member sparql is missing"),
        ({"subscribe": {"alias": "a"}}, "the member sparql is missing"),
        ({"prepare": {}}, "the member sparql is missing"),
        ({"update": {"delay": 1}}, "the member sparql is missing"),
        ({"query": {"sparql": 7}}, "cannot be read"),
        ({"query": {"sparql": "ASK {}", "alias": []}}, "cannot be read"),
        ({"cancel": {}}, "the member delayed is missing: it names the update to cancel"),
        ({"unsubscribe": {}}, "the member spuid is missing, and the alias does not name exactly one subscription"),
        ({"update": {"prepared": "p", "delay": 1}}, "a prepared update happens at once; send a delayed one as text"),
        ({"update": {"prepared": "p", "bindings": {"x": {"type": "thing"}}}}, "the binding of x is not a term"),
    ],
)
def test_a_message_that_makes_no_sense_is_refused_with_the_reason(message: Any, said: str) -> None:
    with pytest.raises(BadMessage) as refused:
        read(message)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    "update", [{"at": 1, "delay": 1}, {"at": "tomorrow"}, {"delay": -1}, {"publisher": ""}, {"publisher": "a\nb"}]
)
def test_an_update_with_an_impossible_time_or_publisher_is_a_bad_request(update: Any) -> None:
    with pytest.raises(BadRequest):
        read({"update": {"sparql": "CLEAR ALL"} | update})


def test_a_graph_that_is_no_iri_is_a_bad_request() -> None:
    request = read({"query": {"sparql": "ASK {}", "named-graph-uri": "a b"}})
    assert isinstance(request, Query)
    with pytest.raises(BadRequest, match="named-graph-uri is not an IRI: 'a b'"):
        request.graphs.dataset(BASE)


@given(st.binary(max_size=40))
def test_bytes_of_any_kind_are_a_request_or_a_bad_message(document: bytes) -> None:
    try:
        decode(document)
    except BadRequest:
        assert echo_of(document) == NO_ECHO


@pytest.mark.parametrize(
    ("message", "echo"),
    [
        ({"query": {"alias": "a"}}, Echo("a")),
        ({"query": {"alias": "a"}, "httpsAgent": {"alias": "not mine"}}, Echo("a")),
        ({"query": {"sparql": 7, "alias": "a", "spuid": "s"}}, Echo("a", "s")),
        ({"quarry": {"alias": 3}}, Echo(3)),
        ({"query": {"alias": []}}, NO_ECHO),
        ([1], NO_ECHO),
    ],
)
def test_an_error_repeats_what_can_be_read_of_a_message(message: Any, echo: Echo) -> None:
    assert echo_of(json.dumps(message).encode()) == echo
