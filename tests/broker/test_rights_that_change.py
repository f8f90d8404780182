"""Rights that change while a subscription lives: told as a change with a reason, durable, and exact at every commit."""

import shutil
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from broker.making import BASE, Client, Clock, crashed, full_disk, in_memory, opened, settled
from tidings.broker.policy import Policy
from tidings.broker.subscriptions.outbox import LOST
from tidings.broker.subscriptions.subscriber import UNKNOWN
from tidings.log.errors import LogWriteFailed
from tidings.model.access import ALL_RIGHTS, NO_RIGHTS, Graphs, Rights
from tidings.model.errors import TidingsError
from waiting import asynchronous

EVERY = "SELECT ?g ?s ?o { GRAPH ?g { ?s <p> ?o } }"
DATA = "INSERT DATA { <s> <p> 0 GRAPH <a> { <s> <p> 1 } GRAPH <b> { <s> <p> 2 } }"
TEXTS = (
    EVERY,
    "SELECT ?s ?o { ?s <p> ?o }",
    "SELECT ?s (COUNT(*) AS ?n) { GRAPH ?g { ?s <p> ?o } } GROUP BY ?s",
    "ASK { GRAPH <a> { ?s <p> ?o } }",
    "SELECT DISTINCT ?o { { ?s <p> ?o } UNION { GRAPH ?g { ?s <p> ?o } } }",
    "CONSTRUCT { ?s <q> ?g } { GRAPH ?g { ?s <p> ?o } }",
    "DESCRIBE ?s FROM <a> FROM <b> { ?s <p> ?o }",
    "SELECT * { GRAPH ?g { ?s <p> ?o } MINUS { ?s <p> ?o } }",
)


def some(*names: str, prefixes: tuple[str, ...] = ()) -> Rights:
    graphs = Graphs(names=frozenset(f"<{BASE}{name}>" if name else "" for name in names), prefixes=prefixes)
    return Rights(read=graphs, subscribe=graphs)


ONLY_A, A_AND_B, BY_PREFIX = some("a"), some("a", "b"), some("", prefixes=(BASE,))


@asynchronous
async def test_what_may_no_longer_be_seen_is_taken_away_with_the_reason(clock: Clock) -> None:
    async with in_memory(clock) as broker:
        await broker.update(DATA)
        anna, other = Client(broker, "anna", A_AND_B), Client(broker, "berta", A_AND_B)
        for client in (anna, other):
            client.subscribe(EVERY)
        anna.rights = ONLY_A
        broker.rights_changed("anna", ONLY_A, "the grant for <b> was revoked")
        assert anna.only.reasons == ["the grant for <b> was revoked"]
        assert (anna.only.sequence, other.only.sequence) == (1, 0)
        assert len(anna.only.answer) == 1
        anna.check()
        await broker.update("INSERT DATA { GRAPH <a> { <t> <p> 3 } GRAPH <b> { <t> <p> 4 } }")
        for client in (anna, other):
            client.check()
        assert anna.only.reasons[1:] == [None]


@asynchronous
async def test_what_may_be_seen_now_is_told_as_the_next_change(clock: Clock) -> None:
    async with in_memory(clock) as broker:
        await broker.update(DATA)
        anna = Client(broker, "anna", ONLY_A)
        anna.subscribe(EVERY)
        for number, rights in enumerate((BY_PREFIX, ALL_RIGHTS, ONLY_A, A_AND_B), start=1):
            anna.rights = rights
            broker.rights_changed("anna", rights, "granted")
            anna.check()
            assert anna.only.sequence == {1: 1, 2: 1, 3: 2, 4: 3}[number]  # everything is no more than the prefix has


@asynchronous
async def test_who_may_no_longer_subscribe_is_told_that_the_subscription_has_ended(clock: Clock) -> None:
    async with in_memory(clock) as broker:
        await broker.update(DATA)
        anna = Client(broker, "anna", ONLY_A)
        anna.subscribe(EVERY)
        spuid = anna.only.spuid
        broker.rights_changed("anna", NO_RIGHTS, "the client was revoked")
        assert anna.line.dismissed == {spuid: "the client was revoked"}
        assert anna.line.closed == []
        assert len(broker.subscriptions) == 0
        assert len(broker.engine.subscriptions) == 0


@asynchronous
async def test_the_same_rights_are_no_news(clock: Clock) -> None:
    async with in_memory(clock) as broker:
        await broker.update(DATA)
        anna = Client(broker, "anna", ONLY_A)
        anna.subscribe(EVERY)
        broker.rights_changed("anna", Rights(read=Graphs.ALL, write=Graphs.ALL, subscribe=ONLY_A.subscribe), "x")
        assert anna.only.sequence == 0


