"""RDF documents become quads of canonical terms; lexical forms and the case of language tags survive."""

import io
from typing import Any

import pyoxigraph
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interning import interning
from tidings.model import terms
from tidings.model.errors import BadRequest, RdfSyntaxError
from tidings.model.formats.blanks import KEEP_LABELS, BlankScope
from tidings.model.formats.nesting import DEEPEST_XML, check_xml
from tidings.model.formats.rdf import RdfFormat, parse_rdf
from tidings.model.terms import DEFAULT_GRAPH, Quad, Term

A, B = "<http://e/a>", "<http://e/b>"
RDF_XML = """<?xml version="1.0"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e/">
<rdf:Description rdf:about="http://e/a">%s</rdf:Description>
</rdf:RDF>"""


def read(document: str | bytes, format_: RdfFormat, **options: Any) -> list[Quad]:
    source = document.encode() if isinstance(document, str) else document
    return list(parse_rdf(source, format_, **options))


def objects(document: str | bytes, format_: RdfFormat, **options: Any) -> list[Term]:
    return [o for _, _, o, _ in read(document, format_, **options)]


LINES = [
    (f"{A} {B} {A} .", A),
    (f'{A} {B} "x" .', '"x"'),
    (f'{A}{B}"x".', '"x"'),
    (f'\t{A}\t{B}\t"x"\t.\t# a comment', '"x"'),
    (f'{A} {B} "x"^^<{terms.XSD_STRING}> .', '"x"'),
    (f'{A} {B} "01"^^<{terms.XSD}integer> .', f'"01"^^<{terms.XSD}integer>'),
    (f'{A} {B} "1"^^<{terms.XSD}int> .', f'"1"^^<{terms.XSD}int>'),
    (f'{A} {B} "x" ^^ <urn:t> .', '"x"^^<urn:t>'),
    (f'{A} {B} "x"@EN-gb .', '"x"@EN-gb'),
    (f'{A} {B} "\\u0041\\U0001F600\\t" .', '"A😀\\t"'),
    (f'{A} {B} "a\tb\x01\\\'" .', '"a\\tb\\u0001\'"'),
    (f'{A} {B} "\\u0001\\u0022\\u005C" .', '"\\u0001\\"\\\\"'),
    (f"{A} {B} <http://e/\\u00E9> .", "<http://e/é>"),
    (f"{A} {B} _:x.y.", "_:x.y"),
    (f'{A} {B} "# no comment . " .', '"# no comment . "'),
    (f'{A} {B} "\u2028\u0085" .', '"\u2028\u0085"'),
]


@pytest.mark.parametrize("format_", [RdfFormat.N_TRIPLES, RdfFormat.N_QUADS])
@pytest.mark.parametrize(("line", "expected"), LINES)
def test_a_line_gives_a_canonical_object(format_: RdfFormat, line: str, expected: str) -> None:
    assert objects(line, format_, blanks=KEEP_LABELS) == [expected]


@pytest.mark.parametrize(("line", "expected"), [case for case in LINES if "\t" not in case[0]])
def test_turtle_reads_lines_the_same_way(line: str, expected: str) -> None:
    assert objects(line, RdfFormat.TURTLE, blanks=KEEP_LABELS) == [expected]


def test_comments_blank_lines_and_any_line_end_are_passed_over() -> None:
    document = f"# first\r\n\r\n{A} {B} {A} .\r\n  # indented\r{A} {B} {B} .\n\n{B} {B} {B} ."
    assert objects(document, RdfFormat.N_TRIPLES) == [A, B, B]


@pytest.mark.parametrize("document", ["", "\n", "# only a comment", "\ufeff"])
@pytest.mark.parametrize("format_", [RdfFormat.N_QUADS, RdfFormat.TURTLE])
def test_a_document_may_say_nothing(format_: RdfFormat, document: str | bytes) -> None:
    assert read(document, format_) == []


def test_a_byte_order_mark_is_passed_over() -> None:
    assert objects(f"\ufeff{A} {B} {A} .", RdfFormat.N_TRIPLES) == [A]


