"""RDF terms as canonical N-Triples strings.

A term *is* its N-Triples text, which also serves for equality, hashing and the wire, and a subscriber gets exactly the
lexical form that a publisher wrote. Only escapes have a canonical spelling, so that a term has exactly one string. The
first character tells the kind: `<` IRI, `"` literal, `_` blank node, and `?` a variable of a query.
"""

import re
import sys
from collections.abc import Callable
from typing import TypeAlias

Term: TypeAlias = str
Var: TypeAlias = str
Triple: TypeAlias = tuple[Term, Term, Term]
Quad: TypeAlias = tuple[Term, Term, Term, Term]
"""Subject, predicate, object, graph."""

DEFAULT_GRAPH: Term = ""
"""The name of the graph that has no name, in the fourth place of a quad."""

XSD = "http://www.w3.org/2001/XMLSchema#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
XSD_STRING = f"{XSD}string"
RDF_LANG_STRING = f"{RDF}langString"

RDF_TYPE: Term = f"<{RDF}type>"
RDF_FIRST: Term = f"<{RDF}first>"
RDF_REST: Term = f"<{RDF}rest>"
RDF_NIL: Term = f"<{RDF}nil>"

TRUE: Term = f'"true"^^<{XSD}boolean>'
FALSE: Term = f'"false"^^<{XSD}boolean>'

# In CPython 3.12 alone, interned strings are never freed: there, the values of a sensor would fill the memory.
intern: Callable[[str], str] = str if sys.version_info[:2] == (3, 12) else sys.intern

_SPECIAL = re.compile(r'[\x00-\x1f"\\\x7f]')
_ESCAPES = {"\t": "\\t", "\b": "\\b", "\n": "\\n", "\r": "\\r", "\f": "\\f", '"': '\\"', "\\": "\\\\"}
_ESCAPED = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_UNESCAPES = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", '"': '"', "'": "'", "\\": "\\"}


def _escape_one(match: re.Match[str]) -> str:
    char = match[0]
    return _ESCAPES.get(char) or f"\\u{ord(char):04X}"


def _unescape_one(match: re.Match[str]) -> str:
    four, eight, single = match.groups()
    if single is None:
        return chr(int(four or eight, 16))
    return _UNESCAPES[single]


def escape(text: str) -> str:
    """`text` as it stands between the quotes of a canonical N-Triples literal."""
    return _SPECIAL.sub(_escape_one, text) if _SPECIAL.search(text) else text


def unescape(text: str) -> str:
    """The inverse of `escape`; also reads every other escape of SPARQL, Turtle and N-Triples strings.

    Raises KeyError for an unknown escape letter and ValueError for a code point that does not exist.
    """
    return _ESCAPED.sub(_unescape_one, text) if "\\" in text else text


def iri(text: str) -> Term:
    return f"<{text}>"


def blank(label: str) -> Term:
    return f"_:{label}"


def literal(lexical: str, datatype: str = XSD_STRING) -> Term:
    """A literal of a datatype given as a bare IRI; `xsd:string` is written without one."""
    if datatype == XSD_STRING:
        return f'"{escape(lexical)}"'
    return f'"{escape(lexical)}"^^<{datatype}>'


def lang_literal(lexical: str, language: str) -> Term:
    return f'"{escape(lexical)}"@{language}'


def is_iri(term: Term) -> bool:
    return term[0] == "<"


def is_blank(term: Term) -> bool:
    return term[0] == "_"


def is_literal(term: Term) -> bool:
    return term[0] == '"'


def is_tagged(term: Term) -> bool:
    """Whether a term is a language-tagged literal."""
    return term[0] == '"' and term[-1] not in '">'


def fold(term: Term) -> Term:
    """A language-tagged literal with its tag in lower case, by which all spellings are equal (RDF 1.1, 3.3)."""
    end = term.rindex('"@')
    return term[:end] + term[end:].lower()


def iri_text(term: Term) -> str:
    """The bare IRI of an IRI term."""
    return term[1:-1]


def split_literal(term: Term) -> tuple[str, str, str]:
    """Lexical form, datatype as a bare IRI, and language tag ("" unless `rdf:langString`)."""
    last = term[-1]
    if last == '"':
        return unescape(term[1:-1]), XSD_STRING, ""
    if last == ">":
        end = term.rindex('"^^<')
        return unescape(term[1:end]), term[end + 4 : -1], ""
    end = term.rindex('"@')
    return unescape(term[1:end]), RDF_LANG_STRING, term[end + 2 :]


def lexical_form(term: Term) -> str:
    """What `STR` returns: the text of an IRI, the lexical form of a literal."""
    if term[0] == "<":
        return term[1:-1]
    return unescape(term[1 : term.rindex('"')])
