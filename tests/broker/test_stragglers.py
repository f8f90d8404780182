"""One subscription of the worst kind beside others: those are told first, and it is told late, exactly and in order.

How much a step may cost is counted, not timed, so what goes aside here goes aside on any machine."""

from pathlib import Path

from hypothesis import given

from broker.histories import Step, histories, lived_through
from broker.making import BEGIN, Client, Clock, crashed, in_memory, opened, settled
from strategies.examples import share
from tidings.broker.policy import WORK_OF_A_SECOND, Policy
from waiting import PATIENCE, asynchronous, until

BAD = "SELECT ?a ?c { ?a <p> ?b . ?b <q> ?c }"
COUNT = "SELECT ?b (COUNT(*) AS ?n) { ?a <p> ?b . ?b <q> ?c } GROUP BY ?b"
"""Both go through a hub: whatever changes at one side of it changes a row for each of the other."""
SIZE = 40
GOOD = 50


def slice_for(work: int) -> float:
    return work / WORK_OF_A_SECOND


def strict(work: int = 20, **changes: object) -> Policy:
    """A policy under which a step may look up so many rows."""
    return Policy(slice_seconds=slice_for(work), planning=PATIENCE, **changes)  # type: ignore[arg-type]


def hub() -> str:
    return "INSERT DATA {" + " ".join(f"<x{n}> <p> <hub> . <hub> <q> <y{n}> ." for n in range(SIZE)) + "}"


@share(8)
@given(histories)
def test_whatever_happens_to_plans_that_are_behind_a_broker_comes_back_as_it_was(history: list[Step]) -> None:
    lived_through(history, crashes=True, troubled=True, slice=slice_for(4))


@asynchronous
async def test_good_subscriptions_are_told_while_a_bad_one_is_behind(clock: Clock) -> None:
    async with in_memory(clock, strict()) as broker:
        await broker.update(hub())
        bad, counting = Client(broker), Client(broker)
        bad.subscribe(BAD)
        counting.subscribe(COUNT)
        good = [Client(broker) for _ in range(GOOD)]
        for n, client in enumerate(good):
            client.subscribe(f"SELECT ?o {{ <s{n}> <is> ?o }}")
        await settled(broker)
        for n in range(GOOD):
            await broker.update(f"INSERT DATA {{ <z{n}> <p> <hub> . <s{n}> <is> {n} }}")
            assert good[n].only.sequence == 1, "it is told with the commit"
            assert bad.only.answer != {}, "and the others when they are"
        assert broker.status().behind
        await settled(broker)
        for client in (*good, bad, counting):
            client.check()
        assert bad.only.commits[-1] == broker.last_commit
        assert bad.only.commits == sorted(bad.only.commits)
        assert bad.only.sequence < GOOD, "what changed meanwhile is told together"
        assert broker.status().rounds_aside
        assert broker.explain(broker.find(bad.only.spuid)).aside
        assert not broker.status().behind


@asynchronous
async def test_whoever_subscribes_to_what_is_behind_waits_until_it_has_caught_up(clock: Clock) -> None:
    async with in_memory(clock, strict()) as broker:
        await broker.update(hub())
        first, second = Client(broker), Client(broker)
        first.subscribe(COUNT)
        await settled(broker)
        await broker.update("INSERT DATA { <z> <p> <hub> }")
        assert broker.subscriptions.behind
        second.subscribe(COUNT)
        assert not second.known
        await until(lambda: second.known)
        await broker.update("DELETE DATA { <z> <p> <hub> }")
        await settled(broker)
        first.check()
        second.check()


@asynchronous
async def test_what_costs_too_much_is_let_go_and_told_why(clock: Clock) -> None:
    async with in_memory(clock, strict(behind=-1.0)) as broker:
        await broker.update(hub())
        bad, good = Client(broker), Client(broker)
        bad.subscribe(BAD)
        good.subscribe("SELECT ?a { ?a <p> <hub> }")
        await settled(broker)
        await broker.update("INSERT DATA { <z> <p> <hub> }")
        await until(lambda: bad.line.dismissed)
        (reason,) = bad.line.dismissed.values()
        assert reason.startswith("too_expensive: ")
        assert "max_behind" in reason
        assert broker.status().let_go == 1
        await settled(broker)
        good.check()
        assert len(broker.subscriptions) == 1


@asynchronous
async def test_a_client_that_goes_away_while_its_plan_is_behind_is_told_when_it_comes_back(
    clock: Clock, tmp_path: Path
) -> None:
    async with opened(clock, tmp_path / "a", slice=slice_for(20)) as broker:
        await broker.update(hub())
        client = Client(broker)
        client.subscribe(BAD)
        await settled(broker)
        for n in range(3):
            await broker.update(f"INSERT DATA {{ <z{n}> <p> <hub> }}")
        await broker.update("DELETE DATA { <z0> <p> <hub> }")
        assert broker.subscriptions.behind
        client.lose()
        client.come_back()
        client.resume(client.only.spuid)
        await settled(broker)
        client.check()
        assert client.only.resumed == [True]
        second = opened(clock, crashed(tmp_path / "a", tmp_path / "b"), slice=slice_for(20))
    async with second:
        client.come_back(second)
        client.resume(client.only.spuid)
        await second.update("INSERT DATA { <z4> <p> <hub> }")
        await settled(second)
        client.check()
        assert client.only.resumed == [True, True]
        assert second.now() == BEGIN


@asynchronous
async def test_a_first_answer_whose_plan_has_much_to_remember_is_found_aside(clock: Clock) -> None:
    async with in_memory(clock, strict()) as broker:
        await broker.update(hub())
        client = Client(broker)
        client.subscribe("ASK { ?a <p> ?b }")
        assert not client.known, "one row is enough for the answer, but all are counted"
        await settled(broker)
        await until(lambda: client.known)
        await broker.update("DELETE WHERE { ?a <p> ?b }")
        await settled(broker)
        client.check()
