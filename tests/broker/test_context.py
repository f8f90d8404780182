"""A graph that is larger than memory: the endpoint works out queries and updates; subscriptions live on contexts."""

from collections.abc import Callable
from pathlib import Path

import pytest

from broker.contexts import BASE, check, in_context
from broker.making import ALL, Client, Clock, Replies, crashed, insert, opened
from endpoint.in_process import InProcess
from tidings.broker.broker import Broker
from tidings.broker.errors import NotInContextMode
from tidings.broker.updates.accepted import Done
from tidings.broker.updates.graph_change import GraphChange
from tidings.endpoint.store import SparqlStore
from tidings.engine.store.store import Store
from tidings.engine.updates.executor import Core
from tidings.model.access import ALL_RIGHTS, Graphs, Rights
from tidings.model.errors import (
    BadRequest,
    ContextTooLarge,
    EndpointAway,
    EndpointRefused,
    GraphExists,
    SparqlSyntaxError,
)
from tidings.model.results import Boolean, Result, Solutions, Triples
from tidings.model.terms import Quad
from tidings.model.zset import ZSet
from waiting import asynchronous, until


def holding(data: str) -> InProcess:
    connection = InProcess()
    connection.store.update(f"BASE <{BASE}> INSERT DATA {{ {data} }}")
    return connection


def written(result: Result) -> tuple[str, list[bytes]]:
    match result:
        case Solutions(_, rows):
            return "text/plain", [repr(sorted(rows)).encode()]
        case Boolean(value):
            return "text/plain", [repr(value).encode()]
        case Triples(triples):
            return "text/plain", [repr(sorted(triples)).encode()]


async def asked(broker: Broker, text: str, rights: Rights = ALL_RIGHTS) -> str:
    with (await broker.query(text, None, written, rights)).file as file:
        return file.read().decode()


async def subscribed(client: Client, *texts: str) -> None:
    before = len(client.known) + len(client.errors)
    for text in texts:
        client.subscribe(text)
    await until(lambda: len(client.known) + len(client.errors) == before + len(texts))


@asynchronous
async def test_memory_has_what_the_subscriptions_need_and_lets_go_of_it_with_the_last(clock: Clock) -> None:
    connection = holding("<s1> <p> 1 . <s2> <p> 2 . <s1> <q> 1 . <s2> <q> 2 . <s3> <r> 3 GRAPH <g> { <s1> <p> 4 }")
    async with in_context(clock, connection) as (broker, _):
        assert len(broker.store) == 0
        client = Client(broker)
        await subscribed(client, "SELECT ?o { <s1> <p> ?o }")
        assert len(broker.store) == 1
        await subscribed(client, ALL, "SELECT ?s { ?s <p> ?o ; <q> ?o }")
        assert len(broker.store) == 4
        asked_for = len(connection.queries)
        await subscribed(client, "SELECT ?o { <s2> <p> ?o }", "ASK { <s2> <p> ?o }")
        assert len(connection.queries) == asked_for, "what is there already is not fetched again"
        first, *others = client.known
        client.unsubscribe(first)
        await broker.update(insert(5))
        check(client, connection)
        assert len(broker.store) == 5
        for spuid in others:
            client.unsubscribe(spuid)
        await until(lambda: len(broker.store) == 0)


@asynchronous
async def test_an_update_that_concerns_nobody_is_looked_up_and_no_more(clock: Clock) -> None:
    connection = holding("<s1> <p> 1 . <x> <q> 1")
    async with in_context(clock, connection) as (broker, _):
        client = Client(broker)
        await subscribed(client, ALL)
        advanced = broker.engine.timing.commits
        done = await broker.update("DELETE { ?s <q> ?o } INSERT { ?s <q> 2 ; <r> 2 } WHERE { ?s <q> ?o }")
        assert (done.commit, done.added, done.removed) == (1, 2, 1)
        assert broker.engine.timing.commits == advanced
        await broker.update("DELETE { ?s <p> ?o } INSERT { ?s <p> 2 } WHERE { ?s <p> ?o }")
        assert broker.engine.timing.commits == advanced + 1
        check(client, connection)


