"""Forced bindings: declared types decide how values are read, and no value can change the shape of a request."""

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from client.values import any_term, labels, natives, texts
from tidings.client.jsap.mistakes import BadProfile
from tidings.client.jsap.primitives import Primitive
from tidings.client.jsap.profile import load
from tidings.client.terms import IRI, BNode, Literal, to_term
from tidings.model.terms import XSD, Term
from tidings.sparql.parser import parse_query, parse_update

EX = "http://example.org/"
HOSTILE = ['"} ; DROP ALL #', "'''", '"""', "\\", '\\"', "\n\r\t\0", "?x $x", "\\u0022 } #", "é\U0001f600", "^^", "@en"]
SPACES = {"chat": f"{EX}chat#"}


def primitive(sparql: str, kind: str = "updates", /, **bindings: Any) -> Primitive:
    document = {"namespaces": SPACES, kind: {"P": {"sparql": sparql, "forcedBindings": bindings}}}
    jsap = load(document)
    return jsap.update("P") if kind == "updates" else jsap.query("P")


def swapped(node: Any, old: Term, new: Term) -> Any:
    """The algebra with one term in the place of another."""
    if isinstance(node, str):
        return new if node == old else node
    if isinstance(node, tuple):
        return tuple(swapped(part, old, new) for part in node)
    if isinstance(node, msgspec.Struct):
        return type(node)(*(swapped(getattr(node, name), old, new) for name in node.__struct_fields__))
    return node


def refusal(primitive: Primitive, /, **values: Any) -> str:
    with pytest.raises(BadProfile) as raised:
        primitive.bind(values)
    return str(raised.value)


# -- the shape --------------------------------------------------------------------------------------------------

UPDATE = primitive(
    "DELETE { ?s chat:text ?old } INSERT { ?s chat:text ?text ; ?p [ chat:note ?text ] }"
    "WHERE { ?s chat:text ?old FILTER(?old != ?text) OPTIONAL { ?s ?p ?text } } ; INSERT DATA { chat:a chat:b ?text }",
    text={"type": "literal"},
)
QUERY = primitive(
    "SELECT DISTINCT ?s ?x (COUNT(?x) AS ?n) { ?s chat:p ?x FILTER(?x IN (1, ?x)) { SELECT ?x { ?y chat:q ?x } } }"
    "GROUP BY ?s ?x ORDER BY DESC(?x) ?x",
    "queries",
    x={"type": "literal"},
)
SAMPLE = '"a sample that no text has"'


def assert_same_shape(value: Any, term: Term) -> None:
    for one, parse in ((UPDATE, parse_update), (QUERY, parse_query)):
        name = next(iter(one.bindings))
        expected = swapped(parse(one.bind({name: "a sample that no text has"})), SAMPLE, term)
        assert parse(one.bind({name: value})) == expected


@given(texts)
def test_no_text_can_change_the_shape_of_a_request(text: str) -> None:
    assert_same_shape(text, to_term(text))


@pytest.mark.parametrize("text", HOSTILE)
def test_no_hostile_text_can_change_the_shape_of_a_request(text: str) -> None:
    assert_same_shape(text, to_term(text))


@given(natives | any_term.filter(lambda term: isinstance(term, Literal)))
def test_no_value_of_another_type_can_change_the_shape_of_a_request(value: Any) -> None:
    assert_same_shape(value, to_term(value))


@given(st.text())
@example("http://example.org/a b")
@example("http://example.org/> ; DROP ALL #")
@example("chat:x> } ; DROP ALL #")
@example("\\u003E")
def test_a_text_for_an_iri_is_one_iri_or_refused(text: str) -> None:
    update = primitive("INSERT DATA { ?s chat:p chat:o }", s={"type": "uri"})
    try:
        bound = update.bind(s=text)
    except BadProfile:
        return
    ((quad,),) = [operation.quads for operation in parse_update(bound)]  # type: ignore[union-attr]
    prefix, _, local = text.partition(":")
    assert quad[0] == f"<{SPACES[prefix] + local if prefix == 'chat' else text}>"


