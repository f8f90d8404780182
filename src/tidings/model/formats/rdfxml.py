"""Writes RDF/XML, with one `rdf:Description` for consecutive statements of a subject.

RDF/XML cannot express all of RDF: a predicate must end in an XML name, and XML does not allow some characters. Such
statements are refused.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from xml.sax.saxutils import escape

from tidings.model import terms
from tidings.model.errors import BadRequest
from tidings.model.formats.grammar import NC_NAME, NOT_IN_XML
from tidings.model.terms import Quad, Term

_NAME_AT_END = re.compile(rf"{NC_NAME.pattern}\Z")
_SYNTAX_NAME = re.compile(
    f"{re.escape(terms.RDF)}(?:RDF|Description|ID|about|aboutEach|aboutEachPrefix|bagID|datatype|li|nodeID|parseType|resource)"
)


def xml_text(text: str) -> str:
    """Text for the content of an element or an attribute; a line feed in an attribute would become a space."""
    unfit = NOT_IN_XML.search(text)
    if unfit:
        raise BadRequest(f"XML cannot carry the character U+{ord(unfit[0]):04X}; another format can")
    return escape(text, {'"': "&quot;", "\r": "&#13;", "\n": "&#10;", "\t": "&#9;"})


def write_rdf_xml(quads: Iterable[Quad], prefixes: Mapping[str, str]) -> Iterator[str]:
    names = {namespace: prefix for prefix, namespace in prefixes.items() if namespace and _is_free(prefix)}
    names[terms.RDF] = "rdf"
    declared = "".join(f' xmlns:{prefix}="{xml_text(namespace)}"' for namespace, prefix in names.items())
    yield f'<?xml version="1.0" encoding="UTF-8"?>\n<rdf:RDF{declared}>\n'
    for subject, group in groupby(quads, key=itemgetter(0)):
        yield f"<rdf:Description {_node(subject, 'about')}>\n"
        for _, predicate, object_, _ in group:
            yield _property(predicate, object_, names)
        yield "</rdf:Description>\n"
    yield "</rdf:RDF>\n"


def _is_free(prefix: str) -> bool:
    """Whether XML lets a document choose what the prefix means."""
    return bool(NC_NAME.fullmatch(prefix)) and prefix != "rdf" and not prefix.lower().startswith("xml")


def _node(term: Term, attribute: str) -> str:
    if terms.is_iri(term):
        return f'rdf:{attribute}="{xml_text(terms.iri_text(term))}"'
    return f'rdf:nodeID="{_node_id(term[2:])}"'


def _node_id(label: str) -> str:
    """An XML name for a label. Labels that are no XML names, or look like encoded ones, become hexadecimal digits."""
    if NC_NAME.fullmatch(label) and not label.startswith("x-"):
        return label
    return f"x-{label.encode().hex()}"


def _property(predicate: Term, object_: Term, names: Mapping[str, str]) -> str:
    start, end = _tags(terms.iri_text(predicate), names)
    if not terms.is_literal(object_):
        return f"  <{start} {_node(object_, 'resource')}/>\n"
    lexical, datatype, language = terms.split_literal(object_)
    if language:
        start += f' xml:lang="{language}"'
    elif datatype != terms.XSD_STRING:
        start += f' rdf:datatype="{xml_text(datatype)}"'
    return f"  <{start}>{xml_text(lexical)}</{end}>\n"


def _tags(iri: str, names: Mapping[str, str]) -> tuple[str, str]:
    """The inside of a start tag and of the end tag for a predicate."""
    name = _NAME_AT_END.search(iri)
    if name is None or _SYNTAX_NAME.fullmatch(iri):
        raise BadRequest(f"RDF/XML has no way to write the predicate <{iri}>; another format has")
    namespace, local = iri[: name.start()], name[0]
    prefix = names.get(namespace)
    if prefix:
        return f"{prefix}:{local}", f"{prefix}:{local}"
    return f'p:{local} xmlns:p="{xml_text(namespace)}"', f"p:{local}"
