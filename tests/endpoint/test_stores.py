"""Each store that is supported, as it is: it has what it is given, and what it has is found, however it is spelled."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from broker.contexts import BASE, check_over, in_context
from broker.making import Client, Clock, crashed
from endpoint.servers import Server, fuseki, oxigraph, virtuoso
from tidings.broker.broker import Broker
from tidings.endpoint.connection import Address, AnswerCut, Connection
from tidings.endpoint.store import SparqlStore
from tidings.engine.store.store import Store
from tidings.engine.updates.executor import Core
from tidings.model.errors import EndpointAway, EndpointRefused, TidingsError
from tidings.model.terms import XSD, Quad
from tidings.model.zset import ZSet
from tidings.sparql.algebra import BGP, Dataset
from tidings.sparql.parser.query import parse_query
from tidings.sparql.writing.requests import Where
from waiting import PATIENCE, asynchronous, until

STARTS = {"oxigraph": oxigraph, "fuseki": fuseki, "virtuoso": virtuoso}
S, P, G = "<http://example.org/s>", "<http://example.org/p>", "<http://example.org/g>"


@pytest.fixture(scope="module", params=list(STARTS))
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with STARTS[request.param](tmp_path_factory.mktemp(request.param)) as running:
        yield running


def connected(server: Server) -> Connection:
    return Connection(Address(server.query, server.update), seconds=PATIENCE)


def typed(lexical: str, datatype: str) -> str:
    return f'"{lexical}"^^<{XSD}{datatype}>'


QUADS: set[Quad] = {
    (S, P, '"plain"', ""),
    (S, P, '"with \\"quotes\\", \\\\ and\\nlines, \u00e9\u4e2d\U0001f600"', ""),
    (S, P, '"chat"@fr', G),
    (S, P, typed("5", "integer"), G),
    (S, P, typed("5.25", "decimal"), ""),
    (S, P, typed("2026-01-01T12:00:00Z", "dateTime"), ""),
    (S, P, "<http://example.org/o>", G),
    (S, P, "_:p1n1", ""),
    ("_:p1n1", P, "_:p1n2", G),
    (S, P, '"own"^^<http://example.org/type>', ""),
}


@asynchronous
async def test_a_store_has_what_it_is_given_and_says_so(server: Server) -> None:
    async with connected(server) as connection:
        store = SparqlStore(connection)
        assert (await store.dialect()).name == server.dialect, "it was known by what it says of itself"
        states = dict.fromkeys(QUADS, True)
        await store.take(states)
        await store.take(states)  # once more changes nothing
        assert await store.lacking(states) == []
        assert set(await store.lacking(dict.fromkeys(QUADS, False))) == QUADS
        found = await store.compare(Store(QUADS))
        assert found.differences == ZSet()
        assert found.rewritten == 0
        empty = await store.compare(Store())
        assert set(empty.differences.added()) == QUADS, "blank nodes come back as they went"
        gone = (S, P, '"chat"@fr', G)
        await store.take({gone: False, (S, P, typed("6", "integer"), G): True})
        changed = await store.compare(Store(QUADS))
        assert changed.differences == ZSet.change(removed=[gone], added=[(S, P, typed("6", "integer"), G)])
        await store.take(dict.fromkeys({*QUADS, (S, P, typed("6", "integer"), G)}, False))
        assert (await store.compare(Store())).differences == ZSet()


@asynchronous
async def test_a_literal_that_the_store_spells_otherwise_is_reported_and_is_no_difference(server: Server) -> None:
    quads = {(S, P, typed(*each), G) for each in (("01", "integer"), ("7.50", "decimal"), ("08", "int"))}
    quads |= {(S, P, typed("200", "byte"), G), (S, P, typed("12:00:00.50", "time"), G)}
    quads |= {(S, P, '"colour"@en-GB', G), (S, P, typed("2026-01-01T00:00:00.000Z", "dateTime"), G)}
    async with connected(server) as connection:
        store = SparqlStore(connection)
        states = dict.fromkeys(quads, True)
        await store.take(states)
        assert await store.lacking(states) == []
        found = await store.compare(Store(quads))
        assert found.differences == ZSet()
        assert found.rewritten > 0
        await store.take(dict.fromkeys(quads, False))
        assert (await store.compare(Store())).differences == ZSet(), "it is removed in the spelling it was given in"


@asynchronous
async def test_what_is_large_goes_in_portions_and_comes_in_pages(server: Server) -> None:
    quads: set[Quad] = {
        (
            f"<http://example.org/s{n}>",
            f"{P[:-1]}{max(0, n - 10_800) % 7}>",
            typed(str(n), "integer"),
            G if n % 20 else "",
        )
        for n in range(11_200)
    }  # one predicate alone is more than an answer of Virtuoso's may have
    async with connected(server) as connection:
        store = SparqlStore(connection)
        await store.take(dict.fromkeys(quads, True))
        assert server.dialect != "virtuoso" or store.updates > 5
        assert set((await store.compare(Store())).differences.added()) == quads
        lost = set(list(quads)[:3])
        await store.take(dict.fromkeys(lost, False))
        assert set(await store.lacking(dict.fromkeys(list(quads)[:300], True))) == lost
        assert (await store.compare(Store(quads))).differences == ZSet.change(removed=lost)
        await store.take(dict.fromkeys(quads, False))


@asynchronous
async def test_blank_nodes_of_the_store_itself_are_shown_and_can_be_removed_where_it_has_a_name_for_them(
    server: Server,
) -> None:
    server.told(f"INSERT {{ GRAPH {G} {{ {S} {P} _:b . _:b {P} 1 }} }} WHERE {{}}")
    async with connected(server) as connection:
        store = SparqlStore(connection)
        found = set((await store.compare(Store())).differences.added())
        assert len(found) == 2
        assert {o for s, _, o, _ in found if s == S} == {s for s, *_ in found if s != S}, "one node"
        assert (await store.compare(Store(found))).differences == ZSet(), "with the same label each time"
        if server.dialect == "oxigraph":
            with pytest.raises(EndpointRefused, match="no name"):
                await store.take(dict.fromkeys(found, False))
        else:
            assert await store.lacking(dict.fromkeys(found, True)) == []
            await store.take(dict.fromkeys(found, False))
            assert (await store.compare(Store())).differences == ZSet()
    server.told(f"DELETE WHERE {{ GRAPH {G} {{ ?s ?p ?o }} }}")


@asynchronous
async def test_an_update_may_have_many_short_quads(server: Server) -> None:
    states = {(f"<u:{n}>", "<u:p>", "<u:o>", ""): True for n in range(12_000)}
    async with connected(server) as connection:
        store = SparqlStore(connection)
        await store.take(states)
        assert (await store.compare(Store(states))).differences == ZSet()
        await store.take(dict.fromkeys(states, False))
        assert (await store.compare(Store())).differences == ZSet()


@asynchronous
async def test_a_store_that_cuts_answers_off_is_fetched_whole(tmp_path: Path) -> None:
    """It says so of rows, and cuts triples off without a word."""
    quads = {(f"<urn:s{n}>", f"<urn:p{n % 2}>", f'"{n}"', G if n % 3 else "") for n in range(130)}
    quads |= {(S, f"<urn:q{n}>", '"x"', G) for n in range(40)}
    with virtuoso(tmp_path, most_rows=20) as server:
        async with connected(server) as connection:
            store = SparqlStore(connection)
            await store.take(dict.fromkeys(quads, True))
            assert (await store.compare(Store())).differences == ZSet.change(added=quads)
            assert (await store.compare(Store(quads))).differences == ZSet()
            assert await store.select([(None, None, None, ""), (None, None, None, G)], 1000) == quads
            merged = Where(BGP((("?s", "?p", "?o"),)), ("?s", "?o"), Dataset(default=(G, "<urn:none>")))
            (found,) = await store.solutions([merged])
            assert not isinstance(found, TidingsError)
            assert len(found) == sum(graph == G for *_, graph in quads), "also if several graphs are asked as one"
            with pytest.raises(AnswerCut) as refusal:
                await store.answer(parse_query(f"SELECT ?s {{ GRAPH {G} {{ ?s ?p ?o }} }}"), ())
            assert refusal.value.code == "row_limit_exceeded", "an answer is not passed on that lacks something"


@asynchronous
async def test_who_cannot_be_asked_is_away_and_who_says_no_refuses(server: Server) -> None:
    async with connected(server) as connection:
        with pytest.raises(EndpointRefused):
            await connection.update("INSERT DATA { this is none }")
        with pytest.raises(EndpointRefused):
            await connection.rows("SELECT nothing")
    server.kill()
    async with connected(server) as connection:
        with pytest.raises(EndpointAway):
            await SparqlStore(connection).dialect()
    await asyncio.to_thread(server.start)
    async with connected(server) as connection:
        assert (await SparqlStore(connection).dialect()).name == server.dialect


SUBSCRIBED = (
    "SELECT ?s ?o { ?s <p> ?o }",
    "SELECT ?s ?o ?g { ?s <p> ?o OPTIONAL { GRAPH ?g { ?s <q> ?o } } }",
    "SELECT ?g ?o { GRAPH ?g { <s1> ?p ?o } }",
    "SELECT (COUNT(*) AS ?n) { ?s <p> ?o FILTER NOT EXISTS { ?s <r> ?o } }",
)
TOLD = (
    "INSERT DATA { <s1> <p> 1, 2 ; <r> 'three'@en, <s2> . <s2> <p> 1.5 GRAPH <g1> { <s1> <q> 1, 2 ; <r> 'x' } }",
    "DELETE { ?s <p> ?o } INSERT { ?s <p> ?n } WHERE { ?s <p> ?o FILTER(?o > 0) BIND(?o + 1 AS ?n) }",
    "INSERT DATA { <s1> <p> 1, 2 } ; DELETE { ?s <p> ?o } INSERT { ?s <r> ?o } WHERE { ?s <p> ?o FILTER(?o = 2) }",
    "WITH <g1> DELETE { ?s <q> ?o } INSERT { ?s <p> ?o . ?s <p> 'new' } WHERE { ?s <q> ?o }",
    "DELETE { ?s <p> ?o ; <r> ?o } WHERE { ?s <p> ?o OPTIONAL { ?s <r> ?x } FILTER(isLiteral(?o)) }",
    "INSERT { ?s <p> 7 } USING <g1> USING <g2> WHERE { ?s ?p ?o }",
    "INSERT { GRAPH ?g { ?s <r> 'x', 'y' } } WHERE { GRAPH ?g { ?s ?p ?o } }",
    "COPY <g1> TO <g3> ; DELETE WHERE { GRAPH <g3> { ?s <r> 'x' } }",
    "INSERT { ?s <p> [ <r> ?o ] } WHERE { ?s <p> ?o }",
    "CLEAR GRAPH <g1>",
    "DELETE WHERE { ?s <p> ?b . ?b <r> ?o }",
)


async def held(store: SparqlStore) -> Store:
    return Store((await store.compare(Store())).differences.added())


async def tell(broker: Broker, client: Client, text: str, store: SparqlStore) -> None:
    """An update changes the store as a naive evaluation would have it, and subscribers are told so."""
    naive = Core(await held(store), base=BASE)
    done, delta = await broker.update(text), naive.update(text, now=0)
    assert (done.added, done.removed) == (len(list(delta.added())), len(list(delta.removed()))), text
    found = await held(store)
    assert "[" in text or set(found) == set(naive.store), text
    check_over(client, found)


@asynchronous
async def test_a_broker_with_contexts_in_memory_tells_what_changes_there(server: Server, tmp_path: Path) -> None:
    clock = Clock()
    async with connected(server) as connection:
        store = SparqlStore(connection)
        async with in_context(clock, connection, tmp_path / "a") as (broker, _):
            client = Client(broker)
            for text in SUBSCRIBED:
                client.subscribe(text)
            await until(lambda: len(client.known) + len(client.errors) == len(SUBSCRIBED))
            assert not client.errors
            for text in TOLD:
                await tell(broker, client, text, store)
            folder = crashed(tmp_path / "a", tmp_path / "b")
            client.lose()
        await store.take({(f"<{BASE}s9>", f"<{BASE}p>", typed("9", "integer"), ""): True})
        async with in_context(clock, connection, folder) as (broker, _):
            client.take_up(broker)
            await until(lambda: all(known.resumed == [True] for known in client.known.values()))
            await tell(broker, client, "DELETE { ?s <p> ?o } INSERT { ?s <q> ?o } WHERE { ?s <p> ?o }", store)
            assert len(client.known) == len(SUBSCRIBED)
            await broker.update("CLEAR ALL")
            assert not len(await held(store))
