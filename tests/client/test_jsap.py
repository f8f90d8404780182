"""Application profiles: what they say, what they include, and where their primitives are sent."""

import doctest
import json
import re
from pathlib import Path
from typing import Any

import pytest

from client import listings
from tidings.client.jsap.addresses import Http
from tidings.client.jsap.mistakes import BadProfile
from tidings.client.jsap.profile import load
from tidings.model.terms import XSD
from tidings.sparql.parser import parse_query, parse_update

EX = "http://example.org/"
ASK = "ASK { ?s ?p ?o }"


def profile(**members: Any) -> dict[str, Any]:
    return {"namespaces": {"ex": EX}, "queries": {"Q": {"sparql": ASK}}, **members}


# -- the paper --------------------------------------------------------------------------------------------------


def test_the_structure_of_listings_12_to_15_loads() -> None:
    jsap = load(listings.STRUCTURE)
    update = jsap.update("IDENTIFIER")
    assert update.http == Http("http://endpoint.example.org:8001/update", "URLENCODED_POST", "HTML")
    assert update.ws == "ws://events.example.org:9000/subscribe"
    assert update.dataset.parameters == (
        ("using-graph-uri", "http://example.org/g"),
        ("using-named-graph-uri", "http://example.org/d"),
    )
    assert parse_update(update.bind()) == parse_update(
        'INSERT DATA { <http://example.org/n#lamp> <http://example.org/one#says> "hello" }'
    )
    assert jsap.security == {"register": "/oauth/register"}


def test_the_chat_of_listing_16_loads_and_binds() -> None:
    jsap = load(listings.CHAT)
    assert set(jsap.updates) == {"SEND", "SET_RECEIVED", "REMOVE"}
    assert set(jsap.queries) == {"SENT", "RECEIVED"}
    send = jsap.update("SEND")
    assert send.text.startswith(f"PREFIX rdf: <{listings.RDF}>\nPREFIX schema: <http://schema.org/>\nINSERT")
    assert send.variables == ("text", "sender", "receiver")
    text = send.bind(text='"hi"', sender="schema:PersonURI1", receiver="http://schema.org/PersonURI2")
    assert r'schema:text  "\"hi\"" ' in text
    assert "schema:sender  <http://schema.org/PersonURI1> " in text
    parse_update(text)
    parse_query(jsap.query("SENT").bind(receiver="schema:PersonURI2"))
    assert jsap.query("RECEIVED").bind() == jsap.query("RECEIVED").text


def test_the_mqtt_example_of_listings_17_and_18_loads_and_binds() -> None:
    jsap = load(json.loads(listings.MQTT) | {"extended": listings.MAPPING})
    ((topic, mapping),) = jsap.extended["semantic-mappings"].items()
    unread = {name: mapping[name] for name in ("observation", "unit", "location", "comment", "label")}
    text = jsap.update("ADD_OBSERVATION").bind(unread, topic=topic)
    assert "<http://mml.arces.unibo.it/monitor#Star>" in text
    parse_update(text)
    store = jsap.update("STORE_OBSERVATION")
    assert store.http.url == "http://bigdata.example.org:9999/sparql"
    assert jsap.update("UPDATE_VALUE").http.url == "http://localhost:8000/update"
    assert f'"2.15E1"^^<{XSD}double>' in store.bind(observation="arces-monitor:o", unit="qudt-1-1:u", value=21.5)
    assert jsap.query("OBSERVATIONS_VALUES").variables[:2] == ("observation", "location")


# -- prefixes ---------------------------------------------------------------------------------------------------


def test_a_text_gets_the_prefixes_that_it_uses_and_does_not_declare_itself() -> None:
    spaces = {"a": f"{EX}a#", "b": f"{EX}b#", "c": f"{EX}c#", "": EX}
    text = 'PREFIX b: <urn:mine:> SELECT * { ?s a:p b:q ; rdf:type :T ; ?p "c:d" , <c:e> , _:c }'
    query = load({"namespaces": spaces, "queries": {"Q": {"sparql": text}}}).query("Q")
    assert query.text == f"PREFIX a: <{EX}a#>\nPREFIX rdf: <{listings.RDF}>\nPREFIX : <{EX}>\n{text}"


