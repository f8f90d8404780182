"""Events from RDF: what the graph says of a subject, in words.

    predicate   its label, or the local name of its IRI, is the attribute
    object      a literal's text or number; an IRI's label, or local name; blank nodes are no values

Labels are those of rdfs:label, skos:prefLabel and schema:name, in English or without a language if there is a choice.
Only graphs that the subscriber may see count, for labels as well.
"""

import re
from collections.abc import Iterable, Iterator

from tidings.engine.store.graph import GraphIndex
from tidings.engine.store.store import Store
from tidings.matching.language.notation import number_of
from tidings.matching.language.values import Event, EventTuple, Value
from tidings.model.access import Graphs
from tidings.model.terms import DEFAULT_GRAPH, Quad, Term, iri_text, is_iri, is_literal, split_literal

_LABELS = (
    "<http://www.w3.org/2000/01/rdf-schema#label>",
    "<http://www.w3.org/2004/02/skos/core#prefLabel>",
    "<http://schema.org/name>",
    "<https://schema.org/name>",
)
_NUMERIC = re.compile(
    r"http://www\.w3\.org/2001/XMLSchema#(?:decimal|integer|double|float|\w*[iI]nt|long|short|byte|\w+Integer)$"
)
_LONGEST = 1_000


def description(store: Store, subject: Term, graphs: Graphs, most: int) -> Event | None:
    """What the graphs say of a subject, in at most so many tuples; None if that is nothing."""
    tuples: list[EventTuple] = []
    for predicate, value in _statements(store, subject, graphs):
        shown = _value(store, value, graphs)
        if shown is not None:
            tuples.append(EventTuple(_label(store, predicate, graphs)[:_LONGEST], shown))
        if len(tuples) == most:
            break
    return Event(tuple(tuples), iri_text(subject)) if tuples else None


def _statements(store: Store, subject: Term, graphs: Graphs) -> Iterator[tuple[Term, Term]]:
    """In an order that does not depend on that of the updates."""
    found = {fact for graph in _readable(store, subject, graphs) for fact in graph.facts(subject)}
    yield from sorted(found)


def _readable(store: Store, subject: Term, graphs: Graphs) -> Iterator[GraphIndex]:
    """Those of the graphs that may say something of a subject."""
    for name in (DEFAULT_GRAPH, *store.graphs_with(subject, None, None)):
        graph = store.graph(name) if graphs.has(name) else None
        if graph is not None:
            yield graph


def _value(store: Store, term: Term, graphs: Graphs) -> Value | None:
    if is_iri(term):
        return _label(store, term, graphs)[:_LONGEST]
    if not is_literal(term):
        return None
    text, datatype, _ = split_literal(term)
    number = number_of(text) if _NUMERIC.match(datatype) else None
    if number is None:
        return text[:_LONGEST]
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


def _label(store: Store, term: Term, graphs: Graphs) -> str:
    best: str | None = None
    readable = list(_readable(store, term, graphs))
    for value in (value for predicate in _LABELS for graph in readable for value in graph.objects(term, predicate)):
        if is_literal(value):
            text, _, language = split_literal(value)
            if not language or language.lower().split("-")[0] == "en":
                return text
            best = best or text
    return best or _local_name(iri_text(term))


def _local_name(iri: str) -> str:
    return re.split(r"[#/:]", iri.rstrip("#/:"))[-1] or iri


def touched(quads: Iterable[Quad], graphs: Graphs) -> dict[Term, None]:
    """The subjects of changes that a subscriber may see; blank nodes have no name to tell."""
    return {s: None for s, _, _, g in quads if graphs.has(g) and is_iri(s)}
