"""What differs is fetched in answers that an endpoint gives: many predicates together, a large one in pages."""

from dataclasses import replace

import pytest

from endpoint.in_process import InProcess
from tidings.endpoint.comparing import Comparing
from tidings.endpoint.dialects.oxigraph import OXIGRAPH
from tidings.endpoint.store import SparqlStore
from tidings.engine.store.store import Store
from tidings.model.errors import EndpointRefused
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
        ({"p": 1, "q": 2 * MOST + 1, "r": 1}, 1, 4),
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
    assert sum("ORDER BY" in query for query in asked) == 2 * pages
    assert sum("ORDER BY" not in query for query in asked) == 2 * requests


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
