"""How texts become terms and triples: escapes, prefixes, relative IRIs, numbers, lists, blank nodes."""

import pytest

from tidings.model.terms import RDF_FIRST, RDF_NIL, RDF_REST, RDF_TYPE, XSD
from tidings.sparql.algebra import BGP, Filter, InsertData, Modify, TriplePattern, inputs
from tidings.sparql.parser import parse_query, parse_update


def triples(text: str, prologue: str = "PREFIX : <urn:x:> ") -> tuple[TriplePattern, ...]:
    """The triple patterns of a group."""
    (pattern,) = inputs(parse_query(f"{prologue}SELECT * {{ {text} }}").pattern)
    if isinstance(pattern, Filter):
        pattern = pattern.inner
    assert isinstance(pattern, BGP)
    return pattern.patterns


def objects(text: str, prologue: str = "PREFIX : <urn:x:> ") -> list[str]:
    return [o for _, _, o in triples(f"?s ?p {text}", prologue)]


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("1", "integer"),
        ("01", "integer"),
        ("+1", "integer"),
        ("-0", "integer"),
        ("1.0", "decimal"),
        ("00.10", "decimal"),
        (".5", "decimal"),
        ("+.5", "decimal"),
        ("-.5", "decimal"),
        ("1e0", "double"),
        ("1.E5", "double"),
        (".5e-5", "double"),
        ("+1.5E+05", "double"),
    ],
)
def test_a_number_keeps_the_form_it_was_written_in(written: str, name: str) -> None:
    assert objects(written) == [f'"{written}"^^<{XSD}{name}>']


def test_a_dot_behind_a_whole_number_ends_the_triple() -> None:
    assert triples("?s ?p 1. ?s ?q 2.") == (
        ("?s", "?p", f'"1"^^<{XSD}integer>'),
        ("?s", "?q", f'"2"^^<{XSD}integer>'),
    )


@pytest.mark.parametrize(
    ("written", "term"),
    [
        ("'a'", '"a"'),
        ('"a"', '"a"'),
        ("'''it's \"so\"\n'''", '"it\'s \\"so\\"\\n"'),
        ('"""a""b"""', '"a\\"\\"b"'),
        ("''", '""'),
        ("''''''", '""'),
        ("'\\t\\b\\n\\r\\f\\\\\\'\\\"'", '"\\t\\b\\n\\r\\f\\\\\'\\""'),
        ("'\\u00e9\\U0001F600'", '"é😀"'),
        ("'\\u0022'", '"\\""'),
        ("'a'@en", '"a"@en'),
        ("'a'@en-GB-x1", '"a"@en-GB-x1'),
        ("'a' @EN", '"a"@EN'),
        ("'a'^^<urn:t>", '"a"^^<urn:t>'),
        ("'a' ^^ :t", '"a"^^<urn:x:t>'),
        (f"'a'^^<{XSD}string>", '"a"'),
        ("true", f'"true"^^<{XSD}boolean>'),
        ("FALSE", f'"false"^^<{XSD}boolean>'),
        ("'a#b' # a comment", '"a#b"'),
    ],
)
def test_a_literal_has_one_canonical_term(written: str, term: str) -> None:
    assert objects(f"{written}\n") == [term]


@pytest.mark.parametrize(
    ("written", "term"),
    [
        (":", "<urn:x:>"),
        (":a", "<urn:x:a>"),
        (":1", "<urn:x:1>"),
        (":a.b", "<urn:x:a.b>"),
        (":a:b", "<urn:x:a:b>"),
        (":a-b", "<urn:x:a-b>"),
        (":a\\-b\\~\\,", "<urn:x:a-b~,>"),
        (":a%20b", "<urn:x:a%20b>"),
        (":\\u00e9", "<urn:x:é>"),
        ("<urn:\\u00e9>", "<urn:é>"),
        ("<urn:a#b>", "<urn:a#b>"),
    ],
)
def test_a_prefixed_name_may_have_escapes(written: str, term: str) -> None:
    assert objects(written) == [term]
    assert objects(f"{written} .") == [term]


@pytest.mark.parametrize(
    "text",
    [
        r"<urn:it's> :\u0061 'x'",
        r":it\'s :\u0061 'x'",
        "?s # it is '''\n:\\u0061 'x' # '''\n",
        r"<urn:\u0061'> :\U00000061 '\u0078'",
    ],
)
def test_a_quotation_mark_that_begins_no_string_hides_no_escape(text: str) -> None:
    ((_, predicate, value),) = triples(text)
    assert (predicate, value) == ("<urn:x:a>", '"x"')