@asynchronous
async def test_updates_that_wait_share_their_questions(clock: Clock) -> None:
    connection = holding(" ".join(f"<s{n}> <p> 0 ." for n in range(20)))
    async with in_context(clock, connection) as (broker, _):
        broker.updates.hold()
        replies = Replies(broker)
        for n in range(20):
            replies.submit(f"DELETE {{ <s{n}> <p> ?o }} INSERT {{ <s{n}> <p> {n} }} WHERE {{ <s{n}> <p> ?o }}")
        asked_before, told_before = len(connection.queries), len(connection.updates)
        broker.updates.resume()
        await until(lambda: len(replies.done()) == 20)
        assert len(connection.queries) - asked_before == 1
        assert len(connection.updates) - told_before == 1
        assert await asked(broker, "ASK { <s7> <p> 7 }") == "True"


CHANGES = (
    ("DELETE { ?s <p> ?o } INSERT { ?s <p> 1 } WHERE { ?s <p> ?o }", 0, 1),
    ("DELETE { ?s <p> 1 ; <q> ?o } INSERT { ?s <p> ?o } WHERE { ?s <p> ?o }", 0, 0),
    ("DELETE { ?s <r> ?o } INSERT { ?s <r> 7 . GRAPH <g> { ?s <p> ?o } } WHERE { ?s <p> ?o FILTER(?o = 1) }", 2, 0),
    ("DELETE { ?s <q> ?n } INSERT { ?s <q> 4 } WHERE { { ?s <p> ?o BIND(?o + 2 AS ?n) } UNION { ?s <r> 7 } }", 1, 1),
    ("WITH <g> DELETE { ?s <p> ?o } INSERT { GRAPH ?g { ?s <p> ?o } } WHERE { GRAPH ?g { ?s <p> ?o } }", 0, 0),
    ("DELETE { ?b <to> ?c . ?c <x> ?y } INSERT { ?b <x> ?y } WHERE { ?b <to> ?c OPTIONAL { ?c <x> ?y } }", 1, 2),
    ("INSERT { ?s <p> [] . ?s <p> 1 } WHERE { ?s <q> 4 }", 1, 0),
)  # fmt: skip


@asynchronous
async def test_one_question_tells_what_an_update_changes(clock: Clock) -> None:
    connection = holding("<s> <p> 1, 2 ; <q> 3 . <b> <to> <c> . <c> <x> 5")
    async with in_context(clock, connection) as (broker, _):
        for text, added, removed in CHANGES:
            naive = Core(connection.whole(), base=BASE)
            before = len(connection.queries)
            done = await broker.update(text)
            assert (done.added, done.removed) == (added, removed), text
            naive.update(text, now=0)
            assert len(connection.queries) - before == (2 if "[]" in text else 1), text
            assert "[]" in text or connection.quads() == set(naive.store), text


@asynchronous
async def test_an_update_sees_what_those_before_it_did_wherever_that_is(clock: Clock) -> None:
    connection = holding("<s> <n> 0")
    async with in_context(clock, connection) as (broker, _):
        client = Client(broker)
        await subscribed(client, "SELECT ?o { <s> <n> ?o }")
        replies = Replies(broker)
        for _ in range(5):
            replies.submit("DELETE { <s> <n> ?o } INSERT { <s> <n> ?n } WHERE { <s> <n> ?o BIND(?o + 1 AS ?n) }")
        replies.submit("INSERT DATA { <s> <n> 5 } ; DELETE WHERE { <s> <n> 5 }")
        await until(lambda: len(replies.outcomes) == 6)
        assert len(replies.done()) == 6
        assert not connection.quads()
        check(client, connection)