@given(st.text())
@example("x ; DROP ALL")
def test_a_text_for_a_blank_node_is_one_label_or_refused(text: str) -> None:
    update = primitive("INSERT DATA { ?s chat:p chat:o }", s={"type": "bnode"})
    try:
        bound = update.bind(s=text)
    except BadProfile:
        return
    ((quad,),) = [operation.quads for operation in parse_update(bound)]  # type: ignore[union-attr]
    assert quad[0] == f"_:{text.removeprefix('_:')}"


@given(labels)
def test_every_label_is_welcome(label: str) -> None:
    update = primitive("INSERT DATA { ?s chat:p chat:o }", s={"type": "bnode"})
    assert update.bind(s=label) == update.bind(s=BNode(label)) == update.bind(s=f"_:{label}")


# -- how values are read ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("declared", "value", "term"),
    [
        ({"type": "literal"}, "21", '"21"'),
        ({"type": "literal"}, 21, f'"21"^^<{XSD}integer>'),
        ({"type": "literal"}, True, f'"true"^^<{XSD}boolean>'),
        ({"type": "literal"}, Decimal("2.50"), f'"2.5"^^<{XSD}decimal>'),
        ({"type": "literal"}, Literal("x", language="fr"), '"x"@fr'),
        ({"type": "literal", "language": "en"}, "x", '"x"@en'),
        ({"type": "literal", "language": "en"}, Literal("x", language="EN"), '"x"@EN'),
        ({"type": "literal", "datatype": "xsd:integer"}, "021", f'"021"^^<{XSD}integer>'),
        ({"type": "literal", "datatype": "xsd:decimal"}, 0.1, f'"0.1"^^<{XSD}decimal>'),
        ({"type": "literal", "datatype": "xsd:decimal"}, 7, f'"7"^^<{XSD}decimal>'),
        ({"type": "literal", "datatype": "xsd:double"}, 7, f'"7"^^<{XSD}double>'),
        ({"type": "literal", "datatype": f"{XSD}float"}, 0.5, f'"5.0E-1"^^<{XSD}float>'),
        ({"type": "literal", "datatype": "xsd:unsignedByte"}, 255, f'"255"^^<{XSD}unsignedByte>'),
        ({"type": "literal", "datatype": "xsd:string"}, "x", '"x"'),
        ({"type": "literal", "datatype": "xsd:hexBinary"}, b"\x0a", f'"0A"^^<{XSD}hexBinary>'),
        ({"type": "literal", "datatype": "chat:unit"}, 5, f'"5"^^<{EX}chat#unit>'),
        ({"type": "literal", "datatype": "xsd:dateTimeStamp"}, datetime(2026, 1, 1, tzinfo=UTC),
         f'"2026-01-01T00:00:00Z"^^<{XSD}dateTimeStamp>'),
        ({"type": "uri"}, "chat:Message", f"<{EX}chat#Message>"),
        ({"type": "uri"}, "urn:x:y", "<urn:x:y>"),
        ({"type": "uri"}, "chat://host", "<chat://host>"),
        ({"type": "uri"}, IRI("chat:Message"), "<chat:Message>"),
        ({"type": "bnode"}, "_:b", "_:b"),
    ],
)  # fmt: skip
def test_the_declaration_decides_how_a_value_is_read(declared: dict[str, Any], value: Any, term: Term) -> None:
    update = primitive("INSERT DATA { chat:s chat:p ?x }", x=declared)
    assert update.bind(x=value).endswith(f"chat:p  {term}  }}")


