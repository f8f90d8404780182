"""Rights below all gates: whatever the broker is asked for, it sees and changes what the asker may."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from broker.making import ALL, BASE, Client, Clock, Gate, in_memory, long, opened, settled, work_aside_waits_for
from tidings.broker.asking.in_memory import InMemory
from tidings.broker.broker import Broker
from tidings.broker.errors import NotYours, UnknownSubscription
from tidings.broker.ownership import everything
from tidings.broker.policy import Policy
from tidings.broker.queries import Queries
from tidings.broker.subscriptions.stored import Record
from tidings.broker.updates.accepted import Outcome
from tidings.broker.updates.graph_change import GraphChange
from tidings.engine.plans.spu import answer_rows
from tidings.log.entry import Entry, Note
from tidings.model.access import ALL_RIGHTS, NO_RIGHTS, Graphs, Rights
from tidings.model.errors import GraphNotWritable, MayNotSubscribe
from tidings.model.results import Result
from waiting import asynchronous

EVERY = "SELECT ?g ?s ?o { GRAPH ?g { ?s <p> ?o } }"
DATA = "INSERT DATA { <s> <p> 0 GRAPH <a> { <s> <p> 1 } GRAPH <b> { <s> <p> 2 } }"


def iri(name: str) -> str:
    return f"<{BASE}{name}>"


def graphs(*names: str) -> Graphs:
    return Graphs(names=frozenset(iri(name) if name else "" for name in names))


def rights(*names: str, write: Graphs = Graphs.NONE) -> Rights:
    return Rights(read=graphs(*names), write=write, subscribe=graphs(*names))


def written(result: Result) -> tuple[str, Iterable[bytes]]:
    return "text/plain", [repr(sorted(answer_rows(result))).encode()]


async def asked(broker: Broker, text: str, who: Rights) -> str:
    with (await broker.query(text, None, written, who)).file as file:
        return file.read().decode()


@asynchronous
async def test_a_query_sees_the_readable_graphs_also_in_a_fork(clock: Clock) -> None:
    for seconds in (5.0, -1.0):  # within the slice, and in a fork
        async with in_memory(clock, Policy(slice_seconds=5.0)) as broker:
            await broker.update(DATA)
            queries = Queries(
                broker.engine, broker.commit_log, broker.forks,
                slice_seconds=seconds, seconds=30.0, rows=None, clock=clock.monotonic,
            )  # fmt: skip
            broker.asking = InMemory(broker.engine, queries, broker.forks, broker.updates.whole, broker.now)
            assert (await asked(broker, EVERY, rights("a"))).count(iri("s")) == 1
            assert (await asked(broker, EVERY, NO_RIGHTS)) == "[]"
            assert (await asked(broker, EVERY, ALL_RIGHTS)).count(iri("s")) == 2
            assert queries.aside == (0 if seconds > 0 else 3)


@asynchronous
async def test_every_way_of_an_update_is_held_to_its_rights(clock: Clock) -> None:
    async with in_memory(clock) as broker:
        await broker.update(DATA)
        before = set(broker.store)
        who = rights("a", write=graphs("b"))
        outcomes: list[Outcome] = []
        broker.submit("INSERT DATA { GRAPH <a> { <s> <p> 9 } }", None, outcomes.append, rights=who)
        template = broker.prepare("INSERT DATA { GRAPH <a> { <s> <p> ?v } }")
        broker.submit_bound(template.bind({"v": '"9"'}), outcomes.append, rights=who)
        assert [type(each) for each in outcomes] == [GraphNotWritable, GraphNotWritable]
        with pytest.raises(GraphNotWritable):
            await broker.update("CLEAR GRAPH <a>", rights=who)
        with pytest.raises(GraphNotWritable):
            await broker.change(GraphChange(iri("a"), True, 0, lambda: ()), rights=who)
        assert set(broker.store) == before


@asynchronous
async def test_an_update_aside_is_held_to_its_rights(clock: Clock, tmp_path: Path) -> None:
    gate = Gate(tmp_path / "gate")
    gate.open()
    async with in_memory(clock) as broker:
        await broker.update(DATA)
        before = set(broker.store)
        with work_aside_waits_for(gate):
            with pytest.raises(GraphNotWritable):
                await broker.update(long("INSERT DATA { GRAPH <a> { <s> <p> 9 } }"), rights=rights("a"))
            text = "INSERT { GRAPH <c> { ?s <p> ?o } } WHERE { GRAPH ?g { ?s <p> ?o } }"
            await broker.update(long(text), rights=rights("a", write=graphs("c")))
        assert broker.updates.aside == 2
        assert set(broker.store) - before == {(iri("s"), iri("p"), f'"1"^^<{INTEGER}>', iri("c"))}


INTEGER = "http://www.w3.org/2001/XMLSchema#integer"


@asynchronous
async def test_a_publisher_is_told_what_changed_where_it_may_read(clock: Clock) -> None:
    async with in_memory(clock) as broker:
        both = "INSERT DATA { GRAPH <a> { <s> <p> 1 } GRAPH <b> { <s> <p> 2 } }"
        done = await broker.update(both, rights=rights("a", write=graphs("a", "b")))
        assert (done.commit, done.added, done.removed) == (1, 1, 0)


@asynchronous
async def test_whether_a_graph_existed_is_told_to_who_may_read_it(clock: Clock) -> None:
    async with in_memory(clock) as broker:
        await broker.update(DATA)
        for who, existed in ((rights("a", write=graphs("a")), True), (rights(write=graphs("a")), False)):
            change = GraphChange(iri("a"), False, 0, lambda: ())
            await broker.change(change, rights=who)
            assert change.existed is existed


@asynchronous
async def test_followers_of_the_log_are_told_of_every_commit_and_of_the_quads_they_may_read(clock: Clock) -> None:
    async with in_memory(clock) as broker:
        entries: list[Entry] = []
        broker.follow(entries.append, rights("a"))
        await broker.update(DATA, publisher="me")
        await broker.update("DELETE DATA { GRAPH <b> { <s> <p> 2 } }", publisher="me")
        assert [entry.commit for entry in entries] == [1, 2]
        assert [dict(entry.delta.items()) for entry in entries] == [
            {(iri("s"), iri("p"), f'"1"^^<{INTEGER}>', iri("a")): 1},
            {},
        ]
        assert [entry.publisher for entry in entries] == ["me", None]
        broker.unfollow(entries.append)
        await broker.update("CLEAR ALL")
        assert len(entries) == 2


@asynchronous
async def test_the_status_counts_what_may_be_read(clock: Clock) -> None:
    async with in_memory(clock) as broker:
        await broker.update(DATA)
        seen = [broker.status(who) for who in (ALL_RIGHTS, rights("a"), rights("", "a"), NO_RIGHTS)]
        assert [(each.quads, each.graphs) for each in seen] == [(3, 2), (1, 1), (2, 1), (0, 0)]


# -- subscriptions ----------------------------------------------------------------------------------------------


@asynchronous
async def test_subscribers_hear_of_the_graphs_they_may_subscribe_to(clock: Clock) -> None:
    async with in_memory(clock) as broker:
        await broker.update(DATA)
        clients = [Client(broker, rights=who) for who in (rights("a"), rights("b"), ALL_RIGHTS, rights("nowhere"))]
        for client in clients:
            client.subscribe(EVERY)
        await broker.update("INSERT DATA { GRAPH <a> { <t> <p> 3 } } ; DELETE DATA { GRAPH <b> { <s> <p> 2 } }")
        for client in clients:
            client.check()
        assert [client.only.sequence for client in clients] == [1, 1, 1, 0]


@asynchronous
async def test_who_may_subscribe_to_nothing_is_refused(clock: Clock) -> None:
    async with in_memory(clock) as broker:
        with pytest.raises(MayNotSubscribe):
            Client(broker, rights=Rights(read=Graphs.ALL)).subscribe(ALL)
        assert len(broker.subscriptions) == 0


@asynchronous
async def test_a_subscription_is_ended_and_resumed_by_its_owner_or_an_administrator_only(clock: Clock) -> None:
    async with in_memory(clock) as broker:
        anna = Client(broker, "anna", rights(""))
        anna.subscribe(ALL)
        spuid = anna.only.spuid
        anna.lose()
        for who, what in (
            ("berta", rights("")),
            (None, rights("")),
            ("berta", Rights(Graphs.ALL, Graphs.ALL, Graphs.ALL)),
        ):
            other = Client(broker, who, what)
            other.known[spuid] = anna.only
            with pytest.raises(NotYours):
                other.resume(spuid)
            with pytest.raises(NotYours):
                other.unsubscribe(spuid)
            with pytest.raises(UnknownSubscription):
                broker.find(spuid, who, what)
            assert list(broker.subscribers(who, what)) == []
        assert [each.spuid for each in broker.subscribers("anna", rights(""))] == [spuid]
        assert broker.find(spuid, "anna", rights("")).owner == "anna"
        anna.come_back()
        anna.resume(spuid)
        assert anna.only.resumed == [True]
        second = Client(broker, "anna", rights(""))  # another connection of the same subject
        second.known[spuid] = anna.only
        second.unsubscribe(spuid)
        anna.known.clear()
        anna.subscribe(ALL)
        boss = Client(broker, "boss", Rights(administer=True))
        boss.known = dict(anna.known)
        assert broker.find(anna.only.spuid, "boss", boss.rights).owner == "anna"
        boss.unsubscribe(anna.only.spuid)
        assert len(broker.subscriptions) == 0


@asynchronous
async def test_who_comes_back_with_other_rights_gets_a_fresh_answer_with_these(clock: Clock) -> None:
    async with in_memory(clock) as broker:
        await broker.update(DATA)
        client = Client(broker, rights=rights("a", "b"))
        client.subscribe(EVERY)
        client.lose()
        await broker.update("INSERT DATA { GRAPH <b> { <t> <p> 3 } }")
        client.rights = rights("a")
        client.come_back()
        client.resume(client.only.spuid)
        assert client.only.resumed == [False]
        client.check()
        assert len(client.only.answer) == 1


@asynchronous
async def test_an_owner_and_its_rights_survive_a_restart(clock: Clock, tmp_path: Path) -> None:
    async with opened(clock, tmp_path) as broker:
        await broker.update(DATA)
        client = Client(broker, "anna", rights("a"))
        client.subscribe(EVERY)
        await settled(broker)
        client.lose()
    async with opened(clock, tmp_path) as broker:
        await broker.update("INSERT DATA { GRAPH <a> { <t> <p> 3 } GRAPH <b> { <t> <p> 4 } }")
        client.come_back(broker)
        with pytest.raises(NotYours):
            broker.unsubscribe(None, client.only.spuid, lambda: None, asker="berta", rights=rights("a"))
        client.resume(client.only.spuid)
        await settled(broker)
        assert client.only.resumed == [True]
        client.check()


def test_a_subscription_of_a_log_from_before_there_were_rights_sees_everything_and_is_nobodys() -> None:
    record = Record.read({"spuid": "urn:uuid:1", "sparql": ALL, "sequence": 3})
    assert record.rights is ALL_RIGHTS
    assert record.owner is None
    assert Record.read(record.to_json()) == record
    assert "owner" not in record.to_json()


# -- delayed updates --------------------------------------------------------------------------------------------


@asynchronous
async def test_a_delayed_update_may_do_what_its_owner_may_then_and_when_it_is_due(clock: Clock, tmp_path: Path) -> None:
    may = {"anna": ALL_RIGHTS, "berta": rights(write=graphs("a")), "carla": rights(write=graphs("a"))}
    async with opened(clock, tmp_path) as broker:
        broker.ownership.rights_of = lambda owner: may[owner or ""]
        at = broker.now() + 1_000_000
        for owner, accepted in (("anna", rights(write=graphs("b"))), ("berta", may["berta"]), ("carla", may["carla"])):
            text = f"INSERT DATA {{ GRAPH <a> {{ <{owner}> <p> 1 }} }}"
            await broker.delay(text, None, at, owner=owner, rights=accepted)
    async with opened(clock, tmp_path) as broker:
        may["carla"] = NO_RIGHTS
        broker.ownership.rights_of = lambda owner: may[owner or ""]
        clock.pass_by(2)
        broker.run_due()
        await settled(broker)
        # Anna might not write it then, Carla may not now.
        assert {quad[0] for quad in broker.store} == {iri("berta")}
        assert (broker.delayed.done, broker.delayed.failed) == (3, 2)


@asynchronous
async def test_a_delayed_update_of_a_log_from_before_there_were_rights_is_carried_out(clock: Clock) -> None:
    async with in_memory(clock) as broker:
        broker.facts.restore(Note("delay", {"id": "1", "at": broker.now(), "sparql": "INSERT DATA { <s> <p> 1 }"}))
        broker.run_due()
        await settled(broker)
        assert len(broker.store) == 1


@asynchronous
async def test_a_delayed_update_is_cancelled_by_its_owner_or_an_administrator_only(clock: Clock) -> None:
    async with in_memory(clock) as broker:
        at = broker.now() + 1_000_000
        first, second = [await broker.delay("CLEAR ALL", None, at, owner="anna", rights=NO_RIGHTS) for _ in range(2)]
        with pytest.raises(NotYours):
            await broker.cancel_delayed(first.id, "berta", rights("a"))
        await broker.cancel_delayed(first.id, "anna", rights("a"))
        await broker.cancel_delayed(second.id, "boss", Rights(administer=True))
        assert len(broker.schedule) == 0


def test_where_nobody_is_asked_everybody_may_do_everything() -> None:
    assert everything(None) is everything("anybody") is ALL_RIGHTS
