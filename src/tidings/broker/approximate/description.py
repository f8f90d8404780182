"""Describes a subject as an event, by all quads with that subject, labels included, in the graphs of a subscriber.

`matching/language/descriptions.py` turns the quads into the event.
"""

from collections.abc import Iterable, Iterator

from tidings.engine.store.graph import GraphIndex
from tidings.engine.store.store import Store
from tidings.matching.language.descriptions import LABELS, best_label, described
from tidings.matching.language.values import Event
from tidings.model.access import Graphs
from tidings.model.terms import DEFAULT_GRAPH, Quad, Term, is_iri


def description(store: Store, subject: Term, graphs: Graphs, most: int) -> Event | None:
    """The description of a subject as an event of at most `most` tuples; None if the graphs have no quad of it."""
    facts = (fact for graph in _readable(store, subject, graphs) for fact in graph.facts(subject))
    return described(subject, facts, lambda term: best_label(_labels(store, term, graphs)), most)


def _labels(store: Store, term: Term, graphs: Graphs) -> Iterator[tuple[int, Term]]:
    for graph in _readable(store, term, graphs):
        for place, predicate in enumerate(LABELS):
            for value in graph.objects(term, predicate):
                yield place, value


def _readable(store: Store, subject: Term, graphs: Graphs) -> Iterator[GraphIndex]:
    """Those of the graphs that have quads with this subject, and the default graph."""
    for name in (DEFAULT_GRAPH, *store.graphs_with(subject, None, None)):
        graph = store.graph(name) if graphs.has(name) else None
        if graph is not None:
            yield graph


def touched(quads: Iterable[Quad], graphs: Graphs) -> dict[Term, None]:
    """The IRIs that are subjects of changed quads in these graphs. An event about a blank node would have no name."""
    return {s: None for s, _, _, g in quads if graphs.has(g) and is_iri(s)}