@pytest.mark.parametrize(
    ("declared", "value", "mistake"),
    [
        ({"type": "uri"}, "Message", 'must be an absolute IRI or a prefixed name of the namespaces, not "Message"'),
        ({"type": "uri"}, "urn:a b", 'has characters that no IRI has: "urn:a b"'),
        ({"type": "uri"}, IRI("relative"),
         'must be an absolute IRI or a prefixed name of the namespaces, not "relative"'),
        ({"type": "uri"}, Literal("urn:a"), "must be an IRI, not Literal('urn:a')"),
        ({"type": "uri"}, 5, "must be an IRI, not 5"),
        ({"type": "bnode"}, "a b", 'must be the label of a blank node, not "a b"'),
        ({"type": "bnode"}, IRI("urn:a"), "must be the label of a blank node, not IRI('urn:a')"),
        ({"type": "literal"}, IRI("urn:a"), "must be a literal, not IRI('urn:a')"),
        ({"type": "literal"}, [1], "must be a value of RDF, not [1]"),
        ({"type": "literal"}, "\ud800", "half a surrogate pair is not a character"),
        ({"type": "literal"}, Literal("x", datatype="relative"),
         'must be an absolute IRI or a prefixed name of the namespaces, not "relative"'),
        ({"type": "literal", "language": "en"}, 5, "must be a string, for the language en, not 5"),
        ({"type": "literal", "language": "en"}, Literal("x"), "must be in the language en, not Literal('x')"),
        ({"type": "literal", "datatype": "xsd:integer"}, "5.5", 'must be a value of xsd:integer, not "5.5"'),
        ({"type": "literal", "datatype": "xsd:integer"}, True, "must be a value of xsd:integer, not true"),
        ({"type": "literal", "datatype": "xsd:byte"}, 128, "must be a value of xsd:byte, not 128"),
        ({"type": "literal", "datatype": "xsd:integer"}, Literal("5"),
         "must be of the datatype xsd:integer, not Literal('5')"),
        ({"type": "literal", "datatype": "xsd:dateTime"}, date(2026, 1, 1),
         "must be a value of xsd:dateTime, not datetime.date(2026, 1, 1)"),
    ],
)  # fmt: skip
def test_a_value_that_does_not_fit_the_declaration_is_refused(declared: Any, value: Any, mistake: str) -> None:
    update = primitive("INSERT DATA { chat:s chat:p ?x }", x=declared)
    assert refusal(update, x=value) == f"$.updates.P.forcedBindings.x: {mistake}"


# -- what is given and what is not ------------------------------------------------------------------------------


def test_defaults_fill_what_is_not_given() -> None:
    update = primitive(
        "INSERT DATA { ?s chat:p ?x }",
        s={"type": "uri", "value": "chat:a"}, x={"type": "literal", "datatype": "xsd:integer", "value": 5},
    )  # fmt: skip
    assert update.bindings["s"].default == f"<{EX}chat#a>"
    assert parse_update(update.bind()) == parse_update(f"INSERT DATA {{ <{EX}chat#a> <{EX}chat#p> 5 }}")
    assert parse_update(update.bind(x=None)) == parse_update(update.bind())
    assert parse_update(update.bind({"x": "6"})) == parse_update(f"INSERT DATA {{ <{EX}chat#a> <{EX}chat#p> 6 }}")


def test_an_update_names_every_value_that_is_missing() -> None:
    update = primitive("DELETE WHERE { ?s chat:p ?x }", s={"type": "uri"}, x={"type": "literal"})
    assert refusal(update) == (
        "$.updates.P.forcedBindings.s: missing value\n$.updates.P.forcedBindings.x: missing value"
    )
    assert refusal(update, s="no iri") == (
        '$.updates.P.forcedBindings.s: has characters that no IRI has: "no iri"\n'
        "$.updates.P.forcedBindings.x: missing value"
    )


def test_a_query_asks_for_all_that_is_not_given() -> None:
    query = primitive("SELECT * { ?s chat:p ?x }", "queries", s={"type": "uri"}, x={"type": "literal"})
    assert parse_query(query.bind(x=1)) == parse_query(f"SELECT * {{ ?s <{EX}chat#p> 1 }}")
    assert query.bind() == query.text