@asynchronous
async def test_queries_graphs_and_rehearsals_are_asked_at_the_endpoint(clock: Clock) -> None:
    connection = holding("<s> <p> 1 GRAPH <g1> { <s> <p> 2 } GRAPH <g2> { <s> <p> 3 }")
    g1 = Rights(read=Graphs(names=frozenset((f"<{BASE}g1>",))))
    near = Rights(read=Graphs(names=frozenset(("",)), prefixes=(f"{BASE}g",)))
    async with in_context(clock, connection) as (broker, _):
        assert "<http://example.org/s>" in await asked(broker, "CONSTRUCT WHERE { ?s <p> ?o }")
        values = "SELECT (STR(?o) AS ?v) { { ?s <p> ?o } UNION { GRAPH ?g { ?s <p> ?o } } }"
        assert await asked(broker, values) == repr([('"1"',), ('"2"',), ('"3"',)])
        assert await asked(broker, values, g1) == repr([('"2"',)])
        assert await asked(broker, values, near) == repr([('"1"',), ('"2"',), ('"3"',)])
        assert await asked(broker, "ASK { GRAPH <g2> { ?s ?p ?o } }", g1) == "False"
        assert await broker.has_graph(f"<{BASE}g1>")
        assert not await broker.has_graph(f"<{BASE}g3>")
        seen = await broker.rehearse("DELETE WHERE { GRAPH ?g { ?s <p> ?o } }", None, ALL_RIGHTS, None)
        assert (seen.added, seen.removed) == (0, 2)
        with pytest.raises(GraphExists):
            await broker.update("CREATE GRAPH <g1>")
        with pytest.raises(SparqlSyntaxError):
            await asked(broker, "SELECT")
        with pytest.raises(NotInContextMode):
            await broker.query("ASK {}", None, written, at=0)


@asynchronous
async def test_a_document_replaces_a_graph(clock: Clock) -> None:
    connection = holding("GRAPH <g> { <s> <p> 1, 2 }")
    graph = f"<{BASE}g>"
    quads: list[Quad] = [(f"<{BASE}s>", f"<{BASE}p>", '"x"', graph), ("_:a", f"<{BASE}p>", '"y"', graph)]
    async with in_context(clock, connection) as (broker, _):
        client = Client(broker)
        await subscribed(client, "SELECT ?s ?o { GRAPH <g> { ?s <p> ?o } }")
        change = GraphChange(graph, replaces=True, size=10, read=lambda: quads)
        done = await broker.change(change)
        assert (done.added, done.removed, change.existed) == (2, 2, True)
        check(client, connection)
        again = await broker.update("DELETE { ?s ?p ?o } WHERE { GRAPH <g> { ?s ?p ?o } } ; CLEAR GRAPH <g>")
        assert (again.added, again.removed) == (0, 2), "blank nodes that were published here can be named"
        assert not connection.quads()


@asynchronous
async def test_what_is_more_than_there_is_room_for_is_refused(clock: Clock) -> None:
    connection = holding(" ".join(f"<s{n}> <p> {n} ." for n in range(12)))
    async with in_context(clock, connection, most=10) as (broker, _):
        client = Client(broker)
        await subscribed(client, "SELECT * { ?s ?p ?o }", "SELECT ?o { <s1> <p> ?o }")
        (error,) = client.errors
        assert isinstance(error, ContextTooLarge)
        assert error.most == 10
        assert len(client.known) == 1
        await until(lambda: len(broker.store) == 1)
        with pytest.raises(ContextTooLarge):
            await broker.update("CLEAR ALL")
        await broker.update("DELETE WHERE { ?s <p> 1 }")
        check(client, connection)


@asynchronous
async def test_when_updates_make_contexts_larger_than_there_is_room_for_those_who_hold_most_are_let_go(
    clock: Clock, tmp_path: Path
) -> None:
    connection = holding("<s1> <p> 1 . <s1> <q> 1 . <s1> <r> 1, 2")
    async with in_context(clock, connection, tmp_path, most=10) as (broker, _):
        client, large = Client(broker), Client(broker)
        await subscribed(client, "SELECT ?o { <s1> <p> ?o }", "SELECT ?o { ?s <r> ?o }")
        await subscribed(large, "SELECT ?s { ?s <q> ?o }", "SELECT ?o { ?s <q> ?o }")
        await broker.update("INSERT DATA { " + " ".join(f"<s{n}> <q> {n} ." for n in range(2, 9)) + " }")
        await until(lambda: len(large.line.dismissed) == 2)
        assert all(reason.startswith("too_expensive: ") for reason in large.line.dismissed.values())
        await until(lambda: len(broker.store) == 3)
        assert broker.notifier.subscriptions_let_go == 2
        await broker.update("INSERT DATA { <s1> <p> 2 . <s9> <q> 9 }")
        assert len(client.known) == 2
        check(client, connection)
        assert len(connection.quads()) == 13, "everything else goes on"
    async with in_context(clock, connection, tmp_path, most=3) as (broker, _):
        await until(lambda: len(broker.store) <= 3)
        assert len(broker.subscriptions) == 1, "as after a start with less room"