BAD_LINES = [
    (f"{A} {B} .", 1),
    (f'{A} "x" {B} .', 1),
    (f"{A} {B} {A}", 1),
    (f"{A} {B} <relative> .", 1),
    (f"{A} {B} <http://e/ x> .", 1),
    (f"{A} {B} <http://e/\\u0020> .", 1),
    (f"{A} {B} <http://e/\\n> .", 1),
    (f'{A} {B} "\\q" .', 1),
    (f'{A} {B} "\\uD83D" .', 1),
    (f'{A} {B} "\\uD83D\\uDE00" .', 1),
    (f'{A} {B} "\\UFFFFFFFF" .', 1),
    (f'{A} {B} "x"@1 .', 1),
    (f'{A} {B} "x"@en--ltr .', 1),
    (f'{A} {B} "x"^^<{terms.RDF_LANG_STRING}> .', 1),
    (f"{A} {B} <<( {A} {B} {A} )>> .", 1),
    (f"{A} {B} {A} . {A} {B} {A} .", 1),
    (f"{A} {B} _:.x .", 1),
    (f"{A} {B} _:x:y .", 1),
    (f"# c\n\n{A} {B} {A} .\r\n{A} {B} ?x .\n{A} {B} {A} .", 4),
]


ODDITIES = st.sampled_from(
    [
        A,
        "_:b",
        "_:a.b",
        '"x"@en',
        '"\\u0041"',
        " ",
        "\t",
        ".",
        "\n",
        "\r\n",
        "#c",
        "<",
        '"',
        "\\",
        "@",
        "^^",
        "é",
        "\x01",
        "<rel>",
    ]
)


@given(st.permutations([A, " ", B, "\t", '"x"^^<urn:t>', " ", "."]), st.lists(ODDITIES, max_size=3), st.integers(0, 7))
def test_every_line_that_the_oracle_reads_is_read_the_same_way(
    shuffled: list[str], oddities: list[str], place: int
) -> None:
    for parts in (shuffled, [A, " ", B, " ", '"x"', " ", "."]):
        document = "".join([*parts[:place], *oddities, *parts[place:]]).encode()
        try:
            quads = list(pyoxigraph.parse(document, format=pyoxigraph.RdfFormat.N_TRIPLES))
        except SyntaxError:
            continue
        expected = [(str(quad.subject), str(quad.predicate), str(quad.object), DEFAULT_GRAPH) for quad in quads]
        assert read(document, RdfFormat.N_TRIPLES, blanks=KEEP_LABELS) == expected


@pytest.mark.parametrize("format_", [RdfFormat.N_TRIPLES, RdfFormat.N_QUADS])
@pytest.mark.parametrize(("document", "line"), BAD_LINES)
def test_a_malformed_line_is_refused_with_its_number(format_: RdfFormat, document: str | bytes, line: int) -> None:
    with pytest.raises(RdfSyntaxError) as caught:
        read(document, format_)
    assert caught.value.line == line


def test_the_number_of_a_line_counts_all_chunks() -> None:
    document = f"{A} {B} {A} .\n".encode() * 20_000
    with pytest.raises(RdfSyntaxError) as caught:
        read(document + b"<http://e/a> <http://e/b> what .\n", RdfFormat.N_TRIPLES)
    assert (caught.value.line, caught.value.column) == (20_001, 27)


def test_bytes_that_are_not_utf_8_are_refused_with_their_place() -> None:
    with pytest.raises(RdfSyntaxError) as caught:
        read(f"{A} {B} {A} .\n".encode() + b'<u:a> <u:b> "\xff" .', RdfFormat.N_TRIPLES)
    assert (caught.value.line, caught.value.column) == (2, 14)


def test_n_triples_knows_no_graphs() -> None:
    with pytest.raises(RdfSyntaxError):
        read(f"{A} {B} {A} {B} .", RdfFormat.N_TRIPLES)


