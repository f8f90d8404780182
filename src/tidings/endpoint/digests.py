"""The digest of all triples of one predicate in one graph. The endpoint and the broker each compute it.

    digest = Σ first nine decimal digits of MD5(subject, object, datatype, language)

A sum does not depend on the order. Triples with blank nodes of the endpoint are omitted: their labels mean nothing
outside of it.
"""

import re
from collections.abc import Iterable
from hashlib import md5

from tidings.endpoint.blanks import is_theirs, outgoing
from tidings.model.terms import RDF_LANG_STRING, Term, lexical_form, split_literal

_DIGITS = 9
_TEXT = (
    'CONCAT(STR(?s), " ", STR(?o), " ", IF(isLiteral(?o), STR(DATATYPE(?o)), ""), " ", '
    'IF(isLiteral(?o), LCASE(LANG(?o)), ""))'
)
_NUMBER = f'<http://www.w3.org/2001/XMLSchema#integer>(SUBSTR(REPLACE(MD5({_TEXT}), "[a-f]", ""), 1, {_DIGITS}))'
EXPRESSION = f"SUM(IF(isBlank(?s) || isBlank(?o), 0, {_NUMBER}))"
"""The digest as an aggregate over ?s and ?o."""
_LETTERS = re.compile("[a-f]")


def digest(pairs: Iterable[tuple[Term, Term]]) -> int:
    """The digest of the triples with these subjects and objects."""
    total = 0
    for s, o in pairs:
        if not is_theirs(s) and not is_theirs(o):
            hexadecimal = md5(_text(s, o).encode(), usedforsecurity=False).hexdigest()
            total += int(_LETTERS.sub("", hexadecimal)[:_DIGITS] or "0")
    return total


def _text(s: Term, o: Term) -> str:
    subject = outgoing(s, _unnamed)[1:-1]
    if o[0] != '"':
        return f"{subject} {outgoing(o, _unnamed)[1:-1]}  "
    _, datatype, language = split_literal(o)
    return f"{subject} {lexical_form(o)} {RDF_LANG_STRING if language else datatype} {language.lower()}"


def _unnamed(_: str) -> None:
    """Never called, because `digest` omits the blank nodes of the endpoint."""
