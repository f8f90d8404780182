"""SPARQL Query Results XML Format, second edition (W3C Recommendation, 21 March 2013).

XML 1.0 does not allow most control characters: a result with one is refused, and needs JSON or TSV. A document with a
document type is not read, which keeps entity bombs and external entities out.
"""

from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import NoReturn
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from tidings.model import terms
from tidings.model.errors import ResultsSyntaxError
from tidings.model.formats.grammar import checked_blank, checked_iri, checked_literal
from tidings.model.formats.rdfxml import xml_text
from tidings.model.results import Boolean, Row, Solutions
from tidings.model.terms import Term

_ROWS = 512
_NAMESPACE = "http://www.w3.org/2005/sparql-results#"
_PROLOGUE = f'<?xml version="1.0" encoding="UTF-8"?>\n<sparql xmlns="{_NAMESPACE}">\n'
_LANGUAGE = "http://www.w3.org/XML/1998/namespace}lang"


def write_xml(result: Solutions | Boolean) -> Iterator[bytes]:
    match result:
        case Boolean(value):
            yield f"{_PROLOGUE}<head/>\n<boolean>{str(value).lower()}</boolean>\n</sparql>\n".encode()
        case Solutions(variables, rows):
            head = "".join(f'<variable name="{xml_text(name)}"/>' for name in variables)
            yield f"{_PROLOGUE}<head>{head}</head>\n<results>\n".encode()
            yield from _chunks(variables, iter(rows))
            yield b"</results>\n</sparql>\n"


def _chunks(variables: tuple[str, ...], rows: Iterator[Row]) -> Iterator[bytes]:
    starts = [f'<binding name="{xml_text(name)}">' for name in variables]
    while batch := list(islice(rows, _ROWS)):
        pieces: list[str] = []
        for row in batch:
            pieces.append("<result>")
            pieces += [f"{start}{_element(term)}</binding>" for start, term in zip(starts, row, strict=True) if term]
            pieces.append("</result>\n")
        yield "".join(pieces).encode()


@lru_cache(maxsize=16_384)
def _element(term: Term) -> str:
    """The XML element of a term. The cache saves a third of the time, because subjects and predicates recur."""
    if terms.is_iri(term):
        return f"<uri>{xml_text(term[1:-1])}</uri>"
    if terms.is_blank(term):
        return f"<bnode>{term[2:]}</bnode>"
    lexical, datatype, language = terms.split_literal(term)
    if language:
        return f'<literal xml:lang="{language}">{xml_text(lexical)}</literal>'
    if datatype == terms.XSD_STRING:
        return f"<literal>{xml_text(lexical)}</literal>"
    return f'<literal datatype="{xml_text(datatype)}">{xml_text(lexical)}</literal>'


def read_xml(document: bytes) -> Solutions | Boolean:
    try:
        return _result(_tree(document))
    except (expat.ExpatError, ValueError) as error:
        raise ResultsSyntaxError(f"not a SPARQL result in XML: {error}") from error


def _tree(document: bytes) -> Element:
    builder = TreeBuilder()
    parser = expat.ParserCreate(namespace_separator="}")
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = _refuse_document_type
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.data
    parser.Parse(document, True)
    return builder.close()


def _refuse_document_type(*_declaration: object) -> NoReturn:
    raise ValueError("a document type, and with it entities, is not welcome here")


def _result(root: Element) -> Solutions | Boolean:
    boolean, results, head = (_child(root, local) for local in ("boolean", "results", "head"))
    if boolean is not None:
        return Boolean(_truth(boolean))
    if results is None or head is None:
        raise ValueError("neither `results` with a `head` nor `boolean`")
    variables = tuple(_attribute(variable, "name") for variable in _children(head, "variable"))
    return Solutions(variables, tuple(_row(result, variables) for result in _children(results, "result")))


def _row(result: Element, variables: tuple[str, ...]) -> Row:
    bound: dict[str, Term] = {}
    for binding in _children(result, "binding"):
        name = _attribute(binding, "name")
        if name not in variables or len(binding) != 1:
            raise ValueError(f"a binding of {name!r} that is unknown or not exactly one term")
        bound[name] = _term(binding[0])
    return tuple([bound.get(name) for name in variables])


def _term(element: Element) -> Term:
    text = element.text or ""
    match element.tag.removeprefix(f"{_NAMESPACE}}}"):
        case "uri":
            return checked_iri(text.strip())
        case "bnode":
            return checked_blank(text.strip())
        case "literal":
            return checked_literal(text, element.get("datatype"), element.get(_LANGUAGE))
        case other:
            raise ValueError(f"{other} is no term of RDF 1.1")


def _truth(element: Element) -> bool:
    match (element.text or "").strip():
        case "true" | "1":
            return True
        case "false" | "0":
            return False
        case other:
            raise ValueError(f"{other!r} is neither true nor false")


def _attribute(element: Element, name: str) -> str:
    value = element.get(name)
    if value is None:
        raise ValueError(f"{element.tag} lacks its {name}")
    return value


def _child(parent: Element, local: str) -> Element | None:
    return next(_children(parent, local), None)


def _children(parent: Element, local: str) -> Iterator[Element]:
    name = f"{_NAMESPACE}}}{local}"  # expat separates namespace and name by this character
    return (child for child in parent if child.tag == name)
