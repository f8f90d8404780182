"""Documents that people can read, and clear refusals of what a format cannot say."""

from collections.abc import Iterable, Iterator

import pyoxigraph
import pytest

from tidings.model import terms
from tidings.model.errors import BadRequest
from tidings.model.formats.blanks import KEEP_LABELS
from tidings.model.formats.rdf import RdfFormat, parse_rdf, serialize_rdf
from tidings.model.terms import Quad, Triple

A, P, Q = "<http://e/a>", "<http://e/p>", "<http://e/q>"
TRIPLES = [(A, terms.RDF_TYPE, Q), (A, P, '"x"@EN'), (A, P, f'"1"^^<{terms.XSD}integer>'), ("_:b", P, '"01"^^<urn:t>')]


def written(
    statements: Iterable[Quad] | Iterable[Triple], format_: RdfFormat, prefixes: dict[str, str] | None = None
) -> str:
    return b"".join(serialize_rdf(statements, format_, prefixes)).decode()


def test_n_triples_are_lines_of_terms() -> None:
    assert written(TRIPLES[1:2], RdfFormat.N_TRIPLES) == f'{A} {P} "x"@EN .\n'


def test_n_quads_name_graphs_only_where_there_is_one() -> None:
    assert written([(A, P, Q, ""), (A, P, Q, Q)], RdfFormat.N_QUADS) == f"{A} {P} {Q} .\n{A} {P} {Q} {Q} .\n"


def test_turtle_shares_subjects_predicates_and_prefixes() -> None:
    assert written(TRIPLES, RdfFormat.TURTLE, {"e": "http://e/"}) == (
        '@prefix e: <http://e/> .\ne:a a e:q ;\n    e:p "x"@EN , 1 .\n_:b e:p "01"^^<urn:t> .\n'
    )


def test_the_longest_namespace_shortens_an_iri() -> None:
    prefixes = {"e": "http://e/", "long": "http://e/long#"}
    assert "e:a e:p long:x ." in written([(A, P, "<http://e/long#x>")], RdfFormat.TURTLE, prefixes)


@pytest.mark.parametrize("local", ["a/b", "-a", "a.", "é", "a%41"])
def test_an_iri_whose_local_name_needs_care_is_written_in_full(local: str) -> None:
    assert f"<http://e/{local}>" in written([(A, P, f"<http://e/{local}>")], RdfFormat.TURTLE, {"e": "http://e/"})


def test_trig_braces_named_graphs() -> None:
    quads = [(A, P, Q, ""), (A, P, Q, Q), (A, P, A, Q), (A, P, Q, "")]
    document = written(quads, RdfFormat.TRIG)
    assert document == f"{A} {P} {Q} .\n{Q} {{\n{A} {P} {Q} , {A} .\n}}\n{A} {P} {Q} .\n"


@pytest.mark.parametrize("prefix", ["a b", "1", "e."])
def test_a_prefix_that_turtle_cannot_declare_is_refused(prefix: str) -> None:
    with pytest.raises(BadRequest, match="prefix"):
        written([], RdfFormat.TURTLE, {prefix: "http://e/"})


def test_json_ld_is_written_in_expanded_form() -> None:
    assert written([*TRIPLES[:2], (A, P, Q)], RdfFormat.JSON_LD) == (
        '[{"@id":"http://e/a","@type":["http://e/q"],'
        '"http://e/p":[{"@value":"x","@language":"EN"},{"@id":"http://e/q"}]}]\n'
    )


def test_rdf_xml_uses_prefixes_where_it_can() -> None:
    document = written(TRIPLES, RdfFormat.RDF_XML, {"e": "http://e/", "rdf": "http://other/", "xmlns": "http://e/x"})
    assert '<e:p xml:lang="EN">x</e:p>' in document
    assert '<rdf:type rdf:resource="http://e/q"/>' in document


@pytest.mark.parametrize("label", ["1", "1.b", "x-1", "x-31"])
def test_rdf_xml_spells_labels_that_are_no_xml_names(label: str) -> None:
    quads = [(f"_:{label}", P, "_:other")]
    (s, _, o, _) = next(parse_rdf(written(quads, RdfFormat.RDF_XML).encode(), RdfFormat.RDF_XML, blanks=KEEP_LABELS))
    assert s == f"_:x-{label.encode().hex()}"
    assert o == "_:other"


@pytest.mark.parametrize("format_", [RdfFormat.N_TRIPLES, RdfFormat.TURTLE, RdfFormat.RDF_XML])
def test_a_format_of_triples_refuses_named_graphs(format_: RdfFormat) -> None:
    assert written([(A, P, Q, "")], format_)
    with pytest.raises(BadRequest, match="graph"):
        written([(A, P, Q, Q)], format_)


@pytest.mark.parametrize("predicate", ["<http://e/1>", "<http://e/>", f"<{terms.RDF}li>", f"<{terms.RDF}about>"])
def test_rdf_xml_refuses_predicates_it_has_no_name_for(predicate: str) -> None:
    with pytest.raises(BadRequest, match="predicate"):
        written([(A, predicate, Q)], RdfFormat.RDF_XML)


def test_rdf_xml_refuses_characters_that_xml_does_not_know() -> None:
    with pytest.raises(BadRequest, match=r"U\+0001"):
        written([(A, P, '"\\u0001"')], RdfFormat.RDF_XML)


@pytest.mark.parametrize("format_", list(RdfFormat))
def test_nothing_is_a_document_too(format_: RdfFormat) -> None:
    assert list(parse_rdf(written([], format_).encode(), format_)) == []


@pytest.mark.parametrize(
    ("format_", "oracle"),
    [
        (RdfFormat.TURTLE, pyoxigraph.RdfFormat.TURTLE),
        (RdfFormat.TRIG, pyoxigraph.RdfFormat.TRIG),
        (RdfFormat.N_QUADS, pyoxigraph.RdfFormat.N_QUADS),
        (RdfFormat.RDF_XML, pyoxigraph.RdfFormat.RDF_XML),
        (RdfFormat.JSON_LD, pyoxigraph.RdfFormat.JSON_LD),
    ],
)
def test_the_oracle_reads_what_is_written(format_: RdfFormat, oracle: pyoxigraph.RdfFormat) -> None:
    read = pyoxigraph.parse(written(TRIPLES, format_).encode(), format=oracle)
    expected = {tuple(part.replace("@EN", "@en") for part in triple) for triple in TRIPLES}
    assert {(str(quad.subject), str(quad.predicate), str(quad.object)) for quad in read} == expected


def test_statements_are_written_as_they_come() -> None:
    def endless() -> Iterator[Triple]:
        while True:
            yield TRIPLES[1]

    for format_ in (RdfFormat.N_TRIPLES, RdfFormat.TURTLE, RdfFormat.TRIG, RdfFormat.RDF_XML):
        assert len(next(serialize_rdf(endless(), format_))) > 1000