def test_a_less_than_sign_that_begins_no_iri_hides_no_escape() -> None:
    assert parse_query(r"SELECT (1 < \u0032 AS ?x) {}") == parse_query("SELECT (1 < 2 AS ?x) {}")


@pytest.mark.parametrize(
    ("written", "term"),
    [
        ("<>", "<http://x/a/b>"),
        ("<c>", "<http://x/a/c>"),
        ("<../c>", "<http://x/c>"),
        ("<#d>", "<http://x/a/b#d>"),
        ("<?e>", "<http://x/a/b?e>"),
        ("<//f/g>", "<http://f/g>"),
        ("</h>", "<http://x/h>"),
        ("<urn:i>", "<urn:i>"),
        ("p:j", "<http://x/a/p/j>"),
    ],
)
def test_a_relative_iri_is_resolved_against_the_base(written: str, term: str) -> None:
    assert objects(written, "BASE <http://x/a/b> PREFIX p: <p/> ") == [term]


def test_a_later_declaration_replaces_an_earlier_one() -> None:
    assert objects(":a", "PREFIX : <urn:1:> PREFIX : <urn:2:> ") == ["<urn:2:a>"]
    assert objects("<a>", "BASE <http://1/> BASE <x/> ") == ["<http://1/x/a>"]
    assert objects(":a", "BASE <http://1/> PREFIX : <p/> BASE <http://2/> ") == ["<http://1/p/a>"]


def test_predicates_and_objects_may_be_listed() -> None:
    assert triples("?s ?p ?a , ?b ; ?q ?c ;; a ?d ;") == (
        ("?s", "?p", "?a"),
        ("?s", "?p", "?b"),
        ("?s", "?q", "?c"),
        ("?s", RDF_TYPE, "?d"),
    )


def test_a_blank_node_with_properties_may_stand_alone_or_within() -> None:
    (inner, outer) = triples("?s ?p [ ?q ?o ]")
    assert inner == (outer[2], "?q", "?o")
    ((subject, *rest),) = triples("[ ?q ?o ]")
    assert subject.startswith("?:")
    assert rest == ["?q", "?o"]
    first, second = triples("[] ?p [] .")[0][::2]
    assert first != second


def test_a_collection_is_a_chain_of_cells() -> None:
    found = triples("(1 ?x) ?p ()")
    cell, following = found[0][0], found[1][2]
    assert found == (
        (cell, RDF_FIRST, f'"1"^^<{XSD}integer>'),
        (cell, RDF_REST, following),
        (following, RDF_FIRST, "?x"),
        (following, RDF_REST, RDF_NIL),
        (cell, "?p", RDF_NIL),
    )


def test_a_label_names_one_blank_node_within_its_block() -> None:
    found = triples("_:a ?p _:b . FILTER(1) _:a ?q _:a.c", "")
    assert found[0][0] == found[1][0]
    assert len({found[0][0], found[0][2], found[1][2]}) == 3


@pytest.mark.parametrize(
    "text",
    [
        "CONSTRUCT { _:a ?p _:a } WHERE { _:a ?p ?o }",
        "CONSTRUCT WHERE { _:a ?p [] }",
    ],
)
def test_a_template_has_labels_of_its_own(text: str) -> None:
    parse_query(text)


def test_operations_may_share_labels_unless_both_are_data() -> None:
    assert len(parse_update("INSERT { _:b <p> 1 } WHERE { _:b ?p ?o } ; INSERT { _:b <p> 1 } WHERE {}")) == 2
    assert len(parse_update("INSERT DATA { _:b <p> 1 } ; INSERT { _:b <p> 1 } WHERE { _:b ?p ?o }")) == 2


def test_data_of_ten_thousand_triples_is_read() -> None:
    lines = "".join(f"<urn:s{n}> <urn:p> {n} ; <urn:q> 'text {n}'@en .\n" for n in range(5_000))
    (operation,) = parse_update(f"INSERT DATA {{ {lines} GRAPH <urn:g> {{ {lines} }} }}")
    assert isinstance(operation, InsertData)
    assert len(operation.quads) == 20_000
    assert operation.quads[-1] == ("<urn:s4999>", "<urn:q>", '"text 4999"@en', "<urn:g>")


def test_triples_outside_of_graph_belong_to_the_graph_of_with() -> None:
    (operation,) = parse_update("WITH <urn:g> DELETE { ?s ?p 1 GRAPH ?h { ?s ?p 2 } } WHERE {}")
    assert isinstance(operation, Modify)
    assert [graph for *_, graph in operation.delete] == ["<urn:g>", "?h"]
