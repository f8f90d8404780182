"""A store of record behind the broker: it has every commit before anybody is told, whatever happens to either."""

import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.elsewhere import Elsewhere, Found, mirrored
from broker.making import ALL, BASE, Client, Clock, Replies, delete, full_disk, in_memory, insert, quads_of
from tidings.broker.durability.commit_log import CommitLog
from tidings.broker.errors import NoEndpoint
from tidings.broker.record.intents import Intents
from tidings.broker.record.mirror import Mirror
from tidings.broker.updates.accepted import Done
from tidings.engine.store.store import Store
from tidings.model.errors import EndpointDiffers, TidingsError
from tidings.model.terms import Quad
from tidings.model.zset import ZSet
from waiting import asynchronous, until

INTEGER = "^^<http://www.w3.org/2001/XMLSchema#integer>"


def quad(n: int) -> Quad:
    return f"<{BASE}s{n}>", f"<{BASE}p>", f'"{n}"{INTEGER}', ""


@given(st.lists(st.lists(st.tuples(st.integers(0, 9), st.booleans()), min_size=1, max_size=4), max_size=40))
def test_what_the_store_had_lately_is_the_last_state_of_each_quad(commits: list[list[tuple[int, bool]]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tidings.broker.record.intents.REMEMBERED", 6)
        intents, last = Intents(CommitLog(lambda: 0)), dict[Quad, bool]()
        for changes in commits:
            states = {quad(n): there for n, there in changes}
            for each, there in states.items():
                last.pop(each, None)
                last[each] = there
            intents.agree(ZSet.owning({each: 1 if there else -1 for each, there in states.items()}))
        agreed = list(intents.agreed.items())
        assert agreed == list(last.items())[len(last) - len(agreed) :]
        assert agreed or not commits


# -- while all is well ------------------------------------------------------------------------------------------


@asynchronous
async def test_a_broker_begins_with_what_the_store_has_and_tells_nobody_before_the_store_has_it(clock: Clock) -> None:
    elsewhere = Elsewhere(quad(1))
    async with mirrored(clock, elsewhere) as (broker, _):
        client = Client(broker)
        client.subscribe(ALL)
        assert len(client.only.answer) == 1
        elsewhere.turn.clear()
        replies = Replies(broker)
        for n in range(2, 6):
            replies.submit(insert(n))
        asking = asyncio.create_task(broker.query("ASK { <s5> <p> 5 }", None, lambda _: ("text/plain", [b"yes"])))
        await until(lambda: elsewhere.requests)
        assert not replies.outcomes
        assert not asking.done()
        elsewhere.turn.set()
        (await asking).file.close()
        await until(lambda: len(replies.done()) == 4)
        assert elsewhere.quads == quads_of(broker) == {quad(n) for n in range(1, 6)}
        client.check()


@asynchronous
async def test_a_broker_that_has_asked_and_was_answered_does_not_say_that_it_waits(clock: Clock) -> None:
    """However long the answer took."""

    class Slow(Elsewhere):
        async def compare(self, store: Store) -> Found:
            await self.turn.wait()
            return await super().compare(store)

    elsewhere = Slow(quad(1))
    elsewhere.turn.clear()
    async with in_memory(clock) as broker:
        mirror = Mirror(broker, elsewhere, patience=0.0)
        beginning = asyncio.create_task(mirror.begin())
        await until(lambda: mirror.outage.trying)
        elsewhere.turn.set()
        while mirror.outage.trouble is not None:
            assert mirror.outage.trying
            await asyncio.sleep(0)
        await beginning
        assert not mirror.outage.trying


@asynchronous
async def test_an_error_about_what_can_still_be_undone_waits_for_it(clock: Clock) -> None:
    """Whoever is told that a graph exists must not find out later that it never did."""
    elsewhere = Elsewhere()
    elsewhere.refuses = lambda each: each == (*quad(1)[:3], f"<{BASE}g>")
    async with mirrored(clock, elsewhere) as (broker, _):
        elsewhere.turn.clear()
        replies = Replies(broker)
        replies.submit("INSERT DATA { GRAPH <g> { <s1> <p> 1 } }")
        replies.submit("CREATE GRAPH <g>")
        replies.submit("INSERT DATA { <s1> <p>")
        await until(lambda: elsewhere.requests)
        at_once = [error.code for error in replies.errors()]
        elsewhere.turn.set()
        assert at_once == ["sparql_syntax_error"], "other errors need not wait"
        await until(lambda: len(replies.outcomes) == 3)
        assert [number for number, outcome in replies.outcomes if isinstance(outcome, Done)] == [1]
        assert broker.updates.failed == 2


@asynchronous
async def test_what_comes_while_the_store_is_busy_goes_together(clock: Clock) -> None:
    elsewhere = Elsewhere()
    async with mirrored(clock, elsewhere) as (broker, _):
        elsewhere.turn.clear()
        replies = Replies(broker)
        replies.submit(insert(1))
        await until(lambda: elsewhere.requests)
        for n in range(2, 20):
            replies.submit(insert(n))
        replies.submit(delete(2))
        elsewhere.turn.set()
        await until(lambda: len(replies.done()) == 20)
        assert len(elsewhere.requests) == 2
        assert elsewhere.requests[1][quad(2)] is False
        assert elsewhere.quads == quads_of(broker)
        assert [done.commit for done in replies.done()] == list(range(1, 21))


# -- away and back ----------------------------------------------------------------------------------------------


@asynchronous
@pytest.mark.parametrize("taken", [0, 1, 3])
async def test_updates_wait_for_a_store_that_breaks_off_and_are_done_once(
    clock: Clock, tmp_path: Path, taken: int
) -> None:
    elsewhere = Elsewhere(quad(1))
    async with mirrored(clock, elsewhere, tmp_path / "a") as (broker, mirror):
        client = Client(broker)
        client.subscribe(ALL)
        elsewhere.breaks = taken
        replies = Replies(broker)
        replies.submit("DELETE { ?s <p> ?o } INSERT { ?s <p> 7, 8, 9 } WHERE { ?s <p> ?o }")
        replies.submit(insert(3))
        await until(lambda: elsewhere.away and mirror.outage.trouble)
        assert quads_of(broker) == {quad(1)}, "what the store may not have is not shown"
        spool = await broker.query("ASK {}", None, lambda _: ("text/plain", [b"yes"]))
        with spool.file as file:
            assert file.read() == b"yes", "queries go on from memory"
        assert mirror.status().state == "endpoint_away"
        client.subscribe("ASK { <s3> <p> 3 }")
        await until(lambda: len(client.known) == 2)
        elsewhere.away = False
        await until(lambda: len(replies.outcomes) == 2)
        assert [type(outcome) for _, outcome in replies.outcomes] == [Done, Done]
        assert elsewhere.quads == quads_of(broker)
        assert len(elsewhere.quads) == 4
        client.check()
        assert mirror.status().state == "ok"


@asynchronous
async def test_updates_that_have_waited_long_are_refused_and_leave_nothing(clock: Clock) -> None:
    elsewhere = Elsewhere()
    async with mirrored(clock, elsewhere, patience=5.0) as (broker, _):
        elsewhere.breaks = 0
        replies = Replies(broker)
        replies.submit(insert(1))
        await until(lambda: elsewhere.away)
        clock.pass_by(3.0)
        replies.submit(insert(2))
        clock.pass_by(3.0)
        await until(replies.errors)
        assert [error.code for error in replies.errors()] == ["endpoint_away"]
        assert replies.order == [0]
        elsewhere.away = False
        await until(replies.done)
        assert elsewhere.quads == quads_of(broker) == {quad(2)}


@asynchronous
async def test_the_one_update_that_the_store_refuses_is_refused_and_others_are_not(clock: Clock) -> None:
    elsewhere = Elsewhere()
    elsewhere.refuses = lambda each: each == quad(3)
    async with mirrored(clock, elsewhere) as (broker, mirror):
        elsewhere.turn.clear()
        replies = Replies(broker)
        for n in range(1, 6):
            replies.submit(insert(n))
        elsewhere.turn.set()
        await until(lambda: len(replies.outcomes) == 5)
        assert [error.code for error in replies.errors()] == ["endpoint_refused"]
        assert elsewhere.quads == quads_of(broker) == {quad(n) for n in (1, 2, 4, 5)}
        assert mirror.status().outages == 0


@asynchronous
async def test_what_the_store_has_stays_done_though_the_disk_is_full_and_is_written_down_later(
    clock: Clock, tmp_path: Path
) -> None:
    elsewhere = Elsewhere()
    async with mirrored(clock, elsewhere, tmp_path / "a") as (broker, mirror):
        await broker.update(insert(1))
        replies = Replies(broker)
        elsewhere.turn.clear()
        replies.submit(insert(2))
        await until(lambda: len(elsewhere.requests) == 2)  # the intent is in the log
        with full_disk():
            elsewhere.turn.set()
            await until(lambda: replies.outcomes)
            with pytest.raises(TidingsError):
                await broker.commit_log.written()
            replies.submit(insert(3))
            await until(replies.errors)
        assert [error.status for error in replies.errors()] == [507]
        await broker.update(insert(4))
        assert broker.commit_log.journal is not None
        await broker.commit_log.written()
        assert broker.commit_log.journal.durable.commit == broker.last_commit == 3
        assert elsewhere.quads == quads_of(broker) == {quad(1), quad(2), quad(4)}
        assert mirror.status().state == "ok"
    async with mirrored(clock, elsewhere, tmp_path / "a") as (broker, _):
        assert quads_of(broker) == {quad(1), quad(2), quad(4)}


@asynchronous
async def test_a_log_that_fails_takes_back_what_others_wait_for_that_is_not_in_it(clock: Clock, tmp_path: Path) -> None:
    """A subscription is before the commit, and nobody is told out of turn."""
    elsewhere = Elsewhere()
    async with mirrored(clock, elsewhere, tmp_path / "a") as (broker, mirror):
        await broker.update(insert(1))
        replies, client = Replies(broker), Client(broker)
        elsewhere.turn.clear()
        replies.submit(insert(2))
        client.subscribe(ALL)
        replies.submit(insert(3))
        await until(lambda: len(elsewhere.requests) == 2)
        with full_disk():
            elsewhere.turn.set()
            await until(replies.errors)
        await until(lambda: mirror.outage.trouble is None)
        assert [error.status for error in replies.errors()] == [507]
        assert elsewhere.quads == quads_of(broker) == {quad(1), quad(2)}


@asynchronous
async def test_a_subscription_that_waits_before_an_update_is_written_down_as_is_the_update(
    clock: Clock, tmp_path: Path
) -> None:
    elsewhere = Elsewhere()
    async with mirrored(clock, elsewhere, tmp_path / "a") as (broker, _):
        replies, client = Replies(broker), Client(broker)
        elsewhere.turn.clear()
        replies.submit(insert(1))
        await until(lambda: elsewhere.requests)
        clock.pass_by(1)
        client.subscribe(ALL)
        clock.pass_by(1)
        replies.submit(insert(2))
        elsewhere.turn.set()
        await until(lambda: len(replies.outcomes) == 2)
        await broker.commit_log.idle()
        assert not replies.errors()
        client.check()
    async with mirrored(clock, elsewhere, tmp_path / "a") as (broker, _):
        assert elsewhere.quads == quads_of(broker) == {quad(1), quad(2)}
        assert len(broker.subscriptions) == 1


# -- behind our back --------------------------------------------------------------------------------------------


@asynchronous
async def test_changes_behind_our_back_are_one_commit_that_subscribers_are_told_of(clock: Clock) -> None:
    elsewhere = Elsewhere(quad(1), quad(2))
    async with mirrored(clock, elsewhere) as (broker, mirror):
        client = Client(broker)
        client.subscribe(ALL)
        elsewhere.quads ^= {quad(1), quad(7), quad(8)}
        looked = await broker.reconcile("endpoint", dry=True)
        assert (looked.added, looked.removed, looked.commit) == (2, 1, None)
        before = broker.last_commit
        found = await broker.reconcile("endpoint")
        assert (found.added, found.removed, found.commit) == (2, 1, before + 1)
        assert client.only.sequence == 1
        client.check()
        elsewhere.quads.discard(quad(2))
        assert (await broker.reconcile("broker")).commit is None
        assert elsewhere.quads == quads_of(broker)
        assert mirror.status().reconciliations == 3


@asynchronous
async def test_a_broker_without_an_endpoint_has_nothing_to_reconcile(clock: Clock) -> None:
    from broker.making import in_memory

    async with in_memory(clock) as broker:
        with pytest.raises(NoEndpoint):
            await broker.reconcile("endpoint")


@asynchronous
@pytest.mark.parametrize("right", ["broker", "endpoint"])
async def test_a_store_that_comes_back_from_an_old_backup_is_found_out(
    clock: Clock, tmp_path: Path, right: str
) -> None:
    elsewhere = Elsewhere()
    async with mirrored(clock, elsewhere, tmp_path / "a", patience=5.0) as (broker, mirror):
        big = " ".join(f"<s{n}> <p> {n} ." for n in range(100, 1200))  # more than is remembered
        await broker.update(f"INSERT DATA {{ {big} }}")
        await broker.update(insert(1))
        elsewhere.breaks = 0
        replies = Replies(broker)
        replies.submit(insert(2))
        await until(lambda: elsewhere.away)
        elsewhere.quads.clear()
        elsewhere.away = False
        await until(lambda: isinstance(mirror.outage.trouble, EndpointDiffers))
        clock.pass_by(6.0)
        await until(replies.errors)
        assert [error.code for error in replies.errors()] == ["endpoint_differs"]
        await broker.reconcile("broker" if right == "broker" else "endpoint")
        await until(lambda: mirror.outage.trouble is None)
        assert elsewhere.quads == quads_of(broker)
        assert len(elsewhere.quads) == (1101 if right == "broker" else 1)


@asynchronous
async def test_the_last_changes_that_a_store_has_lost_it_is_given_again(clock: Clock) -> None:
    elsewhere = Elsewhere()
    async with mirrored(clock, elsewhere) as (broker, mirror):
        for n in range(1, 5):
            await broker.update(insert(n))
        elsewhere.breaks = 0
        replies = Replies(broker)
        replies.submit(insert(5))
        await until(lambda: elsewhere.away)
        elsewhere.quads -= {quad(3), quad(4)}  # a power failure
        elsewhere.away = False
        await until(replies.done)
        assert elsewhere.quads == quads_of(broker) == {quad(n) for n in range(1, 6)}
        assert mirror.status().outages == 1