@asynchronous
async def test_while_the_endpoint_is_away_nothing_is_promised(clock: Clock) -> None:
    connection = holding("<s1> <p> 1 . <s1> <q> 1")
    async with in_context(clock, connection) as (broker, mirror):
        client = Client(broker)
        await subscribed(client, ALL)
        connection.away = True
        replies = Replies(broker)
        replies.submit("DELETE WHERE { ?s <p> 1 }")
        await until(lambda: mirror.outage.trouble is not None)
        with pytest.raises(EndpointAway):
            await asked(broker, "ASK {}")
        await subscribed(client, "ASK { <s1> <q> 1 }", "ASK { <s1> <p> 1 }")
        assert [type(error) for error in client.errors] == [EndpointAway]
        assert len(client.known) == 2, "what is in memory can be subscribed to all the same"
        connection.away = False
        await until(lambda: replies.outcomes)
        assert isinstance(replies.outcomes[0][1], Done)
        check(client, connection)


@asynchronous
async def test_what_publishers_were_told_was_not_done_is_not_done_after_a_crash_either(
    clock: Clock, tmp_path: Path
) -> None:
    connection = holding("<s1> <n> 1 GRAPH <g> { <s1> <n> 1 }")
    before = connection.quads()
    async with in_context(clock, connection, tmp_path / "a", patience=5) as (broker, _):
        connection.breaks = "after"
        replies = Replies(broker)
        replies.submit("DELETE { <s1> <n> ?o } INSERT { <s1> <n> ?n } WHERE { <s1> <n> ?o BIND(?o + 1 AS ?n) }")
        await until(lambda: connection.away)
        assert connection.quads() != before, "the store has it, and has not said so"
        clock.pass_by(10)
        await until(lambda: replies.outcomes)
        assert isinstance(replies.outcomes[0][1], EndpointAway)
        folder = crashed(tmp_path / "a", tmp_path / "b")
    connection.away = False
    async with in_context(clock, connection, folder):
        assert connection.quads() == before, "and a default graph that has what the others have is no union of them"


@asynchronous
async def test_a_default_graph_that_shows_the_others_is_found_out() -> None:
    class Union(InProcess):
        async def boolean(self, text: str) -> bool:
            return text.startswith("ASK { <urn:tidings:trial:") or await super().boolean(text)

    for text in ("", "<s> <p> 1", "<s> <p> 1 GRAPH <g> { <s> <p> 1 }"):
        connection = Union()
        connection.store.update(f"BASE <{BASE}> INSERT DATA {{ {text} }}")
        quads = connection.quads()
        with pytest.raises(BadRequest, match="union"):
            await SparqlStore(connection).dialect()
        assert connection.quads() == quads, "the trial leaves nothing"


@asynchronous
async def test_an_endpoint_that_takes_no_updates_can_be_read() -> None:
    class ReadOnly(InProcess):
        async def update(self, text: str) -> None:
            raise EndpointRefused("nobody may write here")

    connection = ReadOnly()
    connection.store.update(f"BASE <{BASE}> INSERT DATA {{ <s> <p> 1 }}")
    assert (await SparqlStore(connection).compare(Store())).differences == ZSet.change(added=connection.quads())