def test_a_prefix_that_is_declared_too_late_is_put_in_front_all_the_same() -> None:
    text = "INSERT DATA { ex:a ex:p 1 } ; PREFIX ex: <urn:mine:> INSERT DATA { ex:a ex:p 2 }"
    update = load(profile(updates={"U": {"sparql": text}})).update("U")
    assert update.text.startswith(f"PREFIX ex: <{EX}>\nINSERT")


@pytest.mark.parametrize("name", ["rdf", "rdfs", "owl", "xsd"])
def test_some_prefixes_are_always_known(name: str) -> None:
    parse_query(load({"queries": {"Q": {"sparql": f"ASK {{ ?s {name}:x ?o }}"}}}).query("Q").text)


def test_a_profile_may_have_its_own_idea_of_a_known_prefix() -> None:
    assert load({"namespaces": {"owl": "urn:owl:"}}).namespaces["owl"] == "urn:owl:"


# -- addresses --------------------------------------------------------------------------------------------------


def test_what_is_not_said_has_the_defaults_of_the_broker() -> None:
    query = load({"queries": {"Q": {"sparql": ASK}}}).query("Q")
    assert query.http == Http("http://localhost:8000/query", "POST", "JSON")
    assert query.ws == "ws://localhost:9000/subscribe"
    assert query.reconnect


def test_secure_protocols_have_ports_of_their_own() -> None:
    document = profile(sparql11protocol={"protocol": "https"}, sparql11seprotocol={"protocol": "wss"})
    query = load(document).query("Q")
    assert (query.http.url, query.ws) == ("https://localhost:8443/query", "wss://localhost:9443/subscribe")


def test_the_only_available_protocol_is_chosen() -> None:
    document = profile(sparql11seprotocol={"availableProtocols": {"wss": {"port": 1, "path": "/s"}}})
    assert load(document).query("Q").ws == "wss://localhost:1/s"


@pytest.mark.parametrize(
    ("primitive", "section", "top", "host"),
    [
        ({"host": "a"}, {"host": "b"}, {"host": "c"}, "a"),
        ({"host": "a", "sparql11protocol": {"host": "inner"}}, {"host": "b"}, {"host": "c"}, "inner"),
        ({}, {"host": "b"}, {"host": "c"}, "b"),
        ({}, {}, {"host": "c"}, "c"),
        ({}, {}, {}, "localhost"),
        ({}, {}, {"host": "::1"}, "[::1]"),
        ({}, {}, {"host": "[::1]"}, "[::1]"),
    ],
)
def test_the_host_is_that_of_the_primitive_then_of_the_section_then_of_the_profile(
    primitive: dict[str, Any], section: dict[str, Any], top: dict[str, Any], host: str
) -> None:
    document = {**top, "sparql11protocol": section, "queries": {"Q": {"sparql": ASK, **primitive}}}
    assert load(document).query("Q").http.url == f"http://{host}:8000/query"


def test_a_primitive_overrides_sections_member_by_member() -> None:
    document = profile(
        sparql11protocol={"port": 1234, "query": {"path": "/q", "method": "GET", "format": "XML"}},
        sparql11seprotocol={
            "protocol": "ws", "reconnect": False, "availableProtocols": {"ws": {"port": 1, "path": "/a"}}
        },
    )  # fmt: skip
    document["queries"]["Q"] |= {
        "sparql11protocol": {"query": {"path": "/other"}},
        "sparql11seprotocol": {"availableProtocols": {"ws": {"port": 2}}},
    }
    query = load(document).query("Q")
    assert query.http == Http("http://localhost:1234/other", "GET", "XML")
    assert (query.ws, query.reconnect) == ("ws://localhost:2/a", False)


# -- graphs -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spelling", ["default-graph-uri", "default_graph_uri"])
@pytest.mark.parametrize("value", [f"{EX}g", [f"{EX}g"], "ex:g"])
def test_graphs_are_spelt_either_way_and_given_alone_or_in_a_list(spelling: str, value: object) -> None:
    dataset = load(profile(graphs={spelling: value})).query("Q").dataset
    assert (dataset.default, dataset.named) == ((f"{EX}g",), ())
    assert dataset.parameters == (("default-graph-uri", f"{EX}g"),)


def test_an_update_has_the_graphs_that_it_uses_and_a_primitive_overrides_each() -> None:
    document = profile(
        graphs={"default-graph-uri": "ex:a", "using-graph-uri": ["ex:b", "ex:c"], "using_named_graph_uri": "ex:d"},
        updates={"U": {"sparql": "DELETE WHERE { ?s ?p ?o }", "graphs": {"using_graph_uri": "ex:e"}}},
    )
    dataset = load(document).update("U").dataset
    assert (dataset.default, dataset.named) == ((f"{EX}e",), (f"{EX}d",))


