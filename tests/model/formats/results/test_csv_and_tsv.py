"""Results in CSV and TSV as the Recommendation writes them."""

import pytest

from tidings.model import terms
from tidings.model.errors import ResultsSyntaxError
from tidings.model.formats.results.csv import read_csv, write_csv
from tidings.model.formats.results.tsv import read_tsv, write_tsv
from tidings.model.results import Solutions
from tidings.model.terms import Term

INTEGER = f"{terms.XSD}integer"


def csv_of(*row: Term | None) -> str:
    return b"".join(write_csv(Solutions(tuple("xyz"[: len(row)]), (row,)))).decode().partition("\r\n")[2]


def tsv_of(*row: Term | None) -> str:
    return b"".join(write_tsv(Solutions(tuple("xyz"[: len(row)]), (row,)))).decode().partition("\n")[2]


def test_csv_shows_texts_and_quotes_what_needs_it() -> None:
    assert csv_of("<urn:a>", "_:b", '"say \\"x\\", twice\\n"@en') == 'urn:a,_:b,"say ""x"", twice\n"\r\n'


def test_csv_tells_the_empty_string_from_nothing() -> None:
    assert csv_of('""', None) == '"",\r\n'


def test_csv_has_a_header_of_plain_names() -> None:
    assert b"".join(write_csv(Solutions(("x", "name"), ()))) == b"x,name\r\n"


@pytest.mark.parametrize("end", ["\r\n", "\n", "\r"])
def test_csv_is_read_with_any_line_end_and_with_none(end: str) -> None:
    expected = Solutions(("x", "y"), (('"1"', '"a\\nb"'), (None, '"2"')))
    document = f'x,y{end}1,"a\nb"{end},2'
    assert read_csv(document.encode()) == read_csv((document + end).encode()) == expected


def test_a_csv_record_may_end_in_nothing() -> None:
    assert read_csv(b"x,y\r\n1,") == Solutions(("x", "y"), (('"1"', None),))


@pytest.mark.parametrize("document", [b"", b'x\r\n"1', b'x\r\na"b', b"x,y\r\n1\r\n", b"x\r\n1,2\r\n", b"\xff"])
def test_malformed_csv_is_a_results_syntax_error(document: bytes) -> None:
    with pytest.raises(ResultsSyntaxError):
        read_csv(document)


def test_tsv_writes_terms_and_marks_variables() -> None:
    table = Solutions(("x", "y"), (("<urn:a>", '"a\\tb"@EN'), (None, "_:b")))
    assert b"".join(write_tsv(table)) == b'?x\t?y\n<urn:a>\t"a\\tb"@EN\n\t_:b\n'


@pytest.mark.parametrize(
    ("lexical", "datatype", "written"),
    [
        ("1", "integer", "1"),
        ("-10", "integer", "-10"),
        ("1.50", "decimal", "1.50"),
        ("1.5e-3", "double", "1.5e-3"),
        ("01", "integer", None),
        ("+1", "integer", None),
        ("1.0", "integer", None),
        ("1.", "decimal", None),
        ("1", "double", None),
        ("1", "int", None),
        ("true", "boolean", None),
    ],
)
def test_tsv_numbers_are_bare_when_that_is_the_same_term(lexical: str, datatype: str, written: str | None) -> None:
    term = terms.literal(lexical, terms.XSD + datatype)
    assert tsv_of(term) == f"{written or term}\n"
    assert read_tsv(f"?x\n{written or term}".encode()) == Solutions(("x",), ((term,),))


@pytest.mark.parametrize(
    ("field", "term"),
    [
        ("'it\\'s'@en", '"it\'s"@en'),
        ("'1'^^<urn:t>", '"1"^^<urn:t>'),
        ('"\\u00E9"', '"é"'),
        ("01", f'"01"^^<{INTEGER}>'),
        (".5", f'".5"^^<{terms.XSD}decimal>'),
        ("1e6", f'"1e6"^^<{terms.XSD}double>'),
        ("true", terms.TRUE),
        (f'"1"^^<{terms.XSD_STRING}>', '"1"'),
    ],
)
def test_tsv_of_other_stores_is_understood(field: str, term: Term) -> None:
    assert read_tsv(f"$x\ty\n{field}\t\r\n".replace("\ty", "\t?y").encode()) == Solutions(("x", "y"), ((term, None),))


@pytest.mark.parametrize(
    "document", ["x\n1", "?x\n1\t2", "?x\nwhat", '?x\n"\\q"', "?x\n<a b>", '?x\n"x"@e-', "?x\t?y\n1", '?x\n"a"b"']
)
def test_malformed_tsv_is_a_results_syntax_error(document: str) -> None:
    with pytest.raises(ResultsSyntaxError):
        read_tsv(document.encode())


def test_tsv_that_is_not_utf_8_is_a_results_syntax_error() -> None:
    with pytest.raises(ResultsSyntaxError):
        read_tsv(b"?x\n\xff")
