"""The terminals that the formats have in common, and functions that build terms from unchecked text.

They raise ValueError if the text would not make a term, so that every term can be written into any document.
"""

import re
from hashlib import blake2b

from tidings.model import terms
from tidings.model.terms import Term

_IRI_CHARACTERS = r'[^\x00-\x20<>"{}|^`\\\ud800-\udfff]*'
_LETTER = (
    "A-Za-z_\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c\u200d\u2070-\u218f\u2c00-\u2fef"
    "\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
_MORE = rf"{_LETTER}0-9\u00b7\u0300-\u036f\u203f\u2040\-"

IRI_REFERENCE = re.compile(_IRI_CHARACTERS)
ABSOLUTE_IRI = re.compile(rf"[A-Za-z][A-Za-z0-9+.-]*:{_IRI_CHARACTERS}")
LANGUAGE = re.compile(r"[A-Za-z]+(?:-[A-Za-z0-9]+)*")
BLANK_LABEL = re.compile(rf"[{_LETTER}0-9](?:[{_MORE}.]*[{_MORE}])?")
NC_NAME = re.compile(rf"[{_LETTER}][{_MORE}.]*")
NOT_IN_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

_SURROGATE = re.compile(r"[\ud800-\udfff]")
_NUMBER = re.compile(rf'"(-?[0-9.]+(?:[eE][+-]?[0-9]+)?)"\^\^<{re.escape(terms.XSD)}(integer|decimal|double)>')
_BARE = {
    "integer": re.compile(r"-?(?:0|[1-9][0-9]*)"),
    "decimal": re.compile(r"-?(?:0|[1-9][0-9]*)\.[0-9]+"),
    "double": re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?[eE][+-]?[0-9]+"),
}


def checked_iri(text: str) -> Term:
    """An IRI term. Relative references are allowed, since other stores may answer with them."""
    if not IRI_REFERENCE.fullmatch(text):
        raise ValueError(f"not an IRI: {text!r}")
    return f"<{text}>"


def checked_blank(label: str) -> Term:
    """A blank node; a label that RDF syntaxes do not allow (Virtuoso's `nodeID://b1`) is replaced by its digest."""
    if BLANK_LABEL.fullmatch(label):
        return f"_:{label}"
    return f"_:b{blake2b(label.encode(), digest_size=12).hexdigest()}"


def checked_literal(lexical: str, datatype: str | None, language: str | None) -> Term:
    """A literal; a language has precedence over a datatype, as in the results of every store."""
    if _SURROGATE.search(lexical):
        raise ValueError("half a surrogate pair is not a character")
    if language:
        if not LANGUAGE.fullmatch(language):
            raise ValueError(f"not a language tag: {language!r}")
        return terms.lang_literal(lexical, language)
    if not datatype:
        return terms.literal(lexical)
    if datatype == terms.RDF_LANG_STRING:
        raise ValueError("rdf:langString needs a language tag")
    return terms.literal(lexical, checked_iri(datatype)[1:-1])


def unescaped(text: str) -> str:
    """The text without escapes. Raises ValueError for escaped surrogates, even in pairs: they are no characters."""
    try:
        plain = terms.unescape(text)
    except KeyError as error:
        raise ValueError(f"unknown escape \\{error.args[0]}") from error
    except OverflowError as error:
        raise ValueError("a code point that does not exist") from error
    if _SURROGATE.search(plain):
        raise ValueError("half a surrogate pair is not a character")
    return plain


def bare_number(term: Term) -> str | None:
    """The Turtle number that denotes exactly this literal, if every parser keeps its lexical form; otherwise None.

    `"01"^^xsd:integer` stays in quotes: `01` is the same term, but too many parsers read it as 1.
    """
    number = _NUMBER.fullmatch(term)
    if number and _BARE[number[2]].fullmatch(number[1]):
        return number[1]
    return None
