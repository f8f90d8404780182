"""The W3C cases of SPARQL Update through a broker in front of a store: the answers are right, and so is the store."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from broker.making import Client, Clock
from conformance.cases import PATH, cases, same_rows
from endpoint.servers import Server, oxigraph
from tidings.broker.broker import Broker
from tidings.broker.policy import Policy
from tidings.broker.record.mirror import Mirror
from tidings.endpoint.connection import Address, Connection
from tidings.endpoint.store import SparqlStore
from tidings.engine.engine import Engine
from tidings.engine.updates.executor import Core
from tidings.model.formats.rdf import RdfFormat, parse_rdf
from tidings.model.terms import Quad
from tidings.model.zset import ZSet
from waiting import PATIENCE, asynchronous, until

pytestmark = [
    pytest.mark.conformance,
    pytest.mark.skipif(not PATH.exists(), reason=f"the W3C cases are not at {PATH}"),
]
LIVE = ("SELECT ?s ?p ?o { ?s ?p ?o }", "SELECT ?g ?s ?p ?o { GRAPH ?g { ?s ?p ?o } }")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with oxigraph(tmp_path_factory.mktemp("oxigraph")) as running:
        yield running


def quads_of(text: str) -> list[Quad]:
    return list(parse_rdf(text.encode(), RdfFormat.N_QUADS))


@asynchronous
async def test_every_update_leaves_the_expected_dataset_here_and_there_and_is_told_live(server: Server) -> None:
    async with Connection(Address(server.query, server.update), seconds=PATIENCE) as connection:
        for case in cases("update"):
            server.told("CLEAR ALL")
            store = SparqlStore(connection, "oxigraph")
            await store.take(dict.fromkeys(quads_of(case["data"]), True))
            await _through(case, store)


async def _through(case: dict[str, Any], store: SparqlStore) -> None:
    clock = Clock()
    engine = Engine(Core(base=case["base"]))
    async with Broker(engine, Policy(slice_seconds=5.0), clock=clock.now, monotonic=clock.monotonic) as broker:
        mirror = Mirror(broker, store, PATIENCE)
        await mirror.begin()
        client = Client(broker)
        for text in LIVE:
            client.subscribe(text)
        await until(lambda: len(client.known) == len(LIVE))
        await broker.update(case["request"])
        assert same_rows(broker.store, set(quads_of(case["expected"]))), case["id"]
        assert (await store.compare(broker.store)).differences == ZSet(), case["id"]
        told = Counter((s, p, o, g) for (s, p, o), g in _rows(client))
        assert told == Counter(set(broker.store)), case["id"]


def _rows(client: Client) -> Iterator[tuple[tuple[str, str, str], str]]:
    """What subscribers were told, added up, as quads."""
    for known in client.known.values():
        for row in known.answer.elements():
            *graph, s, p, o = (term or "" for term in row)
            yield (s, p, o), graph[0] if graph else ""
