"""Reads Turtle, TriG, RDF/XML and JSON-LD with pyoxigraph's parsers.

`str` of a pyoxigraph term is canonical N-Triples except for two characters; `casing` keeps the case of language tags.
Terms that RDF 1.2 adds (triples as terms, base directions) are refused: SPARQL 1.1 cannot query them.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import IO, cast

import pyoxigraph

from tidings.model import terms
from tidings.model.errors import BadRequest, RdfSyntaxError
from tidings.model.formats.blanks import BlankScope
from tidings.model.formats.casing import AT_SIGN, XML_LANG, TagCases
from tidings.model.formats.entities import without_bombs
from tidings.model.formats.nesting import shallow_json, shallow_terms
from tidings.model.formats.streams import ChunkReader
from tidings.model.terms import Quad, Term

_POSITION = re.compile(r"Parser error at line [^:]*: ")
_REMEMBERED = 200_000


class _Terms(dict[str, Term]):
    """pyoxigraph's spelling -> term, interned when it first occurs."""

    def __init__(self, graph: Term, blanks: BlankScope, cases: TagCases | None) -> None:
        super().__init__(DEFAULT=graph)
        self._blanks = blanks
        self._cases = cases

    def __missing__(self, text: str) -> Term:
        term = self._cases.restore(text) if self._cases else text
        if text[0] == '"':
            term = _canonical(term)
        elif " " in text:
            raise ValueError("triples as terms are not part of RDF 1.1")
        elif text[0] == "_":
            term = self._blanks.term(text[2:])
        term = self[text] = terms.intern(term)
        return term


def _canonical(text: str) -> Term:
    if text.endswith(("--ltr", "--rtl")):
        raise ValueError("base directions are not part of RDF 1.1")
    if "\\uFFF" in text:  # pyoxigraph escapes U+FFFE and U+FFFF, Tidings does not
        lexical, datatype, language = terms.split_literal(text)
        return terms.lang_literal(lexical, language) if language else terms.literal(lexical, datatype)
    return text


def read_turtle(
    chunks: Iterable[bytes], *, graphs: bool, base: str | None, graph: Term, blanks: BlankScope
) -> Iterator[Quad]:
    """The statements of a Turtle document or, with `graphs`, a TriG document."""
    cases = TagCases(AT_SIGN)
    syntax = pyoxigraph.RdfFormat.TRIG if graphs else pyoxigraph.RdfFormat.TURTLE
    return _read(ChunkReader(cases.hide(shallow_terms(chunks))), syntax, base, _Terms(graph, blanks, cases), cases)


def read_rdf_xml(chunks: Iterable[bytes], *, base: str | None, graph: Term, blanks: BlankScope) -> Iterator[Quad]:
    """The statements of an RDF/XML document; its errors have a line, but no column."""
    cases = TagCases(XML_LANG)
    reader = ChunkReader(cases.hide(without_bombs(chunks)), by_lines=True)
    return _read(reader, pyoxigraph.RdfFormat.RDF_XML, base, _Terms(graph, blanks, cases), cases)


def read_json_ld(chunks: Iterable[bytes], *, base: str | None, graph: Term, blanks: BlankScope) -> Iterator[Quad]:
    """The statements of a JSON-LD document.

    pyoxigraph's lenient mode keeps the case of tags (which may be anywhere: in a context, as keys of a map), but checks
    no terms. So this function checks each term, and leaves out statements with ill-formed ones, as JSON-LD 1.1 asks.
    """
    known = _Terms(graph, blanks, None)
    reader = ChunkReader(shallow_json(chunks))
    return _read(reader, pyoxigraph.RdfFormat.JSON_LD, base, known, None, lenient=True)


def _read(
    reader: ChunkReader,
    syntax: pyoxigraph.RdfFormat,
    base: str | None,
    known: _Terms,
    cases: TagCases | None,
    *,
    lenient: bool = False,
) -> Iterator[Quad]:
    graph = known["DEFAULT"]
    try:
        for quad in _parser(reader, syntax, base, lenient=lenient):
            s, p, o, g = str(quad.subject), str(quad.predicate), str(quad.object), str(quad.graph_name)
            if lenient and not _well_formed(quad):
                continue
            yield known[s], known[p], known[o], known[g]
            if len(known) > _REMEMBERED:
                known.clear()
                known["DEFAULT"] = graph
    except SyntaxError as error:
        message = cases.restore(message_of(error)) if cases else message_of(error)
        raise RdfSyntaxError(message, line=error.lineno or reader.line, column=error.offset or 1) from error
    except ValueError as error:
        raise RdfSyntaxError(str(error), line=reader.line) from error


def _parser(
    reader: ChunkReader, syntax: pyoxigraph.RdfFormat, base: str | None, *, lenient: bool
) -> pyoxigraph.QuadParser:
    try:
        return pyoxigraph.parse(cast(IO[bytes], reader), format=syntax, base_iri=base, lenient=lenient)
    except ValueError as error:
        raise BadRequest(f"{base!r} is no base IRI: {error}") from error


def message_of(error: SyntaxError) -> str:
    """pyoxigraph's message without the position, which the error has as data."""
    return _POSITION.sub("", error.msg)


def _well_formed(quad: pyoxigraph.Quad) -> bool:
    return all(map(_is_term, (quad.subject, quad.predicate, quad.object, quad.graph_name)))


@lru_cache(maxsize=4096)
def _is_term(term: object) -> bool:
    """Whether pyoxigraph's strict mode would accept a term of its lenient mode."""
    try:
        match term:
            case pyoxigraph.NamedNode():
                pyoxigraph.NamedNode(term.value)
            case pyoxigraph.BlankNode():
                pyoxigraph.BlankNode(term.value)
            case pyoxigraph.Literal(language=str(language)):
                pyoxigraph.Literal("", language=language)
            case pyoxigraph.Literal():
                pyoxigraph.NamedNode(term.datatype.value)
            case _:
                pass
    except ValueError:
        return False
    return True