def test_n_quads_name_graphs() -> None:
    assert read(f"{A} {B} {A} {B} .\n{A} {B} {A} .", RdfFormat.N_QUADS) == [(A, B, A, B), (A, B, A, DEFAULT_GRAPH)]


@pytest.mark.parametrize("format_", [RdfFormat.N_TRIPLES, RdfFormat.TURTLE])
def test_statements_without_a_graph_go_to_the_one_asked_for(format_: RdfFormat) -> None:
    assert read(f"{A} {B} {A} .", format_, graph="<urn:g>") == [(A, B, A, "<urn:g>")]


def test_statements_of_a_named_graph_stay_there() -> None:
    read_quads = read(f"{A} {B} {A} . {B} {{ {A} {B} {B} }}", RdfFormat.TRIG, graph="<urn:g>")
    assert read_quads == [(A, B, A, "<urn:g>"), (A, B, B, B)]


def test_turtle_keeps_numbers_as_they_are_written() -> None:
    numbers = [f'"{n}"^^<{terms.XSD}{t}>' for n, t in [("01", "integer"), ("1.0", "decimal"), ("1e0", "double")]]
    assert objects(f"{A} {B} 01, 1.0, 1e0 .", RdfFormat.TURTLE) == numbers


def test_turtle_tells_tags_from_what_looks_like_them() -> None:
    document = f"""@prefix e: <http://me@EN.org/> . # @EN
        {A} {B} "a@EN"@EN, '''b@DE'''@de-AT, e:x\\@Y, <mailto:x@EN>, "\\u0040EN", "c" @FR ."""
    expected = ['"a@EN"@EN', '"b@DE"@de-AT', "<http://me@EN.org/x@Y>", "<mailto:x@EN>", '"@EN"', '"c"@FR']
    assert objects(document, RdfFormat.TURTLE) == expected


def test_rdf_xml_keeps_the_case_of_tags() -> None:
    inside = """<e:b xml:lang="EN">xml:lang="DE"</e:b><e:b xml:lang = 'de-AT'>é</e:b>
        <e:b rdf:parseType="Literal"><i xml:lang="FR">x</i></e:b>"""
    first, second, third = objects(RDF_XML % inside, RdfFormat.RDF_XML)
    assert (first, second) == ('"xml:lang=\\"DE\\""@EN', '"é"@de-AT')
    assert 'xml:lang=\\"FR\\"' in third


def test_json_ld_keeps_the_case_of_tags_wherever_they_stand() -> None:
    document = """{"@context": {"@language": "DE", "l": "@language",
            "names": {"@id": "http://e/b", "@container": "@language"}},
        "@id": "http://e/a", "http://e/b": "x", "names": {"EN-gb": "y"}, "http://e/c": {"@value": "z", "l": "FR"}}"""
    assert set(objects(document, RdfFormat.JSON_LD)) == {'"x"@DE', '"y"@EN-gb', '"z"@FR'}


def test_json_ld_leaves_out_statements_with_ill_formed_terms() -> None:
    document = """{"@id": "http://e/a", "http://e/b": [{"@id": "http://e/x y"}, {"@id": "relative"}, {"@id": "_:b c"},
        {"@value": "x", "@language": "e n"}, {"@value": "fine"}], "relative": 1}"""
    assert objects(document, RdfFormat.JSON_LD) == ['"fine"']


def test_relative_references_are_resolved_against_the_base() -> None:
    for format_, document in [
        (RdfFormat.TURTLE, "<a> <b> <#c> ."),
        (RdfFormat.JSON_LD, '{"@id": "a", "http://e/b": {"@id": "#c"}}'),
        (RdfFormat.RDF_XML, (RDF_XML % '<e:b rdf:resource="#c"/>').replace("http://e/a", "a")),
    ]:
        assert read(document, format_, base="http://e/") == [(A, B, "<http://e/#c>", DEFAULT_GRAPH)]


def test_a_base_that_is_no_iri_is_a_bad_request() -> None:
    with pytest.raises(BadRequest, match="no base IRI"):
        read("<a> <b> <c> .", RdfFormat.TURTLE, base="not an IRI")


