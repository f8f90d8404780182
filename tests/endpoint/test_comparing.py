"""What differs is fetched in answers that an endpoint gives: many predicates together, a large one in pages."""

from dataclasses import replace

import pyoxigraph
import pytest

from endpoint.in_process import InProcess
from tidings.endpoint.comparing import Comparing
from tidings.endpoint.connection import AnswerCut
from tidings.endpoint.dialects.oxigraph import OXIGRAPH
from tidings.endpoint.store import SparqlStore
from tidings.engine.lutt import ANY_NAMED
from tidings.engine.store.store import Store
from tidings.model.errors import EndpointRefused
from tidings.model.results import Row
from tidings.model.terms import Quad, Triple
from tidings.model.zset import ZSet
from waiting import asynchronous

MOST = 10
NARROW = replace(OXIGRAPH, rows=MOST, digests=False)


class Narrow(InProcess):
    """Refuses answers of more rows than it says."""

    async def triples(self, text: str, most: int | None = None) -> list[Triple]:
        found = await super().triples(text, most)
        if len(found) > MOST:
            raise EndpointRefused(f"{len(found)} rows: {text}")
        return found


def quads_of(sizes: dict[str, int]) -> set[Quad]:
    """So many triples of each predicate, in two graphs."""
    return {
        (f"<urn:s{n}>", f"<urn:{predicate}>", f'"{n}"', graph)
        for predicate, size in sizes.items()
        for n in range(size)
        for graph in ("", "<urn:g>")
    }


@pytest.mark.parametrize(
    ("sizes", "requests", "pages"),
    [
        ({"p": MOST}, 1, 0),
        ({"p": 3, "q": 3, "r": 4}, 1, 0),
        ({"p": 3, "q": 3, "r": 5}, 2, 0),
        ({"p": 1, "q": 2 * MOST + 1, "r": 1}, 1, 3),
        ({f"p{n}": 1 for n in range(25)}, 3, 0),
    ],
)
@asynchronous
async def test_predicates_come_together_as_far_as_an_answer_goes(
    sizes: dict[str, int], requests: int, pages: int
) -> None:
    connection, quads = Narrow(), quads_of(sizes)
    await SparqlStore(connection).take(dict.fromkeys(quads, True))
    connection.queries.clear()
    found = await Comparing(connection, NARROW, Store()).run()
    assert found.differences == ZSet.change(added=quads)
    asked = [query for query in connection.queries if query.startswith("CONSTRUCT")]
    assert sum("OFFSET" in query for query in asked) == 2 * pages
    assert sum("OFFSET" not in query for query in asked) == 2 * requests
    assert not any("ORDER BY" in query for query in asked), "the store need not sort"


class Cutting(InProcess):
    """Gives the first of the triples and rows that it has, as many as it likes; of rows it says so."""

    async def triples(self, text: str, most: int | None = None) -> list[Triple]:
        return (await super().triples(text, most))[:MOST]

    async def rows(self, text: str, most: int | None = None) -> list[Row]:
        found = await super().rows(text, most)
        if len(found) >= MOST:
            raise AnswerCut("http://localhost/query", MOST)
        return found


@asynchronous
async def test_an_answer_that_is_cut_off_without_a_word_is_not_all_of_it() -> None:
    """Many endpoints give as much as they like, and their limit is known to nobody."""
    connection, quads = Cutting(), quads_of({"p": 3 * MOST - 1, "q": 2})
    await SparqlStore(connection).take(dict.fromkeys(quads, True))
    found = await Comparing(connection, OXIGRAPH, Store()).run()
    assert found.differences == ZSet.change(added=quads)


@asynchronous
async def test_there_may_be_more_predicates_than_rows_in_an_answer() -> None:
    connection, quads = Cutting(), quads_of({f"p{n}": 1 for n in range(3 * MOST)})
    await SparqlStore(connection).take(dict.fromkeys(quads, True))
    assert (await Comparing(connection, OXIGRAPH, Store(quads)).run()).differences == ZSet()
    assert (await Comparing(connection, OXIGRAPH, Store()).run()).differences == ZSet.change(added=quads)


class Restless(Narrow):
    """Gives triples in another order each time, unless it is told to sort them."""

    async def triples(self, text: str, most: int | None = None) -> list[Triple]:
        self.asked = getattr(self, "asked", 0) + 1
        if "OFFSET" in text and "ORDER BY" not in text:
            text = text.replace(" LIMIT", f" ORDER BY {'ASC' if self.asked % 2 else 'DESC'}(?o) LIMIT")
        return await super().triples(text, most)


@pytest.mark.parametrize("apart", [False, True])
@asynchronous
async def test_pages_that_are_not_complete_are_asked_for_again_in_order(*, apart: bool) -> None:
    connection, quads = Restless(), quads_of({"q": 2 * MOST + 1})
    await SparqlStore(connection).take(dict.fromkeys(quads, True))
    found = await Comparing(connection, replace(NARROW, sorts_apart=apart), Store()).run()
    assert found.differences == ZSet.change(added=quads)
    assert any("ORDER BY" in query and ("SELECT" in query) is apart for query in connection.queries)


@asynchronous
async def test_a_query_names_a_hundred_predicates_at_most_and_no_others_come() -> None:
    connection, alike = InProcess(), quads_of({"alike": 50})
    quads = quads_of({f"p{n}": 1 for n in range(201)})
    await SparqlStore(connection).take(dict.fromkeys(quads | alike, True))
    connection.queries.clear()
    found = await Comparing(connection, OXIGRAPH, Store(alike)).run()
    assert found.differences == ZSet.change(added=quads)
    asked = [query for query in connection.queries if query.startswith("CONSTRUCT")]
    assert len(asked) == 6
    assert not any("alike" in query for query in asked)
    assert all("VALUES ?p" in query for query in asked)


@asynchronous
async def test_a_graph_whose_name_is_a_blank_node_is_left_alone(caplog: pytest.LogCaptureFixture) -> None:
    """SPARQL has no name for it."""
    connection, quads = InProcess(), quads_of({"p": 2})
    await SparqlStore(connection).take(dict.fromkeys(quads, True))
    connection.store.load(b"_:g { <urn:s> <urn:p> _:g }", pyoxigraph.RdfFormat.TRIG)
    store = SparqlStore(connection)
    assert (await store.compare(Store())).differences == ZSet.change(added=quads)
    assert "blank nodes" in caplog.text
    assert (await store.compare(Store(quads))).differences == ZSet()
    named = {quad for quad in quads if quad[3]}
    assert await store.select([(None, None, None, ANY_NAMED)], 100) == named
