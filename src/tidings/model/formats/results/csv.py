"""SPARQL 1.1 Query Results CSV (W3C Recommendation, 21 March 2013, section 3), in the quoting of RFC 4180.

CSV has only the text of IRIs, the lexical forms of literals, and `_:label` of blank nodes. So every value that is read
back is a plain literal. An empty string is written as `""` and an unbound variable as nothing, and the reader
distinguishes the two. A boolean, which the Recommendation leaves out, is the single word `true` or `false`.
"""

import re
from collections.abc import Iterator

from tidings.model import terms
from tidings.model.errors import ResultsSyntaxError
from tidings.model.formats.streams import encoded
from tidings.model.results import Boolean, Row, Solutions
from tidings.model.terms import Term

_TO_QUOTE = re.compile(r'[",\r\n]')
_FIELD = re.compile(r'(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|\n|\r|\Z)')


def write_csv(result: Solutions | Boolean) -> Iterator[bytes]:
    match result:
        case Boolean(value):
            return iter([b"true\r\n" if value else b"false\r\n"])
        case Solutions(variables, rows):
            return encoded(_lines(variables, iter(rows)))


def _lines(variables: tuple[str, ...], rows: Iterator[Row]) -> Iterator[str]:
    yield ",".join(map(_quoted, variables)) + "\r\n"
    for row in rows:
        yield ",".join(["" if term is None else _field(term) for term in row]) + "\r\n"


def _field(term: Term) -> str:
    return term if terms.is_blank(term) else _quoted(terms.lexical_form(term))


def _quoted(text: str) -> str:
    if not text or _TO_QUOTE.search(text):
        return '"' + text.replace('"', '""') + '"'
    return text


def read_csv(document: bytes) -> Solutions | Boolean:
    try:
        text = document.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ResultsSyntaxError(f"not a SPARQL result in CSV: {error}") from error
    if text.strip() in ("true", "false") and "\n" not in text.strip():
        return Boolean(text.strip() == "true")
    header, *records = _records(text)
    variables = tuple(name or "" for name in header) if header != [None] else ()
    return Solutions(variables, tuple(_row(record, len(variables), line) for line, record in enumerate(records, 2)))


def _records(text: str) -> list[list[str | None]]:
    """The fields of each record; None is a field without any characters, not even quotation marks."""
    records: list[list[str | None]] = [[]]
    position = 0
    while position < len(text):
        field = _FIELD.match(text, position)
        if field is None:
            raise ResultsSyntaxError(f"not a SPARQL result in CSV: a stray quote in record {len(records)}")
        quoted, plain, end = field.groups()
        records[-1].append((plain or None) if quoted is None else quoted.replace('""', '"'))
        position = field.end()
        if end != "," and position < len(text):
            records.append([])
        elif end == "," and position == len(text):
            records[-1].append(None)
    if records == [[]]:
        raise ResultsSyntaxError("not a SPARQL result in CSV: an empty document")
    return records


def _row(record: list[str | None], width: int, line: int) -> Row:
    if width == 0 and record == [None]:
        return ()
    if len(record) != width:
        raise ResultsSyntaxError(f"not a SPARQL result in CSV: record {line} has {len(record)} fields, not {width}")
    return tuple([None if field is None else terms.literal(field) for field in record])
