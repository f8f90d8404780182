"""Events of what a graph says about a subject: labels of predicates are attributes, and the values are literals and the
labels of what the subject refers to. What has no label is called after the last part of its IRI.
"""

import re
from collections.abc import Iterable
from typing import Any

from tidings.matching.language.notation import number_of
from tidings.model.terms import RDF_TYPE, Term, is_blank, is_iri, lexical_form

LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
_LAST = re.compile(r"([^/#:]+)[/#]?>$")


def described(subject: Term, facts: Iterable[tuple[Term, str | None, Term, str | None]]) -> dict[str, Any]:
    """The event as a JSON document. A fact is a predicate, its label, an object and its label. What is about the label
    of the subject itself says nothing about it; blank nodes without a label have no name to match."""
    found: dict[str, list[Any]] = {}
    for predicate, predicate_label, value, value_label in sorted(facts, key=repr):
        shown = _value(value, value_label)
        if predicate != LABEL and shown is not None:
            found.setdefault(predicate_label or _attribute(predicate), []).append(shown)
    name = {"@id": subject[1:-1] if is_iri(subject) else subject}
    return name | {attribute: values[0] if len(values) == 1 else values for attribute, values in found.items()}


def _attribute(predicate: Term) -> str:
    return "type" if predicate == RDF_TYPE else local_name(predicate)


def _value(term: Term, label: str | None) -> str | float | None:
    if label is not None:
        return label
    if is_blank(term):
        return None
    if is_iri(term):
        return local_name(term)
    text = lexical_form(term)
    number = number_of(text)
    return text if number is None else number


def local_name(iri: Term) -> str:
    """The last part of an IRI that has a name in it."""
    found = _LAST.search(iri)
    return found[1] if found else iri[1:-1]
