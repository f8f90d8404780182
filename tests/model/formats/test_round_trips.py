"""What is written is read back the same, in every format, as far as the format can say it."""

from collections.abc import Iterator

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.model import terms
from tidings.model.formats.blanks import KEEP_LABELS
from tidings.model.formats.grammar import NOT_IN_XML
from tidings.model.formats.rdf import RdfFormat, parse_rdf, serialize_rdf
from tidings.model.formats.results.documents import ResultFormat, read_results, write_results
from tidings.model.formats.results.json import term_json, term_value
from tidings.model.results import Boolean, Row, Solutions
from tidings.model.terms import DEFAULT_GRAPH, Quad, Term, Triple

PREFIXES = {"ex": "http://example.org/", "xsd": terms.XSD, "": "urn:x:", "rdf": terms.RDF}
XSD_NAMES = ["integer", "int", "decimal", "double", "boolean", "dateTime", "string"]

texts = st.text() | st.sampled_from(["", "01", "1.0", "-1.5e3", " ", "\r\n", "a\tb", '"@EN', "\ufffe", "x@EN-x", "\\"])
languages = st.sampled_from(["en", "EN", "en-GB", "de-Latn-DE-1996", "x-Private", "sr-Latn"])
datatypes = st.sampled_from(
    [terms.XSD + name for name in XSD_NAMES] + ["urn:odd:Type", "http://u@EN.org/t", terms.RDF + "JSON"]
)
iris = st.from_regex(r"(http://example\.org/|urn:x:|mailto:Me@EN)[A-Za-z0-9é_@%\-]{0,8}", fullmatch=True).map(
    lambda text: terms.iri(text.replace("%", "%41"))
)
predicates = st.sampled_from([terms.RDF_TYPE, *(f"<http://example.org/{name}>" for name in "pqr"), "<urn:x:é-1>"])
blanks = st.from_regex(r"[a-wA-Z_][a-zA-Z0-9_.-]{0,5}[a-z0-9]", fullmatch=True).map(terms.blank)
literals = (
    st.builds(terms.literal, texts)
    | st.builds(terms.literal, texts, datatypes)
    | st.builds(terms.lang_literal, texts, languages)
)
objects = iris | blanks | literals
triples = st.tuples(iris | blanks, predicates, objects)
quads = st.tuples(iris | blanks, predicates, objects, st.just(DEFAULT_GRAPH) | iris | blanks)
rows = st.lists(st.tuples(objects | st.none(), objects | st.none()))


def fits_xml(term: Term) -> bool:
    return not terms.is_literal(term) or not NOT_IN_XML.search(terms.lexical_form(term))


def in_pieces(document: bytes, size: int) -> list[bytes]:
    return [document[start : start + size] for start in range(0, len(document), size)]


@pytest.mark.parametrize("format_", [RdfFormat.N_TRIPLES, RdfFormat.TURTLE])
@given(st.lists(triples), st.integers(1, 20))
def test_triples_come_back_in_their_order(format_: RdfFormat, statements: list[Triple], size: int) -> None:
    document = b"".join(serialize_rdf(statements, format_, PREFIXES))
    read = parse_rdf(in_pieces(document, size), format_, blanks=KEEP_LABELS)
    assert list(read) == [(*triple, DEFAULT_GRAPH) for triple in statements]


@pytest.mark.parametrize("format_", [RdfFormat.N_QUADS, RdfFormat.TRIG])
@given(st.lists(quads), st.integers(1, 20))
def test_quads_come_back_in_their_order(format_: RdfFormat, statements: list[Quad], size: int) -> None:
    document = b"".join(serialize_rdf(statements, format_, PREFIXES))
    assert list(parse_rdf(in_pieces(document, size), format_, blanks=KEEP_LABELS)) == statements


@given(st.lists(quads))
def test_json_ld_gives_back_the_same_set_of_quads(statements: list[Quad]) -> None:
    document = b"".join(serialize_rdf(statements, RdfFormat.JSON_LD))
    assert set(parse_rdf(document, RdfFormat.JSON_LD, blanks=KEEP_LABELS)) == set(statements)


@given(st.lists(triples.filter(lambda triple: fits_xml(triple[2]))), st.integers(1, 20))
def test_rdf_xml_gives_back_what_xml_can_carry(statements: list[Triple], size: int) -> None:
    document = b"".join(serialize_rdf(statements, RdfFormat.RDF_XML, PREFIXES))
    read = parse_rdf(in_pieces(document, size), RdfFormat.RDF_XML, blanks=KEEP_LABELS)
    assert list(read) == [(*triple, DEFAULT_GRAPH) for triple in statements]


@pytest.mark.parametrize("format_", [ResultFormat.JSON, ResultFormat.TSV])
@given(rows)
def test_solutions_come_back_the_same(format_: ResultFormat, table: list[Row]) -> None:
    written = b"".join(write_results(Solutions(("x", "y"), table), format_))
    assert read_results(written, format_) == Solutions(("x", "y"), tuple(table))


@given(objects)
def test_the_json_text_of_a_term_is_the_json_of_its_value(term: Term) -> None:
    assert orjson.loads(term_json(term)) == term_value(term)


@given(rows)
def test_xml_results_come_back_where_xml_can_carry_them(table: list[Row]) -> None:
    fitting = [row for row in table if all(term is None or fits_xml(term) for term in row)]
    written = b"".join(write_results(Solutions(("x", "y"), fitting), ResultFormat.XML))
    assert read_results(written, ResultFormat.XML) == Solutions(("x", "y"), tuple(fitting))


@given(rows)
def test_csv_keeps_the_text_of_every_value_and_where_nothing_was(table: list[Row]) -> None:
    written = b"".join(write_results(Solutions(("x", "y"), table), ResultFormat.CSV))
    shown = [tuple(None if term is None else shown_in_csv(term) for term in row) for row in table]
    assert read_results(written, ResultFormat.CSV) == Solutions(("x", "y"), tuple(shown))


def shown_in_csv(term: Term) -> Term:
    return terms.literal(term if terms.is_blank(term) else terms.lexical_form(term))


@pytest.mark.parametrize("format_", list(ResultFormat))
@pytest.mark.parametrize("value", [True, False])
def test_a_boolean_comes_back_the_same(format_: ResultFormat, value: bool) -> None:
    assert read_results(b"".join(write_results(Boolean(value), format_)), format_) == Boolean(value)


@pytest.mark.parametrize("format_", list(ResultFormat))
@pytest.mark.parametrize(
    "solutions", [((), ((), ())), ((), ()), (("x",), ((None,), (None,))), (("x", "y"), ())], ids=str
)
def test_empty_tables_keep_their_shape(
    format_: ResultFormat, solutions: tuple[tuple[str, ...], tuple[Row, ...]]
) -> None:
    expected = Solutions(*solutions)
    assert read_results(b"".join(write_results(expected, format_)), format_) == expected


@pytest.mark.parametrize("format_", list(ResultFormat))
def test_large_results_are_written_in_chunks_while_rows_come(format_: ResultFormat) -> None:
    taken = 0

    def endless() -> Iterator[Row]:
        nonlocal taken
        while True:
            taken += 1
            yield (f'"{taken}"',)

    chunks = write_results(Solutions(("x",), endless()), format_)
    assert sum(len(next(chunks)) for _ in range(3)) > 1000
    assert taken < 5000
