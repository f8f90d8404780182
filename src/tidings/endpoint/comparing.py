"""Finds the differences between an endpoint and a store, without fetching what is equal.

counts and digests of each predicate in each graph  ->  those that differ are fetched, graph by graph  ->  compared

Predicates that fit into one answer are fetched together, and one that is too large by itself in pages. The counts
show whether all triples have arrived, because endpoints cut answers off without saying so. Pages are sorted only if
unsorted ones miss triples, because others write: sorting for each page took Virtuoso five times as long.
"""

import asyncio
import logging
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from typing import Literal, NamedTuple, TypeAlias, assert_never

from tidings.endpoint.blanks import is_nameless
from tidings.endpoint.connection import Connection
from tidings.endpoint.dialects import Dialect
from tidings.endpoint.digests import EXPRESSION, digest
from tidings.endpoint.paging import all_rows
from tidings.endpoint.spellings import Compared, compared
from tidings.engine.store.store import Store
from tidings.model.errors import EndpointAway
from tidings.model.results import Row
from tidings.model.terms import DEFAULT_GRAPH, Quad, Term, Triple, lexical_form
from tidings.model.zset import ZSet

PAGE = 500_000
"""The most triples that are fetched at once, unless the dialect has a lower limit."""
_NAMED = 100
"""The most predicates that a query names."""

Sizes: TypeAlias = dict[tuple[Term, Term], tuple[int, int | None]]
"""Graph and predicate -> the number of triples, and their digest, if known."""

log = logging.getLogger("tidings")


class Comparing:
    """One comparison."""

    def __init__(self, connection: Connection, dialect: Dialect, store: Store) -> None:
        self._connection = connection
        self._dialect = dialect
        self._store = store
        self._page = min(PAGE, dialect.rows or PAGE)
        self._fetched = self._total = 0

    async def run(self) -> Compared:
        """The differences, and how many literals only differ in spelling. Raises EndpointAway, EndpointRefused."""
        differing: dict[Term, list[Term]] = {}
        theirs = await self._sizes()
        for graph, predicate in await self._different(theirs):
            differing.setdefault(graph, []).append(predicate)
        self._total = sum(count for (graph, p), (count, _) in theirs.items() if p in differing.get(graph, ()))
        differences: ZSet[Quad] = ZSet()
        rewritten = 0
        for graph, predicates in differing.items():
            counts = {predicate: theirs.get((graph, predicate), (0, None))[0] for predicate in predicates}
            for portion in _portions(counts, self._page):
                found = await self._there(graph, portion, sum(counts[predicate] for predicate in portion))
                part = await asyncio.to_thread(compared, set(self._ours(graph, portion)), found)
                differences.absorb(part.differences)
                rewritten += part.rewritten
                if part.example is not None:
                    log.warning("the endpoint has %s literals of %s spelled otherwise, such as %s as %s",
                                part.rewritten, graph or "the default graph", *part.example)  # fmt: skip
        return Compared(differences, rewritten)

    # -- counts and digests -----------------------------------------------------------------------------------------

    async def _sizes(self) -> Sizes:
        digests = self._dialect.digests and len(self._store) > 0
        more = f" ({EXPRESSION} AS ?d)" if digests else ""
        sizes: Sizes = {}
        nameless: set[Term] = set()
        if not self._dialect.default_graph:
            for p, n, *d in await self._counted("?p", more, "?s ?p ?o"):
                sizes[DEFAULT_GRAPH, _term(p)] = _number(n), _number(d[0]) if d else None
        for g, p, n, *d in await self._counted("?g ?p", more, "GRAPH ?g { ?s ?p ?o }"):
            name = _term(g)
            if is_nameless(name):
                nameless.add(name)
            elif not name.startswith(self._dialect.ignored or "\0"):
                graph = DEFAULT_GRAPH if name == self._dialect.default_graph else name
                sizes[graph, _term(p)] = _number(n), _number(d[0]) if d else None
        if nameless:
            log.warning("%d graphs of the endpoint are left alone: their names are blank nodes", len(nameless))
        return {place: size for place, size in sizes.items() if size[0]}

    async def _counted(self, names: str, more: str, pattern: str) -> list[Row]:
        text = f"SELECT {names} (COUNT(*) AS ?n){more} {{ {pattern} }} GROUP BY {names}"
        counts = f"{names} ?n{' ?d' if more else ''}"
        counted = f"SELECT {counts} WHERE {{ {{ {text} ORDER BY {names} }} }}"
        return await all_rows(self._connection, text, lambda: counted, self._dialect.rows)

    async def _different(self, theirs: Sizes) -> list[tuple[Term, Term]]:
        """The graphs and predicates with different counts or digests, or without a digest to compare."""
        here = [(DEFAULT_GRAPH, p) for p in self._store.default.sizes]
        here += [(name, p) for name, graph in self._store.named.items() for p in graph.sizes]
        known = set(here)
        found = [place for place in theirs if place not in known]
        for graph, predicate in here:
            their_count, their_digest = theirs.get((graph, predicate), (0, 0))
            pairs = self._pairs(graph, predicate)
            alike = len(pairs) == their_count and their_digest is not None
            if not alike or await asyncio.to_thread(digest, pairs) != their_digest:
                found.append((graph, predicate))
        return found

    def _pairs(self, graph: Term, predicate: Term) -> list[tuple[Term, Term]]:
        index = self._store.graph(graph)
        return [] if index is None else list(index.uses(predicate))

    def _ours(self, graph: Term, predicates: Iterable[Term]) -> list[Quad]:
        return [(s, p, o, graph) for p in predicates for s, o in self._pairs(graph, p)]

    # -- fetching ---------------------------------------------------------------------------------------------------

    async def _there(self, graph: Term, predicates: list[Term], expected: int) -> set[Quad]:
        """The triples of some predicates of a graph, in pages if one answer does not have as many as expected."""
        if not expected:
            return set()
        ask = partial(_query, graph or self._dialect.default_graph, predicates)
        triples: Collection[Triple] = await self._asked(ask()) if expected <= self._page else ()
        if len(triples) < expected:
            self._fetched -= len(triples)
            triples = await self._paged(ask, expected)
        wanted = set(predicates)
        return {(s, p, o, graph) for s, p, o in triples if p in wanted}

    async def _paged(self, ask: Callable[["_Page"], str], expected: int) -> set[Triple]:
        found = await self._pages(ask, expected, "as they come")
        if len(found) < expected:
            self._fetched -= len(found)
            found = await self._pages(ask, expected, "sorted apart" if self._dialect.sorts_apart else "sorted")
        return found

    async def _pages(self, ask: Callable[["_Page"], str], expected: int, order: "_Order") -> set[Triple]:
        """Fetch pages until one has nothing new or, without an order, until there are as many triples as expected."""
        found: set[Triple] = set()
        first = 0
        while True:
            page = await self._asked(ask(_Page(first, self._page, order)))
            first, before = first + len(page), len(found)
            found.update(page)
            if len(found) == before or (order == "as they come" and first >= expected):
                return found

    async def _asked(self, text: str) -> list[Triple]:
        triples = await self._connection.triples(text)
        self._fetched += len(triples)
        log.info("fetched %s of %s triples from the endpoint", f"{self._fetched:,}", f"{self._total:,}")
        return triples


