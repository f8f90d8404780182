"""Results in JSON and XML as the Recommendations write them, and as other stores vary them."""

import json
from typing import Any

import pytest

from tidings.model import terms
from tidings.model.errors import BadRequest, ResultsSyntaxError
from tidings.model.formats.results.json import read_json, term_of_value, term_value, write_json
from tidings.model.formats.results.xml import read_xml, write_xml
from tidings.model.results import Boolean, Solutions
from tidings.model.terms import Term

ROW = ("<urn:a>", "_:b", '"x\\n"', '"x"@EN', f'"01"^^<{terms.XSD}integer>', None)
TABLE = Solutions(("i", "b", "s", "l", "t", "u"), (ROW,))
XML = '<?xml version="1.0"?>%s<sparql xmlns="http://www.w3.org/2005/sparql-results#">%s</sparql>'
ONE = "<head><variable name='x'/></head>"


def test_json_is_what_the_recommendation_says() -> None:
    document = json.loads(b"".join(write_json(TABLE)))
    assert document["head"] == {"vars": ["i", "b", "s", "l", "t", "u"]}
    assert document["results"]["bindings"] == [
        {
            "i": {"type": "uri", "value": "urn:a"},
            "b": {"type": "bnode", "value": "b"},
            "s": {"type": "literal", "value": "x\n"},
            "l": {"type": "literal", "value": "x", "xml:lang": "EN"},
            "t": {"type": "literal", "value": "01", "datatype": f"{terms.XSD}integer"},
        }
    ]


def test_json_of_many_rows_is_one_document() -> None:
    rows = tuple((f'"{n}"',) for n in range(2000))
    written = list(write_json(Solutions(("n",), iter(rows))))
    assert len(written) > 3
    assert read_json(b"".join(written)) == Solutions(("n",), rows)


@pytest.mark.parametrize(
    ("value", "term"),
    [
        ({"type": "typed-literal", "value": "1", "datatype": "urn:t"}, '"1"^^<urn:t>'),
        ({"type": "literal", "value": "1", "datatype": terms.XSD_STRING}, '"1"'),
        ({"type": "literal", "value": "1", "datatype": terms.RDF_LANG_STRING, "xml:lang": "en"}, '"1"@en'),
        ({"type": "literal", "value": "1", "xml:lang": ""}, '"1"'),
        ({"type": "bnode", "value": "b0"}, "_:b0"),
        ({"type": "uri", "value": "relative"}, "<relative>"),
        ({"type": "literal", "value": "\x00", "extra": 1}, '"\\u0000"'),
    ],
)
def test_values_of_other_stores_are_understood(value: Any, term: Term) -> None:
    assert term_of_value(value) == term


@pytest.mark.parametrize("term", [term for term in ROW if term])
def test_a_term_becomes_a_value_and_a_term_again(term: Term) -> None:
    assert term_of_value(term_value(term)) == term


def test_a_label_that_rdf_cannot_carry_gets_one_that_it_can() -> None:
    one, other = (term_of_value({"type": "bnode", "value": f"nodeID://b{n}"}) for n in (1, 2))
    assert one != other
    assert one.startswith("_:b")
    assert ":" not in one[2:]


@pytest.mark.parametrize(
    "value",
    [
        {"type": "uri", "value": "urn:a> <urn:b"},
        {"type": "uri"},
        {"type": "triple", "value": {}},
        {"type": "literal", "value": 1},
        {"type": "literal", "value": "x", "xml:lang": "e n"},
        {"type": "literal", "value": "x", "datatype": "urn: t"},
        {"type": "literal", "value": "x", "datatype": terms.RDF_LANG_STRING},
        {"type": "literal", "value": "\ud800"},
        {},
        None,
    ],
)
def test_what_is_no_term_is_refused(value: Any) -> None:
    with pytest.raises(ResultsSyntaxError):
        term_of_value(value)


@pytest.mark.parametrize(
    "document",
    [
        b"",
        b"{",
        b"[]",
        b"{}",
        b'{"head": {"vars": ["x"]}}',
        b'{"head": {"vars": "x"}, "results": {"bindings": []}}',
        b'{"head": {"vars": ["x"]}, "results": {}}',
        b'{"head": {"vars": ["x"]}, "results": {"bindings": [{"y": {"type": "uri", "value": "urn:a"}}]}}',
        b'{"head": {"vars": ["x"]}, "results": {"bindings": [{"x": {"type": "uri"}}]}}',
        b'{"boolean": "yes"}',
        b'{"head": {"vars": ["x"]}, "results": {"bindings": [{"x": {"type": "literal", "value": "\\ud800"}}]}}',
        b'{"boolean": \xff}',
    ],
)
def test_malformed_json_is_a_results_syntax_error(document: bytes) -> None:
    with pytest.raises(ResultsSyntaxError):
        read_json(document)


def test_xml_is_what_the_recommendation_says() -> None:
    document = b"".join(write_xml(TABLE)).decode()
    assert '<variable name="i"/>' in document
    assert '<binding name="i"><uri>urn:a</uri></binding>' in document
    assert '<binding name="b"><bnode>b</bnode></binding>' in document
    assert '<literal xml:lang="EN">x</literal>' in document
    assert f'<literal datatype="{terms.XSD}integer">01</literal>' in document
    assert 'name="u"><' not in document


def test_xml_white_space_and_markup_survive() -> None:
    table = Solutions(("x",), (('" \\r\\n\\t <&>]]>\\"\' "',),))
    assert read_xml(b"".join(write_xml(table))) == table


def test_characters_that_xml_does_not_know_are_refused() -> None:
    with pytest.raises(BadRequest, match=r"U\+0000"):
        b"".join(write_xml(Solutions(("x",), (('"\\u0000"',),))))


def test_indented_xml_is_read() -> None:
    inside = """
      <head> <variable name="x"/> <link href="urn:l"/> </head>
      <results> <result> <binding name="x"> <uri> urn:a </uri> </binding> </result> <result/> </results>"""
    assert read_xml((XML % ("", inside)).encode()) == Solutions(("x",), (("<urn:a>",), (None,)))


def test_an_xml_boolean_may_stand_among_white_space() -> None:
    assert read_xml((XML % ("", "<head/><boolean> true\n</boolean>")).encode()) == Boolean(True)


def test_entities_are_refused_in_any_encoding() -> None:
    bomb = XML % ('<!DOCTYPE a [<!ENTITY x "xxx">]>', "<head/><boolean>&x;</boolean>")
    for encoding in ("utf-8", "utf-16"):
        with pytest.raises(ResultsSyntaxError, match="document type"):
            read_xml(bomb.encode(encoding))


@pytest.mark.parametrize(
    "document",
    [
        "",
        "<a",
        "<html/>",
        XML % ("", ""),
        XML % ("", "<results/>"),
        XML % ("", "<boolean>maybe</boolean>"),
        XML % ("", "<head><variable/></head><results/>"),
        XML % ("", "<head/><results><result><binding name='x'><uri>urn:a</uri></binding></result></results>"),
        XML % ("", f"{ONE}<results><result><binding name='x'/></result></results>"),
        XML % ("", f"{ONE}<results><result><binding name='x'><triple/></binding></result></results>"),
    ],
)
def test_malformed_xml_is_a_results_syntax_error(document: str) -> None:
    with pytest.raises(ResultsSyntaxError):
        read_xml(document.encode())