BLANKS = {
    RdfFormat.N_TRIPLES: "_:x <http://e/b> _:y .\n_:x <http://e/b> _:x .",
    RdfFormat.TURTLE: "_:x <http://e/b> _:y, _:x .",
    RdfFormat.JSON_LD: '{"@id": "_:x", "http://e/b": [{"@id": "_:y"}, {"@id": "_:x"}]}',
    RdfFormat.RDF_XML: (RDF_XML % '<e:b rdf:nodeID="y"/><e:b rdf:nodeID="x"/>').replace(
        'rdf:about="http://e/a"', 'rdf:nodeID="x"'
    ),
}


@pytest.mark.parametrize("format_", BLANKS)
def test_blank_nodes_of_different_documents_do_not_collide(format_: RdfFormat) -> None:
    (x, _, y, _), (x1, _, x2, _) = read(BLANKS[format_], format_)
    again = read(BLANKS[format_], format_)
    assert x == x1 == x2 != y
    assert not {x, y, "_:x", "_:y"} & {again[0][0], again[0][2]}


@pytest.mark.parametrize("format_", BLANKS)
def test_labels_are_kept_when_asked_for(format_: RdfFormat) -> None:
    assert objects(BLANKS[format_], format_, blanks=KEEP_LABELS) == ["_:y", "_:x"]


def test_a_document_read_in_parts_has_one_scope() -> None:
    scope = BlankScope.fresh()
    one, other = (read(BLANKS[RdfFormat.TURTLE], RdfFormat.TURTLE, blanks=scope) for _ in range(2))
    assert one == other


def test_anonymous_blank_nodes_are_all_different() -> None:
    assert len(set(objects(f"{A} {B} [], [], [] .", RdfFormat.TURTLE, blanks=KEEP_LABELS))) == 3


def test_a_syntax_error_of_turtle_has_line_and_column() -> None:
    with pytest.raises(RdfSyntaxError) as caught:
        read(f"{A} {B} {A} .\n{A} {B} what .", RdfFormat.TURTLE)
    assert (caught.value.line, caught.value.column) == (2, 27)
    assert not str(caught.value).startswith("Parser error")


def test_a_syntax_error_speaks_of_the_tag_that_was_written() -> None:
    with pytest.raises(RdfSyntaxError, match="@EN"):
        read(f"{A} {B} {A} .\n@EN {A} {A} .", RdfFormat.TURTLE)


@pytest.mark.parametrize("size", [1, 10, 10_000])
def test_a_syntax_error_of_rdf_xml_has_its_line(size: int) -> None:
    document = (RDF_XML % "<e:b>x</e:b>\n<e:b>y</e:c>\n").encode()
    with pytest.raises(RdfSyntaxError) as caught:
        list(parse_rdf([document[n : n + size] for n in range(0, len(document), size)], RdfFormat.RDF_XML))
    assert caught.value.line == 4


@pytest.mark.parametrize(
    ("format_", "document"),
    [
        (RdfFormat.JSON_LD, '{"@id": "http://e/a",'),
        (RdfFormat.JSON_LD, '{"@context": "http://example.org/remote", "x": 1}'),
        (RdfFormat.JSON_LD, '{"@id": 1}'),
        (RdfFormat.JSON_LD, '{"http://e/b": {"@value": "x", "@language": "en", "@direction": "ltr"}}'),
        (RdfFormat.RDF_XML, "<a/>"),
        (RdfFormat.TURTLE, f"{A} {B} <<( {A} {B} {A} )>> ."),
        (RdfFormat.TURTLE, f'{A} {B} "x"@en--ltr .'),
        (RdfFormat.TURTLE, '<a> <b> "no base" .'),
        (RdfFormat.TRIG, f"{A} {{ {A} {B} }}"),
    ],
)
def test_malformed_documents_are_syntax_errors(format_: RdfFormat, document: str | bytes) -> None:
    with pytest.raises(RdfSyntaxError):
        read(document, format_)


