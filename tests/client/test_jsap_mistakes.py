"""Every mistake of a profile is explained with its place, all of them at once."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from client import listings
from tidings.client.jsap.mistakes import BadProfile
from tidings.client.jsap.profile import load
from tidings.sparql.parser import parse_query

EX = "http://example.org/"


def said(document: Any) -> list[str]:
    with pytest.raises(BadProfile) as raised:
        load(document)
    return [str(mistake) for mistake in raised.value.mistakes]


def forced(sparql: str, kind: str = "updates", /, **bindings: Any) -> dict[str, Any]:
    return {"namespaces": {"ex": EX}, kind: {"SEND": {"sparql": sparql, "forcedBindings": bindings}}}


def test_all_mistakes_are_told_at_once() -> None:
    document = {
        "hots": "typo",
        "host": "http://localhost",
        "namespaces": {"ex": "no iri", "a b": EX},
        "graphs": {"default-graph-uri": ["relative", 5]},
        "sparql11protocol": {
            "protocol": "gopher",
            "port": "8000",
            "query": {"path": "query", "method": "PUT"},
            "update": {"method": "GET", "format": 7},
        },
        "sparql11seprotocol": {"protocol": "mqtt", "reconnect": 1, "availableProtocols": {"ws": {"port": 70000}}},
        "oauth": [],
        "updates": {"U": {"sparl": "CLEAR ALL"}, "V": 5},
        "queries": {"Q": {"sparql": "SELECT ?x WHERE {\n  ?x ex:p }", "host": ""}},
    }
    assert said(document) == [
        '$.hots: there is no such member; did you mean "host"?',
        '$.namespaces.ex: must be an absolute IRI, not "no iri"',
        '$.namespaces["a b"]: cannot be a prefix: "a b"',
        '$.host: must be a name or an IP address alone, not "http://localhost"',
        '$.sparql11protocol.protocol: must be http or https, not "gopher"',
        '$.sparql11protocol.port: must be a number from 1 to 65535, not "8000"',
        '$.sparql11protocol.query.path: must be a path that starts with /, not "query"',
        '$.sparql11protocol.query.method: must be GET, POST or URLENCODED_POST, not "PUT"',
        '$.sparql11protocol.update.method: must be POST or URLENCODED_POST, not "GET"',
        "$.sparql11protocol.update.format: must be a string, not 7",
        '$.sparql11seprotocol.protocol: must be ws or wss, not "mqtt"',
        "$.sparql11seprotocol.reconnect: must be true or false, not 1",
        "$.sparql11seprotocol.availableProtocols.ws.port: must be a number from 1 to 65535, not 70000",
        '$.graphs.default-graph-uri[1]: must be a string, not 5',
        '$.graphs.default-graph-uri[0]: must be an absolute IRI or a prefixed name of the namespaces, not "relative"',
        "$.oauth: must be an object, not []",
        '$.updates.U.sparl: there is no such member; did you mean "sparql"?',
        "$.updates.U: must have a member sparql, the text of the update",
        '$.updates.V: must be an object, not 5',
        "$.queries.Q.sparql: line 2, column 6: the prefix 'ex:' is not declared",
        '$.queries.Q.host: must be a name or an IP address alone, not ""',
    ]  # fmt: skip


def test_the_error_carries_the_list() -> None:
    with pytest.raises(BadProfile) as raised:
        load({"host": 1, "oauth": 2})
    error = raised.value
    assert (error.code, error.status) == ("bad_profile", 400)
    assert error.to_json()["mistakes"] == [str(mistake) for mistake in error.mistakes]
    assert str(error).count("\n") == 1


@pytest.mark.parametrize(
    ("binding", "mistake"),
    [
        ({"type": "litteral"}, '.type: must be literal, uri or bnode, not "litteral"'),
        ({"type": ["uri"]}, '.type: must be literal, uri or bnode, not ["uri"]'),
        ({}, ": must have a type: literal, uri or bnode"),
        ("literal", ': must be an object, not "literal"'),
        (None, ': must be an object such as {"type": "literal"}, not null'),
        ({"type": "uri", "datatype": "xsd:integer"}, ".datatype: is for literals, and this is a uri"),
        ({"type": "literal", "datatype": "integer"},
         '.datatype: must be an absolute IRI or a prefixed name of the namespaces, not "integer"'),
        ({"type": "literal", "datatype": "rdf:langString"},
         ".datatype: rdf:langString is said by giving a language instead"),
        ({"type": "literal", "language": "e n"}, '.language: must be a language tag such as en or pt-BR, not "e n"'),
        ({"type": "literal", "language": "en", "datatype": "xsd:string"},
         ".language: a literal has a datatype or a language, not both"),
        ({"type": "literal", "datatype": "xsd:integer", "value": "many"},
         '.value: must be a value of xsd:integer, not "many"'),
        ({"type": "literal", "value": {"a": 1}}, '.value: must be a string, a number, true or false, not {"a": 1}'),
        ({"type": "uri", "value": "a > b"}, '.value: has characters that no IRI has: "a > b"'),
        ({"type": "uri", "value": 5}, ".value: must be an IRI, not 5"),
        ({"type": "literal", "langauge": "en"}, '.langauge: there is no such member; did you mean "language"?'),
    ],
)  # fmt: skip
def test_mistakes_in_a_forced_binding_have_its_path(binding: Any, mistake: str) -> None:
    text = "INSERT DATA { <urn:a> <urn:b> ?text }"
    assert said(forced(text, text=binding)) == [f"$.updates.SEND.forcedBindings.text{mistake}"]


def test_a_forced_binding_of_a_variable_that_the_text_does_not_have_is_a_mistake() -> None:
    text = "INSERT { <urn:a> <urn:b> ?text } WHERE { ?sender <urn:c> ?time }"
    assert said(forced(text, txt={"type": "literal"}, zz={"type": "uri"})) == [
        "$.updates.SEND.forcedBindings.txt: the text has no variable ?txt; did you mean ?text?",
        "$.updates.SEND.forcedBindings.zz: the text has no variable ?zz; it has ?text, ?sender, ?time",
    ]


@pytest.mark.parametrize(
    "text",
    ["SELECT * { BIND(1 AS ?x) }", "SELECT * { VALUES (?y ?x) { (1 2) } }", "SELECT (1 AS ?x) {}",
     "SELECT * { ?y ?p ?x FILTER(BOUND(?x)) }"],
)  # fmt: skip
def test_a_variable_that_the_text_assigns_or_asks_about_cannot_be_bound(text: str) -> None:
    (mistake,) = said(forced(text, "queries", x={"type": "uri"}))
    assert mistake.startswith("$.queries.SEND.forcedBindings.x: ?x cannot be bound: the text assigns it")


def test_a_literal_cannot_be_declared_where_none_can_stand() -> None:
    text = "INSERT { ?s ?p ?o }\nWHERE { ?s ?p ?o }"
    bindings = {"p": {"type": "literal"}, "o": {"type": "literal"}}
    (mistake,) = said(forced(text, **bindings))
    assert mistake.startswith(
        "$.updates.SEND.forcedBindings.p: a literal cannot stand where ?p stands: line 1, column 13:"
    )
    assert "found the value, expected" in mistake


def test_a_blank_node_cannot_be_declared_where_none_can_stand() -> None:
    text = "DELETE { ?s <urn:p> 1 } INSERT { ?t <urn:p> 1 } WHERE { }"
    (mistake,) = said(forced(text, s={"type": "bnode"}, t={"type": "bnode"}))
    assert "forcedBindings.s: a bnode cannot stand where ?s stands: line 1, column" in mistake


def test_insert_data_with_forced_variables_is_legal_and_with_others_it_is_not() -> None:
    text = "INSERT DATA {\n ex:a ex:b ?text ; ex:c ?other }"
    assert load(forced(text, text={"type": "literal"}, other={"type": "uri"}))
    assert said(forced(text, text={"type": "literal"})) == [
        "$.updates.SEND.sparql: line 1, column 13: the variable ?other cannot stand in DATA"
    ]


def test_a_mistake_after_forced_variables_has_its_place_in_the_text_as_written() -> None:
    text = "INSERT DATA { ex:a ex:b ?text } ;\nINSERT DATA { ex:a ?text ?text ex:c }"
    (mistake,) = said(forced(text, text={"type": "uri"}))
    assert mistake.startswith("$.updates.SEND.sparql: line 2, column 32: found 'ex:c', expected")


def test_a_bad_forced_binding_is_not_blamed_on_the_text_as_well() -> None:
    assert len(said(forced("INSERT DATA { ex:a ex:b ?text }", text={"type": "x"}))) == 1


def test_a_value_written_like_a_datatype_s_text_is_not_a_place_for_a_variable() -> None:
    for text in ("INSERT DATA { ex:a ex:b ?text@en }", "INSERT DATA { ex:a ex:b ?text^^xsd:integer }"):
        (mistake,) = said(forced(text, text={"type": "literal"}))
        assert mistake.startswith("$.updates.SEND.sparql: line 1, column 30:")


def test_a_query_among_updates_is_a_mistake() -> None:
    (mistake,) = said({"updates": {"U": {"sparql": "SELECT * { ?s ?p ?o }"}}})
    assert mistake.startswith("$.updates.U.sparql: line 1, column 1: found 'SELECT', expected an update operation")


@pytest.mark.parametrize(
    ("text", "mistake"),
    [
        ('{"host": "a",\n "port" 5}', "$: not JSON: line 2, column 9: Expecting ':' delimiter"),
        ('{"updates": {"A": {"sparql": ""}, "A": {"sparql": ""}}}', '$: the member "A" is given twice in one object'),
    ],
)
def test_mistakes_in_the_json_have_their_place(text: str, mistake: str) -> None:
    assert said(text) == [mistake]


def test_a_file_that_cannot_be_read_is_a_mistake(tmp_path: Path) -> None:
    assert said(tmp_path / "none.jsap") == ["$: none.jsap cannot be read: No such file or directory"]
    (tmp_path / "latin.jsap").write_bytes(b'{"host": "\xe9"}')
    assert said(tmp_path / "latin.jsap") == ["$: latin.jsap cannot be read: it is not UTF-8"]
    (tmp_path / "list.jsap").write_text("[]")
    assert said(tmp_path / "list.jsap") == ["$: must be an object, not []"]
    (tmp_path / "top.jsap").write_text(json.dumps({"include": ["list.jsap", "none.jsap", 5]}))
    assert said(tmp_path / "top.jsap") == [
        "$.include[2]: must be a string, not 5",
        "list.jsap: $: must be an object, not []",
        "none.jsap: $: none.jsap cannot be read: No such file or directory",
    ]


def test_what_is_not_json_is_no_profile() -> None:
    assert said({"extended": {1, 2}}) == ["$: not JSON: Object of type set is not JSON serializable"]
    assert said({"updates": "[" * 5}) == ['$.updates: must be an object, not "[[[[["']
    assert said('{"a":' + "[" * 100_000) == ["$: nested too deeply"]


def test_a_protocol_that_is_not_available_is_a_mistake_where_it_was_chosen() -> None:
    section = {"protocol": "wss", "availableProtocols": {"ws": {"port": 1}}}
    assert said({"sparql11seprotocol": section}) == [
        '$.sparql11seprotocol.protocol: must be one of availableProtocols (ws), not "wss"'
    ]
    inner = {"sparql": "ASK {}", "sparql11seprotocol": {"protocol": "wss"}}
    assert said({"sparql11seprotocol": section | {"protocol": "ws"}, "queries": {"Q": inner}}) == [
        '$.queries.Q.sparql11seprotocol.protocol: must be one of availableProtocols (ws), not "wss"'
    ]


def test_a_graph_in_both_spellings_is_a_mistake() -> None:
    graphs = {"default-graph-uri": "urn:a", "default_graph_uri": "urn:b"}
    assert said({"graphs": graphs}) == ["$.graphs: has a member in both spellings, with - and with _"]


def test_members_that_nobody_knows_may_be_extensions() -> None:
    load({"version": 3, "updates": {"U": {"sparql": "CLEAR ALL", "comment": "all"}}})


@pytest.mark.parametrize(
    ("kind", "name", "mistake"),
    [
        ("update", "SEDN", '$.updates.SEDN: there is no update "SEDN"; did you mean "SEND"?'),
        ("update", "send", '$.updates.send: there is no update "send"; did you mean "SEND"?'),
        ("query", "SEND", '$.queries.SEND: there is no query "SEND": this is the name of an update'),
        ("update", "xyz", '$.updates.xyz: there is no update "xyz"; there is "SEND"'),
        ("query", "xyz", '$.queries.xyz: there is no query "xyz"; there is none at all'),
    ],
)
def test_a_name_that_is_not_there_gets_the_nearest_suggested(kind: str, name: str, mistake: str) -> None:
    jsap = load(forced("CLEAR ALL"))
    with pytest.raises(BadProfile) as raised:
        getattr(jsap, kind)(name)
    assert str(raised.value) == mistake


scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=6)
names = st.text(max_size=4)
anything = st.recursive(scalars, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(names, inner))


def places(value: object, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    found = [path] if path else []
    for name, inner in value.items() if isinstance(value, dict) else ():
        found += places(inner, (*path, name))
    return found


@given(st.data())
def test_whatever_a_profile_has_it_loads_or_is_explained(data: st.DataObject) -> None:
    document = json.loads(json.dumps(listings.STRUCTURE))
    document["queries"] = json.loads(listings.CHAT)["queries"]
    for _ in range(data.draw(st.integers(1, 3))):
        *path, name = data.draw(st.sampled_from(places(document)))
        inner = document
        for step in path:
            inner = inner[step]
        if data.draw(st.booleans()):
            inner[name] = data.draw(anything)
        else:
            inner[data.draw(st.text(max_size=4))] = inner.pop(name)
    try:
        jsap = load(document)
    except BadProfile as error:
        mistakes = error.mistakes
    else:
        for query in jsap.queries.values():
            parse_query(query.bind())
        return
    assert mistakes
    assert all(mistake.path.startswith("$") and mistake.text for mistake in mistakes)