# -- sources and inclusion --------------------------------------------------------------------------------------


def write(folder: Path, name: str, document: object) -> Path:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(document))
    return path


def test_a_profile_is_a_file_a_text_or_an_object(tmp_path: Path) -> None:
    path = write(tmp_path, "a.jsap", profile())
    for source in (path, str(path), path.read_text(), profile()):
        assert load(source).query("Q").text == ASK


def test_an_object_that_changes_later_changes_no_profile() -> None:
    document = profile(extended={"a": [1]})
    jsap = load(document)
    document["extended"]["a"].append(2)
    assert jsap.extended == {"a": [1]}


@pytest.mark.parametrize("form", [["sub/base.jsap"], {"base": "sub/base.jsap"}, "sub/base.jsap"])
def test_the_includer_wins_and_files_are_found_beside_it(tmp_path: Path, form: object) -> None:
    write(tmp_path, "sub/deeper.jsap", {"host": "deeper", "namespaces": {"d": "urn:d:"}, "oauth": {"enable": True}})
    base = {
        "include": ["deeper.jsap"],
        "host": "base",
        "namespaces": {"ex": "urn:base:", "b": "urn:b:"},
        "sparql11protocol": {"port": 1, "query": {"path": "/base"}},
        "graphs": {"default-graph-uri": "urn:base"},
        "queries": {
            "Q": {"sparql": "ASK { ?x b:p 1 }", "forcedBindings": {"x": {"type": "uri"}}},
            "R": {"sparql": "ASK { ?x b:p ex:o }"},
        },
    }
    write(tmp_path, "sub/base.jsap", base)
    own = profile(include=form, sparql11protocol={"port": 2}, graphs={"default_graph_uri": "urn:own"})
    jsap = load(write(tmp_path, "own.jsap", own))
    assert (jsap.host, jsap.oauth.enable) == ("base", True)
    assert jsap.namespaces["d"] == "urn:d:"
    assert (jsap.query("Q").text, dict(jsap.query("Q").bindings)) == (ASK, {})
    assert jsap.query("R").text == f"PREFIX b: <urn:b:>\nPREFIX ex: <{EX}>\nASK {{ ?x b:p ex:o }}"
    assert jsap.query("R").http.url == "http://base:2/base"
    assert jsap.query("R").dataset.default == ("urn:own",)


def test_a_file_may_be_included_twice_but_never_by_itself(tmp_path: Path) -> None:
    write(tmp_path, "base.jsap", profile())
    for name in ("left.jsap", "right.jsap"):
        write(tmp_path, name, {"include": ["base.jsap"]})
    assert load(write(tmp_path, "top.jsap", {"include": ["left.jsap", "right.jsap"]})).query("Q")
    write(tmp_path, "a.jsap", {"include": ["b.jsap"]})
    write(tmp_path, "b.jsap", {"include": ["a.jsap"]})
    with pytest.raises(BadProfile, match=r"include each other: a\.jsap > b\.jsap > a\.jsap"):
        load(tmp_path / "a.jsap")


def test_a_mistake_in_an_included_file_names_the_file(tmp_path: Path) -> None:
    write(tmp_path, "base.jsap", {"host": 5, "queries": {"Q": {"sparql": "ASK"}}})
    path = write(tmp_path, "top.jsap", {"include": ["base.jsap"], "sparql11protocol": {"port": 0}})
    with pytest.raises(BadProfile) as raised:
        load(path)
    assert [(mistake.file, mistake.path) for mistake in raised.value.mistakes] == [
        ("base.jsap", "$.host"),
        ("", "$.sparql11protocol.port"),
        ("base.jsap", "$.queries.Q.sparql"),
    ]


# -- the documentation ------------------------------------------------------------------------------------------


def test_the_example_of_the_documentation_says_what_is_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (Path(__file__).parents[2] / "docs/jsap.md").read_text()
    (document,) = re.findall(r"^```json\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    (session,) = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    (tmp_path / "chat.jsap").write_text(document)
    monkeypatch.chdir(tmp_path)
    test = doctest.DocTestParser().get_doctest(session, {}, "docs/jsap.md", None, None)
    assert doctest.DocTestRunner().run(test).failed == 0