@pytest.mark.parametrize("format_", [RdfFormat.N_TRIPLES, RdfFormat.TURTLE])
def test_a_file_is_read_as_it_streams(format_: RdfFormat) -> None:
    line = f'{A} {B} "x"@EN .\n'.encode()
    file = io.BytesIO(line * 500_000)
    assert next(parse_rdf(file, format_)) == (A, B, '"x"@EN', DEFAULT_GRAPH)
    assert file.tell() < len(line) * 50_000


@interning
@pytest.mark.parametrize("format_", [RdfFormat.N_TRIPLES, RdfFormat.TURTLE])
def test_terms_are_interned(format_: RdfFormat) -> None:
    (s, _, o, _), (s1, _, o1, _) = read(f'{A} {B} "x"@EN .\n{A} {A} "x"@EN .', format_)
    assert s is s1 is terms.intern(A)
    assert o is o1


def with_entities(*declarations: str) -> str:
    document_type = f"<!DOCTYPE rdf:RDF [{' '.join(declarations)}]>\n"
    return (RDF_XML % "<e:b>&x;</e:b>").replace("<rdf:RDF", f"{document_type}<rdf:RDF", 1)


def test_rdf_xml_may_abbreviate_with_entities() -> None:
    assert objects(with_entities('<!ENTITY x "http://e/">'), RdfFormat.RDF_XML) == ['"http://e/"']


@pytest.mark.parametrize(
    "declarations",
    [
        ['<!ENTITY y "yyyyyyyyyy">', '<!ENTITY x "&y;&y;&y;&y;">'],
        [f'<!ENTITY x "{"x" * 1000}">'],
        ['<!ENTITY y "yyyyyyyyyy">', '<!ENTITY x "y>&y;&y;">'],
    ],
)
@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_entity_bombs_are_refused(declarations: list[str], size: int) -> None:
    document = with_entities(*declarations).encode()
    chunks = [document[start : start + size] for start in range(0, len(document), size)]
    with pytest.raises(RdfSyntaxError, match="entity") as caught:
        list(parse_rdf(chunks, RdfFormat.RDF_XML))
    assert caught.value.line == 2


def test_a_bomb_in_another_encoding_does_not_get_through() -> None:
    document = with_entities('<!ENTITY y "yyyyyyyyyy">', '<!ENTITY x "&y;&y;">').replace(
        "?>", ' encoding="UTF-16"?>', 1
    )
    with pytest.raises(RdfSyntaxError):
        list(parse_rdf(document.encode("utf-16"), RdfFormat.RDF_XML))


@pytest.mark.parametrize(
    ("format_", "document"),
    [
        (RdfFormat.JSON_LD, b'{"http://p.example/":' * 6000 + b"1" + b"}" * 6000),
        (RdfFormat.TURTLE, b"<urn:s> <urn:p> " + b"<<( <urn:s> <urn:p> " * 100_000 + b"1" + b" )>>" * 100_000 + b" ."),
    ],
    ids=["JSON-LD", "Turtle"],
)
def test_a_document_that_is_nested_so_deeply_that_the_parser_would_fall_is_refused(
    format_: RdfFormat, document: bytes
) -> None:
    with pytest.raises(RdfSyntaxError, match="nested"):
        list(parse_rdf(document, format_))


def test_xml_that_is_nested_too_deeply_or_is_none_is_told_from_xml() -> None:
    def nested(depth: int) -> bytes:
        return b"<a>" * depth + b"</a>" * depth

    check_xml(nested(DEEPEST_XML))
    check_xml(b'<?xml version="1.0"?><a b=">"><![CDATA[<a>]]><!-- <a> --></a>')
    with pytest.raises(RdfSyntaxError, match="nested"):
        check_xml(nested(DEEPEST_XML + 1))
    with pytest.raises(RdfSyntaxError, match="no XML") as told:
        check_xml(b"<a>\n<b></a>")
    assert told.value.line == 2