@asynchronous
async def test_one_connection_alone_may_have_other_rights(clock: Clock) -> None:
    async with in_memory(clock) as broker:
        await broker.update(DATA)
        first, second = Client(broker, "anna", A_AND_B), Client(broker, "anna", A_AND_B)
        for client in (first, second):
            client.subscribe(EVERY)
        first.rights = ONLY_A
        broker.rights_changed("anna", ONLY_A, "the token has expired", first.line.session)
        assert (first.only.sequence, second.only.sequence) == (1, 0)
        for client in (first, second):
            client.check()


@asynchronous
async def test_a_client_that_is_away_never_hears_what_it_may_not_see_any_more(clock: Clock) -> None:
    async with in_memory(clock) as broker:
        await broker.update(DATA)
        anna = Client(broker, "anna", A_AND_B)
        anna.subscribe(EVERY)
        anna.lose()
        await broker.update("INSERT DATA { GRAPH <b> { <secret> <p> 3 } }")
        anna.rights = ONLY_A
        broker.rights_changed("anna", ONLY_A, "revoked")
        seen = Counter(anna.only.answer)
        anna.come_back()
        anna.resume(anna.only.spuid)
        assert anna.only.resumed == [True]
        assert anna.only.answer <= seen
        anna.check()


@asynchronous
async def test_a_slow_client_gets_it_added_up_with_what_else_waits(clock: Clock) -> None:
    async with in_memory(clock) as broker:
        await broker.update(DATA)
        anna = Client(broker, "anna", A_AND_B)
        anna.subscribe(EVERY)
        anna.fill()
        await broker.update("INSERT DATA { GRAPH <b> { <t> <p> 3 } GRAPH <a> { <t> <p> 4 } }")
        anna.rights = ONLY_A
        broker.rights_changed("anna", ONLY_A, "revoked")
        await broker.update("INSERT DATA { GRAPH <a> { <u> <p> 5 } }")
        assert anna.only.sequence == 0
        anna.drain()
        await settled(broker)
        assert (anna.only.sequence, anna.only.reasons) == (1, ["revoked"])
        anna.check()


@asynchronous
async def test_an_answer_that_takes_too_long_is_told_anew(clock: Clock) -> None:
    async with in_memory(clock, Policy(slice_seconds=5.0)) as broker:
        await broker.update(DATA)
        anna = Client(broker, "anna", A_AND_B)
        anna.subscribe(EVERY)
        clock.step = 10.0  # whoever looks how long it took, finds that it took too long
        anna.rights = ONLY_A
        broker.rights_changed("anna", ONLY_A, "revoked")
        clock.step = 0.0
        assert anna.line.closed == [LOST]
        anna.come_back()
        anna.resume(anna.only.spuid)
        assert anna.only.resumed == [False]
        anna.check()


@asynchronous
async def test_a_query_for_the_time_is_told_what_its_plan_knows(clock: Clock) -> None:
    async with in_memory(clock) as broker:
        await broker.update(DATA)
        anna = Client(broker, "anna", A_AND_B)
        anna.subscribe("SELECT ?g ?now { GRAPH ?g { ?s <p> ?o } BIND (NOW() AS ?now) }")
        clock.pass_by(3)
        anna.rights = ONLY_A
        broker.rights_changed("anna", ONLY_A, "revoked")
        anna.check()


# -- durability -------------------------------------------------------------------------------------------------


@asynchronous
@pytest.mark.parametrize("rights", [ONLY_A, BY_PREFIX, ALL_RIGHTS])
@pytest.mark.parametrize("snapshot", [False, True])
async def test_a_change_of_rights_is_durable_and_can_be_resumed(
    clock: Clock, tmp_path: Path, rights: Rights, snapshot: bool
) -> None:
    async with opened(clock, tmp_path / "one") as broker:
        await broker.update(DATA)
        anna = Client(broker, "anna", A_AND_B)
        anna.subscribe(EVERY)
        await settled(broker)
        anna.rights = rights
        anna.lose()  # it does not hear of it, and comes back to another process
        broker.rights_changed("anna", rights, "changed")
        await broker.update("INSERT DATA { GRAPH <a> { <t> <p> 3 } GRAPH <b> { <t> <p> 4 } <t> <p> 5 }")
        await settled(broker)
        if snapshot and broker.snapshots is not None:
            await broker.snapshots.write()
        copy = crashed(tmp_path / "one", tmp_path / "two")
    async with opened(clock, copy) as broker:
        anna.come_back(broker)
        anna.resume(anna.only.spuid)
        await settled(broker)
        assert anna.only.resumed == [True]
        anna.check()
        await broker.update("CLEAR ALL")
        await settled(broker)
        anna.check()


