"""pyoxigraph, an engine that shares no line with ours, and what it takes to compare the two."""

from collections import Counter
from collections.abc import Iterable
from typing import TypeAlias

import pyoxigraph

from tidings.model.terms import Quad, Term
from tidings.sparql.values import Number, decode

Row: TypeAlias = tuple[Term | None, ...]


def to_store(quads: Iterable[Quad]) -> pyoxigraph.Store:
    """A store of theirs with the same quads; blank nodes keep their labels."""
    store = pyoxigraph.Store()
    lines = "".join(f"{s} {p} {o} {g} .\n" for s, p, o, g in quads)
    store.extend(pyoxigraph.parse(lines.encode(), pyoxigraph.RdfFormat.N_QUADS))
    return store


def rows_of(solutions: pyoxigraph.QuerySolutions) -> list[Row]:
    return [tuple(None if term is None else str(term) for term in solution) for solution in solutions]


def by_value(term: Term | None) -> Term | None:
    """A term with numbers as a literal of their type and value: computed ones are written in different ways."""
    if not term or term[0] != '"' or term[-1] != ">":
        return term
    value = decode(term)
    return f'"{value.rank}:{float(value.value)!r}"^^<urn:number>' if isinstance(value, Number) else term


def bag(rows: Iterable[Row]) -> Counter[Row]:
    """A multiset of rows, with numbers by value."""
    return Counter(tuple(map(by_value, row)) for row in rows)


def from_store(store: pyoxigraph.Store) -> list[Quad]:
    return [(str(q.subject), str(q.predicate), str(q.object), _graph_name(q)) for q in store]


def _graph_name(quad: pyoxigraph.Quad) -> Term:
    return "" if isinstance(quad.graph_name, pyoxigraph.DefaultGraph) else str(quad.graph_name)


def canonical(quads: Iterable[Quad]) -> set[str]:
    """Quads up to the names of their blank nodes, with numbers by value."""
    dataset = pyoxigraph.Dataset(to_store((s, p, by_value(o) or o, g) for s, p, o, g in quads))
    dataset.canonicalize(pyoxigraph.CanonicalizationAlgorithm.UNSTABLE)
    return set(map(str, dataset))
