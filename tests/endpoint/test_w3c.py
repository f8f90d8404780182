"""The W3C cases through a broker in front of a store, in both modes: the answers are right, and so is the store."""

from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager
from typing import Any, Literal

import pytest

from broker.making import Client, Clock
from conformance.cases import PATH, cases, same_rows
from conformance.test_w3c import EXCEPTIONS
from endpoint.in_process import InProcess
from endpoint.servers import Server, oxigraph
from endurance import ENDURANCE
from oracles.recomputation import recomputed
from tidings.broker.broker import Broker
from tidings.broker.policy import Policy
from tidings.broker.record.context_mode import begin_in_context_mode
from tidings.broker.record.mirror import Mirror
from tidings.endpoint.connection import Address, Connection
from tidings.endpoint.store import SparqlStore
from tidings.engine.contexts import Contexts
from tidings.engine.engine import Engine
from tidings.engine.store.store import Store
from tidings.engine.updates.executor import Core
from tidings.model.formats.rdf import RdfFormat, parse_rdf
from tidings.model.terms import Quad
from tidings.model.zset import ZSet
from waiting import PATIENCE, asynchronous, until

pytestmark = [
    pytest.mark.conformance,
    pytest.mark.skipif(not PATH.exists(), reason=f"the W3C cases are not at {PATH}"),
]
Mode = Literal["mirror", "context"]
LIVE = ("SELECT ?s ?p ?o { ?s ?p ?o }", "SELECT ?g ?s ?p ?o { GRAPH ?g { ?s ?p ?o } }")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with oxigraph(tmp_path_factory.mktemp("oxigraph")) as running:
        yield running


def quads_of(text: str) -> list[Quad]:
    return list(parse_rdf(text.encode(), RdfFormat.N_QUADS))


@asynchronous
@pytest.mark.parametrize("mode", ["mirror", "context"])
async def test_every_update_leaves_the_expected_dataset_here_and_there_and_is_told_live(
    server: Server, mode: Mode
) -> None:
    async with Connection(Address(server.query, server.update), seconds=PATIENCE) as connection:
        for case in cases("update"):
            server.told("CLEAR ALL")
            await SparqlStore(connection, "oxigraph").take(dict.fromkeys(quads_of(case["data"]), True))
            await _through(case, connection, mode)


@asynccontextmanager
async def in_front_of(connection: Connection, base: str, mode: Mode) -> AsyncIterator[Broker]:
    clock = Clock()
    engine = Engine(Core(base=base))
    if mode == "context":
        engine.contexts = Contexts(engine.store)
    async with Broker(engine, Policy(slice_seconds=5.0), clock=clock.now, monotonic=clock.monotonic) as broker:
        if engine.contexts is None:
            await Mirror(broker, SparqlStore(connection, "oxigraph"), PATIENCE).begin()
        else:
            store = SparqlStore(connection, "oxigraph", part=engine.contexts.keys)
            await begin_in_context_mode(broker, store, PATIENCE, 10_000)
        yield broker


async def _through(case: dict[str, Any], connection: Connection, mode: Mode) -> None:
    async with in_front_of(connection, case["base"], mode) as broker:
        client = Client(broker)
        for text in LIVE:
            client.subscribe(text)
        await until(lambda: len(client.known) == len(LIVE))
        await broker.update(case["request"])
        assert same_rows(broker.store, set(quads_of(case["expected"]))), case["id"]
        whole = SparqlStore(connection, "oxigraph")
        assert (await whole.compare(broker.store)).differences == ZSet(), case["id"]
        told = Counter((s, p, o, g) for (s, p, o), g in _rows(client))
        assert told == Counter(set(broker.store)), case["id"]


def _rows(client: Client) -> Iterator[tuple[tuple[str, str, str], str]]:
    """What subscribers were told, added up, as quads."""
    for known in client.known.values():
        for row in known.answer.elements():
            *graph, s, p, o = (term or "" for term in row)
            yield (s, p, o), graph[0] if graph else ""


def inserted(quads: list[Quad]) -> str:
    blocks = (f"GRAPH {g} {{ {s} {p} {o} }}" if g else f"{s} {p} {o} ." for s, p, o, g in quads)
    return f"INSERT DATA {{ {' '.join(blocks)} }}"


EMPTY = "DELETE WHERE { ?s ?p ?o } ; DELETE WHERE { GRAPH ?g { ?s ?p ?o } }"


@asynchronous
async def test_every_query_is_kept_up_to_date_over_its_context() -> None:
    """The data comes before the subscription, goes, and comes again. One case in four, if there is not much time."""
    for case in cases("query")[:: max(1, round(4 / ENDURANCE))]:
        connection = InProcess()
        if case["id"] not in EXCEPTIONS:
            async with in_front_of(connection, case["base"], "context") as broker:
                await _live(case, broker, connection)


async def _live(case: dict[str, Any], broker: Broker, connection: InProcess) -> None:
    quads = quads_of(case["data"])
    await broker.update(inserted(quads))
    client = Client(broker)
    client.subscribe(case["query"])
    await until(lambda: client.known or client.errors)
    assert not client.errors, (case["id"], client.errors)
    for change, there in (("", quads), (EMPTY, []), (inserted(quads), quads)):
        if not change and _literals(quads) != _literals(connection.quads()):
            continue  # what was there before is as the store spells it
        await broker.update(change)
        now, base = broker.commit_log.time, case["base"]
        expected = recomputed(case["query"], Store(there), now=now, base=base)
        assert same_rows(client.only.answer.elements(), expected.elements()), (case["id"], change)


def _literals(quads: Iterable[Quad]) -> set[str]:
    return {o for _, _, o, _ in quads if o[0] == '"'}
