"""Functions on RDF terms (SPARQL 1.1, 17.4.2)."""

import re

from tidings.model.terms import (
    RDF_LANG_STRING,
    Term,
    fold,
    iri,
    iri_text,
    is_blank,
    is_iri,
    is_literal,
    is_tagged,
    lang_literal,
    lexical_form,
    literal,
    split_literal,
)
from tidings.sparql.values import Number, Text, decode, encode_boolean

_LANGUAGE_TAG = re.compile(r"[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*").fullmatch


def same_term(left: Term, right: Term) -> Term:
    """`sameTerm`: identity, except that the case of language tags does not matter."""
    if is_tagged(left) and is_tagged(right):
        return encode_boolean(fold(left) == fold(right))
    return encode_boolean(left == right)


def is_iri_term(term: Term) -> Term:
    return encode_boolean(is_iri(term))


def is_blank_term(term: Term) -> Term:
    return encode_boolean(is_blank(term))


def is_literal_term(term: Term) -> Term:
    return encode_boolean(is_literal(term))


def is_numeric(term: Term) -> Term:
    """Whether a term is a literal of a numeric datatype with a lexical form that it allows."""
    return encode_boolean(type(decode(term)) is Number)


def string_of(term: Term) -> Term | None:
    """`STR`: the lexical form of a literal, the text of an IRI."""
    return None if is_blank(term) else literal(lexical_form(term))


def language_of(term: Term) -> Term | None:
    """`LANG`: the language tag as it was written, or the empty string."""
    return literal(split_literal(term)[2]) if is_literal(term) else None


def datatype_of(term: Term) -> Term | None:
    return iri(split_literal(term)[1]) if is_literal(term) else None


def language_matches(tag: Term, pattern: Term) -> Term | None:
    """`LANGMATCHES`: basic filtering of RFC 4647, section 3.3.1."""
    match decode(tag), decode(pattern):
        case Text(language), Text("*"):
            return encode_boolean(language != "")
        case Text(language), Text(wanted):
            language, wanted = language.lower(), wanted.lower()
            return encode_boolean(language == wanted or (wanted != "" and language.startswith(f"{wanted}-")))
        case _:
            return None


def with_datatype(term: Term, datatype: Term) -> Term | None:
    """`STRDT`: a simple literal with a datatype; an error for `rdf:langString`, which needs a language tag."""
    value = decode(term)
    if not isinstance(value, Text) or not is_iri(datatype) or iri_text(datatype) == RDF_LANG_STRING:
        return None
    return literal(value.text, iri_text(datatype))


def with_language(term: Term, language: Term) -> Term | None:
    """`STRLANG`: a simple literal with a language tag; an error if the tag is not well-formed (RFC 5646)."""
    match decode(term), decode(language):
        case Text(text), Text(tag) if _LANGUAGE_TAG(tag):
            return lang_literal(text, tag)
        case _:
            return None