def _portions(counts: dict[Term, int], most: int) -> Iterator[list[Term]]:
    """Predicates in portions with at most `most` triples; a predicate with more is a portion of its own."""
    portion: list[Term] = []
    size = 0
    for count, predicate in sorted((count, predicate) for predicate, count in counts.items()):
        if portion and (size + count > most or len(portion) == _NAMED):
            yield portion
            portion, size = [], 0
        portion.append(predicate)
        size += count
    if portion:
        yield portion


_Order: TypeAlias = Literal["as they come", "sorted", "sorted apart"]


class _Page(NamedTuple):
    """A range of the triples, and the order that it counts in."""

    first: int
    most: int
    order: _Order


def _query(graph: Term, predicates: list[Term], page: _Page | None = None) -> str:
    triples = f"GRAPH {graph} {{ ?s ?p ?o }}" if graph else "?s ?p ?o"
    pattern = f"VALUES ?p {{ {' '.join(predicates)} }} {triples}"
    if page is None:
        return f"CONSTRUCT {{ ?s ?p ?o }} WHERE {{ {pattern} }}"
    limits = f"LIMIT {page.most} OFFSET {page.first}"
    match page.order:
        case "as they come":
            return f"CONSTRUCT {{ ?s ?p ?o }} WHERE {{ {pattern} }} {limits}"
        case "sorted":
            return f"CONSTRUCT {{ ?s ?p ?o }} WHERE {{ {pattern} }} ORDER BY ?s ?p ?o {limits}"
        case "sorted apart":
            pattern = f"{{ SELECT ?s ?p ?o WHERE {{ {pattern} }} ORDER BY ?s ?p ?o }}"
            return f"CONSTRUCT {{ ?s ?p ?o }} WHERE {{ {pattern} }} {limits}"
        case _:
            assert_never(page.order)


def _term(term: Term | None) -> Term:
    if term is None:
        raise EndpointAway("the endpoint answers with rows that have gaps where there can be none")
    return term


def _number(term: Term | None) -> int:
    """The integer that a literal stands for: an endpoint may return a sum as a decimal or double."""
    try:
        return int(float(text)) if "." in (text := lexical_form(_term(term))) else int(text)
    except ValueError as error:
        raise EndpointAway(f"the endpoint answers with {term} where a number was asked for") from error