@asynchronous
async def test_a_context_that_changes_while_it_is_fetched_is_right(clock: Clock) -> None:
    connection = holding("<s1> <p> 1 . <s2> <p> 2")
    async with in_context(clock, connection) as (broker, _):
        client = Client(broker)
        connection.turn.clear()
        replies = Replies(broker)
        replies.submit("DELETE DATA { <s1> <p> 1 } ; INSERT DATA { <s3> <p> 3 }")
        await until(lambda: broker.last_commit == 1)
        client.subscribe(ALL)
        await until(lambda: len(broker.store) == 2)
        replies.submit("DELETE DATA { <s2> <p> 2 }")
        connection.turn.set()
        await until(lambda: len(replies.done()) == 2)
        await until(lambda: client.known)
        check(client, connection)


@asynchronous
async def test_subscriptions_go_on_with_their_numbers_after_a_crash_and_see_what_others_changed(
    clock: Clock, tmp_path: Path
) -> None:
    connection = holding("<s1> <p> 1 . <s1> <q> 1")
    async with in_context(clock, connection, tmp_path / "a") as (broker, _):
        client = Client(broker)
        await subscribed(client, ALL)
        await broker.update(insert(2))
        folder = crashed(tmp_path / "a", tmp_path / "b")
        client.lose()
    connection.store.update(f"INSERT DATA {{ <{BASE}s7> <{BASE}p> 7 ; <{BASE}q> 7 }}")
    async with in_context(clock, connection, folder) as (broker, _):
        client.come_back(broker)
        client.resume(client.only.spuid)
        await until(lambda: client.only.resumed)
        assert client.only.resumed == [True]
        await broker.update("INSERT DATA { <s8> <p> 8 ; <q> 8 }")
        await until(lambda: len(client.only.answer) == 4)
        check(client, connection)
    with pytest.raises(NotInContextMode):
        opened(clock, folder)


@asynchronous
async def test_a_folder_that_is_of_a_broker_with_everything_in_memory_is_refused(clock: Clock, tmp_path: Path) -> None:
    async with opened(clock, tmp_path) as broker:
        await broker.update(insert(1))
    with pytest.raises(NotInContextMode):
        async with in_context(clock, InProcess(), tmp_path):
            pass


SPELLED: tuple[tuple[str, Callable[[set[str]], bool]], ...] = (
    ("INSERT DATA { <s> <p> 01 }", lambda objects: len(objects) == 1),
    ("DELETE { ?s <p> ?o } INSERT { ?s <p> 001 } WHERE { ?s <p> ?o }", lambda objects: len(objects) == 1),
    ("DELETE { ?s <p> ?o } WHERE { ?s <p> ?o }", lambda objects: not objects),
)


@asynchronous
async def test_a_literal_that_the_store_spells_otherwise_comes_and_goes_as_it_was_published(clock: Clock) -> None:
    connection = InProcess()
    async with in_context(clock, connection) as (broker, _):
        client = Client(broker)
        await subscribed(client, ALL)
        for text, is_right in SPELLED:
            await broker.update(text)
            assert is_right({row[1] or "" for row in client.only.answer}), (text, client.only.answer)
            assert len(connection.quads()) == len(client.only.answer), text


@asynchronous
async def test_rights_that_change_leave_a_subscription_with_what_is_in_memory_or_end_it(clock: Clock) -> None:
    connection = holding("GRAPH <g1> { <s> <p> 1 } GRAPH <g2> { <s> <p> 2 }")
    one, both = (Graphs(names=frozenset(f"<{BASE}{name}>" for name in names)) for names in (("g1",), ("g1", "g2")))
    async with in_context(clock, connection) as (broker, _):
        client = Client(broker, "ada", Rights(read=both, subscribe=both))
        await subscribed(client, "SELECT ?o { GRAPH ?g { <s> <p> ?o } }")
        assert len(client.only.answer) == 2
        broker.rights_changed("ada", Rights(read=one, subscribe=one), "less")
        await until(lambda: len(client.only.answer) == 1)
        await until(lambda: len(broker.store) == 1)
        await broker.update("INSERT DATA { GRAPH <g1> { <s> <p> 3 } GRAPH <g2> { <s> <p> 4 } }")
        assert len(client.only.answer) == len(broker.store) == 2
        broker.rights_changed("ada", Rights(read=both, subscribe=both), "more")
        await until(lambda: client.line.dismissed)
        await until(lambda: len(broker.store) == 0)
