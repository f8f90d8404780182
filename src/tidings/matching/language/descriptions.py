"""Makes an event from the triples of a subject, in words; the broker and Spark do it in the same way.

    predicate   its label, or the local name of its IRI, is the attribute
    object      a literal's text or number; an IRI's label, or local name; blank nodes are no values

Labels are those of rdfs:label, skos:prefLabel and schema:name, in English or without a language if there is a choice.
"""

import re
from collections.abc import Callable, Iterable

from tidings.matching.language.notation import number_of
from tidings.matching.language.values import Event, EventTuple, Value
from tidings.model.terms import Term, iri_text, is_iri, is_literal, split_literal

LABELS = (
    "<http://www.w3.org/2000/01/rdf-schema#label>",
    "<http://www.w3.org/2004/02/skos/core#prefLabel>",
    "<http://schema.org/name>",
    "<https://schema.org/name>",
)
"""The best first."""
_NUMERIC = re.compile(
    r"http://www\.w3\.org/2001/XMLSchema#(?:decimal|integer|double|float|\w*[iI]nt|long|short|byte|\w+Integer)$"
)
_LONGEST = 1_000


def described(
    subject: Term, facts: Iterable[tuple[Term, Term]], label: Callable[[Term], str | None], most: int
) -> Event | None:
    """An event of at most `most` tuples from the predicates and objects of a subject; None without any tuple.

    The tuples are in the order of the terms, regardless of the order of updates.
    """
    tuples: list[EventTuple] = []
    for predicate, value in sorted(set(facts)):
        shown = _value(value, label)
        if shown is not None:
            tuples.append(EventTuple(_named(predicate, label), shown))
        if len(tuples) == most:
            break
    return Event(tuple(tuples), iri_text(subject)) if tuples else None


def best_label(found: Iterable[tuple[int, Term]]) -> str | None:
    """The best of some labels, given with the places of their predicates in `LABELS`. Labels in English or without a
    language are preferred."""
    split = [(place, *split_literal(term)) for place, term in found if is_literal(term)]
    ranked = [(not _is_english(language), place, text) for place, text, _, language in split]
    return min(ranked)[2] if ranked else None


def _is_english(language: str) -> bool:
    return not language or language.lower().split("-")[0] == "en"


def _value(term: Term, label: Callable[[Term], str | None]) -> Value | None:
    if is_iri(term):
        return _named(term, label)
    if not is_literal(term):
        return None
    text, datatype, _ = split_literal(term)
    number = number_of(text) if _NUMERIC.match(datatype) else None
    if number is None:
        return text[:_LONGEST]
    return int(number) if float(number).is_integer() and abs(number) < 2**53 else number


def _named(iri: Term, label: Callable[[Term], str | None]) -> str:
    return (label(iri) or _local_name(iri_text(iri)))[:_LONGEST]


def _local_name(iri: str) -> str:
    return re.split(r"[#/:]", iri.rstrip("#/:"))[-1] or iri