@asynchronous
async def test_what_cannot_be_written_down_is_taken_all_the_same(clock: Clock, tmp_path: Path) -> None:
    async with opened(clock, tmp_path) as broker:
        await broker.update(DATA)
        anna = Client(broker, "anna", A_AND_B)
        anna.subscribe(EVERY)
        await settled(broker)
        anna.rights = ONLY_A
        with full_disk():
            broker.rights_changed("anna", ONLY_A, "revoked")
            with pytest.raises(LogWriteFailed):
                await broker.update("INSERT DATA { <x> <p> 1 }")
        assert anna.line.closed == [LOST]
        assert broker.find(anna.only.spuid).sequence == UNKNOWN
        assert broker.find(anna.only.spuid).rights == ONLY_A


# -- random policies and random histories -----------------------------------------------------------------------

_rights = st.sampled_from((ONLY_A, A_AND_B, BY_PREFIX, ALL_RIGHTS, some("b"), some(""), some("", "b")))
_quads = st.tuples(st.sampled_from("st"), st.integers(0, 3), st.sampled_from(("", "a", "b"))).map(
    lambda q: f"<{q[0]}> <p> {q[1]}" if not q[2] else f"GRAPH <{q[2]}> {{ <{q[0]}> <p> {q[1]} }}"
)
_updates = st.tuples(st.sampled_from(("INSERT DATA", "INSERT DATA", "DELETE DATA")), _quads).map(
    lambda u: f"{u[0]} {{ {u[1]} }}"
)
_steps = st.one_of(
    _updates,
    _updates,
    _rights,
    st.sampled_from(("lose", "come back", "fill", "drain", "settle", "snapshot", "crash")),
)


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(texts=st.lists(st.sampled_from(TEXTS), min_size=1, max_size=3, unique=True), steps=st.lists(_steps, max_size=14))
def test_what_a_client_was_told_is_always_the_query_over_the_graphs_it_may_read(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], steps: list[str | Rights]
) -> None:
    folder = tmp_path_factory.mktemp("history")
    try:
        live(folder, texts, steps)
    finally:
        shutil.rmtree(folder)


@asynchronous
async def live(folder: Path, texts: list[str], steps: list[str | Rights]) -> None:
    clock = Clock()
    lives = [folder / "0"]
    broker = await opened(clock, lives[0]).__aenter__()
    anna = Client(broker, "anna", A_AND_B)
    for text in texts:
        anna.subscribe(text)
    await settled(broker)
    away = False
    for step in [*steps, "settle"]:
        match step:
            case Rights():
                anna.rights = step
                broker.rights_changed("anna", step, "changed")
            case "lose" if not away:
                anna.lose()
                away = True
            case "come back" if away:
                await back(anna)
                away = False
            case "fill" if not away:
                anna.fill()
            case "drain" | "settle" if not away:
                anna.drain()
                await settled(broker)
                anna.check()
            case "snapshot":
                assert broker.snapshots is not None
                await broker.snapshots.write()
            case "crash":
                await settled(broker)
                lives.append(crashed(lives[-1], folder / str(len(lives))))
                anna.line.down = True
                await broker.__aexit__(None, None, None)
                broker = await opened(clock, lives[-1]).__aenter__()
                anna.come_back(broker)
                await back(anna)
                away = False
            case str() if step.startswith(("INSERT", "DELETE")):
                await broker.update(step)
            case _:
                pass
    if away:
        await back(anna)
    anna.drain()
    await settled(broker)
    assert anna.errors == []
    anna.check()
    await broker.__aexit__(None, None, None)


async def back(anna: Client) -> None:
    anna.come_back()
    for spuid in list(anna.known):
        anna.resume(spuid)
    await settled(anna.broker)
    errors: list[TidingsError] = anna.errors
    assert errors == []


@asynchronous
async def test_rights_that_change_while_a_client_comes_back_are_those_it_gets(clock: Clock, tmp_path: Path) -> None:
    async with opened(clock, tmp_path) as broker:
        await broker.update(DATA)
        anna = Client(broker, "anna", A_AND_B)
        anna.subscribe(EVERY)
        await settled(broker)
        anna.lose()
        broker.submit("INSERT DATA { GRAPH <b> { <t> <p> 3 } }", None, lambda _: None)
        anna.come_back()
        anna.resume(anna.only.spuid)  # which waits for the disk
        anna.rights = ONLY_A
        broker.rights_changed("anna", ONLY_A, "revoked")
        await settled(broker)
        anna.check()
        assert [each.rights for each in broker.subscribers()] == [ONLY_A]