def test_a_variable_without_a_declaration_is_bound_to_what_the_value_says_it_is() -> None:
    query = primitive("SELECT * { ?s chat:p ?x }", "queries")
    assert query.variables == ("s", "x")
    assert parse_query(query.bind(s=IRI("urn:a"), x=2)) == parse_query(f"SELECT * {{ <urn:a> <{EX}chat#p> 2 }}")
    assert "cannot be bound like this: line 2, column" in refusal(primitive("ASK { ?s ?p chat:o }", "queries"), p=5)


def test_a_variable_that_is_not_there_gets_the_nearest_suggested() -> None:
    query = primitive("SELECT ?name { ?s chat:p ?name BIND(1 AS ?one) }", "queries")
    assert refusal(query, nmae=1).endswith("the text has no variable ?nmae; did you mean ?name?")
    assert "?one cannot be bound" in refusal(query, one=1)


# -- where variables stand --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("SELECT ?x ?y { ?x chat:p ?y }", "SELECT (5 AS ?x) ?y { 5 chat:p ?y }"),
        ("SELECT (?x + 1 AS ?z) { ?y chat:p ?x }", "SELECT (5 + 1 AS ?z) { ?y chat:p 5 }"),
        ("SELECT ?y { ?y chat:p ?x } ORDER BY ?x ?y", "SELECT ?y { ?y chat:p 5 } ORDER BY (5) ?y"),
        ("SELECT ?x (COUNT(*) AS ?n) { ?y chat:p ?x } GROUP BY ?x HAVING(?x > 1) LIMIT 3",
         "SELECT (5 AS ?x) (COUNT(*) AS ?n) { ?y chat:p 5 } GROUP BY (5) HAVING(5 > 1) LIMIT 3"),
        ("SELECT ?x ?n { { SELECT ?x (COUNT(*) AS ?n) { { SELECT ?x { ?y chat:p ?x } } } GROUP BY ?x } }",
         "SELECT (5 AS ?x) ?n { { SELECT (5 AS ?x_9) (COUNT(*) AS ?n) "
         "{ { SELECT (5 AS ?x_21) { ?y chat:p 5 } } } GROUP BY (5) } }"),
        ("SELECT ?x { ?y chat:p ?x FILTER(EXISTS { ?x chat:q ?z }) } VALUES ?z { 1 }",
         "SELECT (5 AS ?x) { ?y chat:p 5 FILTER(EXISTS { 5 chat:q ?z }) } VALUES ?z { 1 }"),
        ("CONSTRUCT { ?y chat:q ?x } WHERE { ?y chat:p $x }", "CONSTRUCT { ?y chat:q 5 } WHERE { ?y chat:p 5 }"),
        ("ASK { ?y chat:p '?x', ?x # ?x\n }", "ASK { ?y chat:p '?x', 5 }"),
    ],
)  # fmt: skip
def test_a_bound_variable_is_a_constant_wherever_it_stands(text: str, bound: str) -> None:
    query = primitive(text, "queries", x={"type": "literal"})
    expected = parse_query(f"PREFIX chat: <{SPACES['chat']}> {bound}")
    assert parse_query(query.bind(x=5)) == expected


def test_a_label_that_the_text_has_itself_is_refused() -> None:
    update = primitive("INSERT DATA { ?s chat:p _:mine }", s={"type": "bnode"})
    assert "the text has a blank node _:mine of its own" in refusal(update, s="mine")


def test_one_label_in_two_parts_of_a_request_is_refused() -> None:
    text = "INSERT DATA { ?s chat:p 1 } ; INSERT DATA { ?t chat:p 1 }"
    update = primitive(text, s={"type": "bnode"}, t={"type": "bnode"})
    assert update.bind(s="a", t="b")
    assert "already used in another operation" in refusal(update, s="a", t="a")


def test_a_primitive_never_changes() -> None:
    with pytest.raises(AttributeError):
        UPDATE.text = "CLEAR ALL"  # type: ignore[misc]
    with pytest.raises(TypeError):
        UPDATE.bindings["x"] = UPDATE.bindings["text"]  # type: ignore[index]
