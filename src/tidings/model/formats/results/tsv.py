"""SPARQL 1.1 Query Results TSV (W3C Recommendation, 21 March 2013, section 4).

Terms are written as in Turtle and SPARQL. Canonical terms have escapes for tabs and line ends, so they are written as
they are, except that numbers have no quotes where that denotes exactly the same term. A boolean, which the
Recommendation leaves out, is the single word `true` or `false`.
"""

import re
from collections.abc import Iterator

from tidings.model import terms
from tidings.model.errors import ResultsSyntaxError
from tidings.model.formats.grammar import bare_number, checked_blank, checked_iri, checked_literal, unescaped
from tidings.model.formats.streams import encoded
from tidings.model.results import Boolean, Row, Solutions
from tidings.model.terms import Term

_TERM = re.compile(
    r"<(?P<iri>[^>]*)>"
    r"|_:(?P<label>.+)"
    r"|\"(?P<double>(?:[^\"\\]|\\.)*)\"(?:@(?P<language>[A-Za-z0-9-]+)|\^\^<(?P<datatype>[^>]*)>)?"
    r"|'(?P<single>(?:[^'\\]|\\.)*)'(?:@(?P<language1>[A-Za-z0-9-]+)|\^\^<(?P<datatype1>[^>]*)>)?"
    r"|(?P<integer>[+-]?[0-9]+)|(?P<decimal>[+-]?[0-9]*\.[0-9]+)"
    r"|(?P<real>[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)[eE][+-]?[0-9]+)|(?P<boolean>true|false)"
)
_BARE = {"integer": "integer", "decimal": "decimal", "real": "double", "boolean": "boolean"}


def write_tsv(result: Solutions | Boolean) -> Iterator[bytes]:
    match result:
        case Boolean(value):
            return iter([b"true\n" if value else b"false\n"])
        case Solutions(variables, rows):
            return encoded(_lines(variables, iter(rows)))


def _lines(variables: tuple[str, ...], rows: Iterator[Row]) -> Iterator[str]:
    yield "\t".join([f"?{name}" for name in variables]) + "\n"
    for row in rows:
        yield "\t".join(["" if term is None else _field(term) for term in row]) + "\n"


def _field(term: Term) -> str:
    return (term[-1] == ">" and term[0] == '"' and bare_number(term)) or term


def read_tsv(document: bytes) -> Solutions | Boolean:
    try:
        header, *lines = re.split(r"\r?\n", document.decode("utf-8-sig"))
        if header in ("true", "false") and lines in ([], [""]):
            return Boolean(header == "true")
        if lines and not lines[-1]:
            lines.pop()
        variables = _variables(header)
        return Solutions(variables, tuple([_row(line, len(variables)) for line in lines]))
    except ValueError as error:
        raise ResultsSyntaxError(f"not a SPARQL result in TSV: {error}") from error


def _variables(header: str) -> tuple[str, ...]:
    names = header.split("\t") if header else []
    for name in names:
        if name[:1] not in ("?", "$"):
            raise ValueError(f"{name!r} is not a variable")
    return tuple(name[1:] for name in names)


def _row(line: str, width: int) -> Row:
    fields = line.split("\t") if width or line else []
    if len(fields) != width:
        raise ValueError(f"a row of {len(fields)} fields, not {width}: {line!r}")
    return tuple([_term(field.strip()) if field else None for field in fields])


def _term(field: str) -> Term:
    match = _TERM.fullmatch(field)
    if match is None:
        raise ValueError(f"{field!r} is not a term")
    kind = match.lastgroup or ""
    if kind == "iri":
        return checked_iri(unescaped(match["iri"]))
    if kind == "label":
        return checked_blank(match["label"])
    if kind in _BARE:
        return terms.literal(match[kind], terms.XSD + _BARE[kind])
    quoted = match["double"] if match["double"] is not None else match["single"]
    return checked_literal(
        unescaped(quoted), match["datatype"] or match["datatype1"], match["language"] or match["language1"]
    )
