"""Subscriptions: whoever folds in what it is told always has the answer, whatever happens to its connection."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.histories import Step, gentle_histories, lived_through
from broker.making import (
    ALL,
    Client,
    Clock,
    crashed,
    delete,
    full_disk,
    in_memory,
    insert,
    opened,
    settled,
)  # fmt: skip
from tidings.broker.broker import Broker
from tidings.broker.errors import NotYours, ShuttingDown, TooManySubscriptions, UnknownSubscription
from tidings.broker.policy import Policy
from tidings.broker.subscriptions.outbox import LOST, TOO_SLOW
from tidings.broker.subscriptions.resumption import TAKEN_OVER
from tidings.broker.subscriptions.subscriber import UNKNOWN, Parcel, Spuid, Subscriber
from tidings.engine.engine import Engine
from tidings.engine.plans.spu import Spu
from tidings.log.errors import LogWriteFailed
from tidings.model.results import Row
from tidings.model.zset import ZSet
from waiting import asynchronous, until

VARIABLES = ("x",)


@given(gentle_histories)
def test_whatever_happens_to_connections_the_folded_answer_is_that_of_a_fresh_query(history: list[Step]) -> None:
    lived_through(history, crashes=False)


@given(gentle_histories)
def test_whatever_happens_and_however_little_is_kept_the_folded_answer_is_right(history: list[Step]) -> None:
    lived_through(history, crashes=False, retain=1)


# -- one subscriber ---------------------------------------------------------------------------------------------


def subscriber() -> Subscriber:
    handle, _ = Engine().subscribe("SELECT ?x { ?x ?y ?z }", now=0)
    return Subscriber(Spuid("urn:it"), "SELECT ?x { ?x ?y ?z }", None, None, None, handle)


def parcel(commit: int, *changes: tuple[str, int]) -> Parcel:
    return Parcel(commit, commit, VARIABLES, ZSet(((name,), weight) for name, weight in changes))


def test_changes_are_numbered_from_one_on_and_the_last_ones_kept() -> None:
    it = subscriber()
    assert [it.number(parcel(n, ("a", 1)), 3, 100) for n in range(1, 6)] == [1, 2, 3, 4, 5]
    assert it.retained is not None
    assert [number for number, _ in it.retained] == [3, 4, 5]
    assert it.missed(5) == []
    assert [each.commit for each in it.missed(3) or ()] == [4, 5]
    assert [each.commit for each in it.missed(2) or ()] == [3, 4, 5]
    assert it.missed(1) is None  # too long ago
    assert it.missed(6) is None  # never given out
    assert it.missed(-1) is None


def test_as_many_rows_are_kept_as_may_be() -> None:
    it = subscriber()
    for n in range(1, 5):
        it.number(parcel(n, ("a", 1), ("b", -1)), 100, 5)
    assert it.held == 4
    assert it.missed(2) is not None
    assert it.missed(1) is None
    it.number(parcel(5, *((f"x{n}", 1) for n in range(9))), 100, 5)
    assert it.held == 0
    assert it.missed(5) == []
    assert it.missed(4) is None


def test_nothing_is_known_of_what_was_forgotten() -> None:
    it = subscriber()
    it.number(parcel(1, ("a", 1)), 3, 100)
    it.forget()
    assert it.missed(1) is None
    assert it.missed(UNKNOWN) is None
    assert it.number(parcel(2, ("a", -1)), 3, 100) == UNKNOWN


def test_an_anchor_says_which_number_belonged_to_a_commit() -> None:
    it = subscriber()
    for n in range(1, 6):
        it.number(parcel(n, ("a", 1)), 64, 100)
    it.anchor(2, 4)  # 1, and 2 to 4 as one
    assert it.sequence == 3
    assert [each.commit for each in it.missed(2) or ()] == [5]
    assert it.missed(1) is None


_parcels = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from((-1, 1))), max_size=4)


@given(st.lists(_parcels, min_size=1, max_size=8))
def test_what_waits_is_the_sum_of_all_that_came(changes: list[list[tuple[str, int]]]) -> None:
    it = subscriber()
    total: ZSet[Row] = ZSet()
    for commit, each in enumerate(changes, 1):
        one = parcel(commit, *each)
        it.pending = one if it.pending is None else it.pending + one
        total += one.changes
    assert it.pending is not None
    assert it.pending.changes == total
    assert (it.pending.commit, it.pending.merged) == (len(changes), len(changes))


# -- beginning and end ------------------------------------------------------------------------------------------


@asynchronous
async def test_a_first_answer_is_found_once(clock: Clock) -> None:
    enroll = Engine.enroll
    read: list[Row] = []

    def watched(*arguments: Any, **named: Any) -> Any:
        handle, rows = enroll(*arguments, **named)
        return handle, map(read.append, rows)

    async with in_memory(clock) as broker:
        await broker.update(insert(1))
        client = Client(broker)
        with (
            mock.patch.object(Engine, "enroll", watched),
            mock.patch.object(Engine, "first_answer", autospec=True, side_effect=Engine.first_answer) as found,
        ):
            client.subscribe(ALL)
        assert (found.call_count, read) == (1, [])
        client.check()
        await broker.update(insert(2))
        client.check()


@asynchronous
@pytest.mark.parametrize("text", ["SELECT (RAND() AS ?x) {}", "SELECT ?s (RAND() AS ?x) { ?s <p> ?o }"])
async def test_a_first_answer_that_depends_on_chance_is_the_one_that_later_changes_take_away(
    clock: Clock, text: str
) -> None:
    async with in_memory(clock) as broker:
        await broker.update(insert(1))
        client = Client(broker)
        client.subscribe(text)
        (first,) = client.only.answer
        await broker.update(insert(2))
        assert first not in client.only.answer


@asynchronous
async def test_the_first_answer_is_whole_and_then_every_change_has_the_next_number(clock: Clock) -> None:
    async with in_memory(clock) as broker:
        await broker.update(insert(1))
        client = Client(broker)
        client.subscribe(ALL)
        assert client.only.sequence == 0
        assert len(client.only.answer) == 1
        await broker.update(insert(2))
        await broker.update("INSERT DATA { <other> <q> 1 }")
        await broker.update(delete(1))
        assert client.only.sequence == 2
        assert client.only.commits == [1, 2, 4]
        client.check()


@asynchronous
async def test_nobody_hears_of_a_commit_before_it_is_durable(clock: Clock, tmp_path: Path) -> None:
    async with opened(clock, tmp_path) as broker:
        client = Client(broker)
        client.subscribe(ALL)
        assert not client.known
        broker.submit(insert(1), None, lambda _: None)
        assert not client.known
        await settled(broker)
        assert client.only.sequence == 1
        client.check()


@asynchronous
async def test_a_subscription_that_cannot_be_answered_in_a_slice_is_tried_out_aside() -> None:
    async with in_memory(Clock(step=1.0), Policy(slice_seconds=0.5, seconds=1e6, rows=5000)) as broker:
        for n in range(60):
            await broker.update(insert(n))
        client = Client(broker)
        client.subscribe("SELECT ?a ?b { ?a <p> ?x . ?b <p> ?y }")
        client.subscribe("SELECT ?a ?b ?c { ?a <p> ?x . ?b <p> ?y . ?c <p> ?z }")
        await until(lambda: client.known and client.errors)
        client.check()
        assert [error.code for error in client.errors] == ["row_limit_exceeded"]
        assert len(broker.subscriptions) == len(broker.engine.subscriptions) == 1


@asynchronous
async def test_one_subscription_too_many_is_refused(clock: Clock) -> None:
    async with in_memory(clock, subscriptions=1) as broker:
        client = Client(broker)
        client.subscribe(ALL)
        with pytest.raises(TooManySubscriptions) as refused:
            client.subscribe(ALL)
        assert refused.value.status == 429
        client.unsubscribe(client.only.spuid)
        client.subscribe(ALL)
        broker.end()
        with pytest.raises(ShuttingDown):
            client.subscribe(ALL)


@asynchronous
async def test_an_end_is_an_end(clock: Clock, tmp_path: Path) -> None:
    async with opened(clock, tmp_path) as broker:
        client = Client(broker)
        client.subscribe(ALL)
        await settled(broker)
        spuid = client.only.spuid
        done: list[str] = []
        client.unsubscribe(spuid, lambda: done.append("done"))
        assert done == []
        await settled(broker)
        assert done == ["done"]
        await broker.update(insert(1))
        assert len(broker.subscriptions) == len(broker.engine.subscriptions) == 0
        with pytest.raises(UnknownSubscription):
            broker.unsubscribe(client.line.session, spuid, lambda: None)
    async with opened(clock, tmp_path) as second:
        assert len(second.subscriptions) == 0


@asynchronous
async def test_nobody_ends_what_belongs_to_another(clock: Clock) -> None:
    async with in_memory(clock) as broker:
        client, other = Client(broker), Client(broker)
        client.subscribe(ALL)
        with pytest.raises(NotYours) as refused:
            broker.unsubscribe(other.line.session, client.only.spuid, lambda: None)
        assert refused.value.status == 403
        await broker.update(insert(1))
        client.check()


# -- coming back ------------------------------------------------------------------------------------------------


@asynchronous
async def test_who_comes_back_gets_what_it_missed_as_one_change(clock: Clock) -> None:
    async with in_memory(clock) as broker:
        client = Client(broker)
        client.subscribe(ALL)
        client.lose()
        assert broker.subscriptions.absent == 1
        for n in range(3):
            await broker.update(insert(n))
        client.come_back()
        client.resume(client.only.spuid)
        assert client.only.resumed == [True]
        assert client.only.sequence == 1
        assert broker.subscriptions.absent == 0
        client.check()
        await broker.update(insert(9))
        assert client.only.sequence == 2
        client.check()


@asynchronous
@pytest.mark.parametrize(
    ("seen", "resumed"), [(0, False), (1, False), (2, True), (4, True), (5, True), (6, False), (-1, False), (99, False)]
)
async def test_a_number_that_is_too_old_or_was_never_given_out_gets_a_fresh_answer(
    clock: Clock, seen: int, resumed: bool
) -> None:
    async with in_memory(clock, retain=3) as broker:
        client = Client(broker)
        client.subscribe(ALL)
        for n in range(5):
            await broker.update(insert(n))
        known = client.only
        client.lose()
        client.come_back()
        if resumed:  # as if it had seen no more than that
            known.sequence = seen
            for row in [row for row in known.answer if any(f"s{n}>" in str(row) for n in range(seen, 5))]:
                del known.answer[row]
        client.resume(known.spuid, seen)
        assert known.resumed == [resumed]
        client.check()
        await broker.update(delete(1))
        client.check()


@asynchronous
async def test_a_subscription_is_released_when_its_grace_is_over(clock: Clock, tmp_path: Path) -> None:
    async with opened(clock, tmp_path, grace=10.0) as broker:
        stays, goes = Client(broker), Client(broker)
        for client in (stays, goes):
            client.subscribe(ALL)
        await settled(broker)
        goes.lose()
        clock.pass_by(5)
        stays.lose()
        clock.pass_by(4.9)
        broker.run_due()
        assert len(broker.subscriptions) == 2
        clock.pass_by(0.2)
        broker.run_due()
        assert [each.spuid for each in broker.subscriptions] == [stays.only.spuid]
        assert broker.resumption.released == 1
        goes.come_back()
        with pytest.raises(UnknownSubscription):
            broker.resume(goes.line.session, goes.only.spuid, 0, None, lambda *_: None, goes.errors.append)
        stays.come_back()
        stays.resume(stays.only.spuid)
        await settled(broker)
        clock.pass_by(60)
        broker.run_due()
        assert len(broker.subscriptions) == len(broker.engine.subscriptions) == 1
    async with opened(clock, tmp_path, grace=10.0) as second:
        assert len(second.subscriptions) == second.subscriptions.absent == 1


@asynchronous
async def test_a_client_may_be_back_before_its_old_connection_is_known_to_be_gone(clock: Clock, tmp_path: Path) -> None:
    async with opened(clock, tmp_path) as broker:
        client = Client(broker)
        client.subscribe(ALL)
        await settled(broker)
        half_open = client.line
        half_open.down = True
        await broker.update(insert(1))
        client.come_back()
        client.resume(client.only.spuid)
        await settled(broker)
        assert client.only.resumed == [True]
        client.check()
        assert half_open.closed in ([], [TAKEN_OVER])
        broker.disconnect(half_open.session)
        assert broker.subscriptions.absent == 0
        await broker.update(insert(2))
        await settled(broker)
        client.check()


@asynchronous
async def test_taking_one_subscription_over_leaves_the_others_where_they_are(clock: Clock) -> None:
    async with in_memory(clock) as broker:
        client = Client(broker)
        client.subscribe(ALL)
        client.subscribe("ASK { ?s <p> ?o }")
        first, second = client.known
        old = client.line
        client.come_back()
        client.resume(first)
        assert not old.closed
        await broker.update(insert(1))
        assert [known.sequence for known in client.known.values()] == [2, 1]
        assert [broker.subscriptions.find(each).session for each in (first, second)] == [
            client.line.session,
            old.session,
        ]


@asynchronous
async def test_who_resumes_and_leaves_at_once_is_away(clock: Clock, tmp_path: Path) -> None:
    async with opened(clock, tmp_path, grace=10.0) as broker:
        client = Client(broker)
        client.subscribe(ALL)
        await settled(broker)
        client.lose()
        client.come_back()
        client.resume(client.only.spuid)
        client.lose()
        await settled(broker)
        assert broker.subscriptions.absent == 1
        clock.pass_by(11)
        broker.run_due()
        assert len(broker.subscriptions) == 0


@asynchronous
@pytest.mark.parametrize("how", ["noticed", "drained"])
async def test_what_was_merged_for_the_old_connection_is_not_told_twice_to_the_new_one(
    clock: Clock, tmp_path: Path, how: str
) -> None:
    async with opened(clock, tmp_path) as broker:
        client = Client(broker)
        client.subscribe(ALL)
        await settled(broker)
        old = client.line
        client.fill()
        await broker.update(insert(1))
        await broker.update(insert(2))
        old.down = True
        client.come_back()
        client.resume(client.only.spuid)
        if how == "noticed":
            broker.disconnect(old.session)
        else:
            broker.drained(old.session)
        await settled(broker)
        client.check()
        await broker.update(insert(3))
        await settled(broker)
        client.check()


@asynchronous
async def test_of_two_attempts_to_come_back_the_last_one_counts(clock: Clock, tmp_path: Path) -> None:
    async with opened(clock, tmp_path) as broker:
        client = Client(broker)
        client.subscribe(ALL)
        await settled(broker)
        client.lose()
        await broker.update(insert(1))
        client.come_back()
        client.resume(client.only.spuid)
        client.line.down = True  # it gave up waiting
        client.come_back()
        client.resume(client.only.spuid)
        broker.submit(insert(2), None, lambda _: None)
        await settled(broker)
        assert client.only.resumed == [True]
        client.check()


@asynchronous
async def test_what_ended_meanwhile_cannot_be_resumed(clock: Clock, tmp_path: Path) -> None:
    async with opened(clock, tmp_path) as broker:
        client = Client(broker)
        client.subscribe(ALL)
        await settled(broker)
        client.lose()
        client.come_back()
        broker.resume(client.line.session, client.only.spuid, 0, None, lambda *_: None, client.errors.append)
        broker.unsubscribe(None, client.only.spuid, lambda: None)
        await settled(broker)
        assert [type(error) for error in client.errors] == [UnknownSubscription]
        assert not client.line.session.subscribers


@asynchronous
async def test_a_resumption_that_cannot_be_written_down_is_no_resumption(clock: Clock, tmp_path: Path) -> None:
    async with opened(clock, tmp_path) as broker:
        client = Client(broker)
        client.subscribe(ALL)
        await broker.update(insert(1))
        await settled(broker)
        client.lose()
        await broker.update(insert(2))
        await settled(broker)
        client.come_back()
        with full_disk():
            client.resume(client.only.spuid)
            await settled(broker)
        assert client.only.resumed == []
        assert client.line.closed == [LOST] or [type(error) for error in client.errors] == [LogWriteFailed]
        client.lose()
        client.come_back()
        client.resume(client.only.spuid)
        await settled(broker)
        client.check()


# -- slow clients -----------------------------------------------------------------------------------------------


@asynchronous
async def test_what_a_full_connection_misses_is_added_up_and_told_as_one(clock: Clock, tmp_path: Path) -> None:
    async with opened(clock, tmp_path) as broker:
        client, other = Client(broker), Client(broker)
        client.subscribe(ALL)
        other.subscribe(ALL)
        await settled(broker)
        client.fill()
        for n in range(4):
            await broker.update(insert(n))
        await broker.update(delete(2))
        assert client.only.sequence == 0
        assert other.only.sequence == 5
        client.drain()
        assert client.only.sequence == 0  # a number that stands for several changes has to be durable
        await settled(broker)
        assert client.only.sequence == 1
        assert client.only.commits[-1] == 5
        client.check()
        other.check()
        await broker.update(insert(9))
        await settled(broker)
        assert client.only.sequence == 2
        client.check()
        assert broker.outboxes.merged == 4


@asynchronous
async def test_changes_that_come_while_a_number_is_written_down_wait_for_it(clock: Clock, tmp_path: Path) -> None:
    async with opened(clock, tmp_path) as broker:
        client = Client(broker)
        client.subscribe(ALL)
        await settled(broker)
        client.fill()
        await broker.update(insert(1))
        await broker.update(insert(2))
        client.drain()
        for n in range(3, 6):
            broker.submit(insert(n), None, lambda _: None)
        await settled(broker)
        client.check()


@asynchronous
async def test_a_slow_client_is_let_go_once_if_that_is_the_policy(clock: Clock) -> None:
    async with in_memory(clock, slow="disconnect") as broker:
        client, other = Client(broker), Client(broker)
        client.subscribe(ALL)
        client.subscribe("ASK { ?s <p> ?o }")
        other.subscribe(ALL)
        client.fill()
        for n in range(3):
            await broker.update(insert(n))
        assert client.line.closed == [TOO_SLOW]
        assert broker.outboxes.dropped == 1
        assert other.only.sequence == 3
        client.lose()
        client.come_back()
        for spuid in client.known:
            client.resume(spuid)
        assert [known.resumed for known in client.known.values()] == [[True], [True]]
        client.check()


@asynchronous
async def test_a_slow_client_with_too_many_rows_waiting_is_let_go_and_begins_anew(clock: Clock) -> None:
    async with in_memory(clock, rows=5) as broker:
        client = Client(broker)
        client.subscribe(ALL)
        client.fill()
        for n in range(5):
            await broker.update(insert(n))
        assert client.line.closed == []
        await broker.update(insert(5))
        assert client.line.closed == [TOO_SLOW]
        client.lose()
        client.come_back()
        client.resume(client.only.spuid)
        assert client.only.resumed == [False]
        client.check()


@asynchronous
async def test_changes_that_cancel_out_do_not_let_a_slow_client_go(clock: Clock) -> None:
    async with in_memory(clock, rows=2) as broker:
        client = Client(broker)
        client.subscribe(ALL)
        client.fill()
        for _ in range(5):
            await broker.update(insert(1))
            await broker.update(delete(1))
        assert client.line.closed == []
        client.drain()
        client.check()


@asynchronous
async def test_what_was_merged_and_sent_is_known_after_a_crash(clock: Clock, tmp_path: Path) -> None:
    async with opened(clock, tmp_path / "a") as broker:
        client = Client(broker)
        client.subscribe(ALL)
        await settled(broker)
        client.fill()
        for n in range(4):
            await broker.update(insert(n))
        client.drain()
        await settled(broker)
        await broker.update(insert(5))
        await settled(broker)
        assert client.only.sequence == 2
        copy = crashed(tmp_path / "a", tmp_path / "b")
    async with opened(clock, copy) as second:
        client.come_back(second)
        client.resume(client.only.spuid)
        await settled(second)
        assert client.only.resumed == [True]
        assert client.only.sequence == 3
        client.check()


# -- plans that fail --------------------------------------------------------------------------------------------


@contextmanager
def failing(wrong: Spu) -> Iterator[None]:
    """A plan cannot be brought up to date."""
    advance = type(wrong).advance

    def fail(spu: Spu, *arguments: Any) -> Any:
        if spu is wrong:
            raise ZeroDivisionError
        return advance(spu, *arguments)

    with mock.patch.object(type(wrong), "advance", fail):
        yield


def plan_of(broker: Broker, spuid: str) -> Spu:
    return broker.subscriptions.find(spuid).handle.spu


@asynchronous
@pytest.mark.parametrize("durable", [False, True])
async def test_a_plan_that_fails_ends_its_subscribers_and_nobody_elses(
    clock: Clock, tmp_path: Path, durable: bool
) -> None:
    async with opened(clock, tmp_path) if durable else in_memory(clock) as broker:
        unlucky, other = Client(broker), Client(broker)
        unlucky.subscribe("ASK { ?s <p> ?o }")
        other.subscribe(ALL)
        await settled(broker)
        with failing(plan_of(broker, unlucky.only.spuid)):
            await broker.update(insert(1))
            await settled(broker)
        assert unlucky.line.closed == [LOST]
        assert not other.line.closed
        other.check()
        assert len(broker.subscriptions) == len(broker.engine.subscriptions) == 1
        unlucky.lose()
        unlucky.come_back()
        with pytest.raises(UnknownSubscription):
            broker.resume(unlucky.line.session, unlucky.only.spuid, 0, None, lambda *_: None, unlucky.errors.append)
        await broker.update(insert(2))
        await settled(broker)
        other.check()


@asynchronous
@pytest.mark.parametrize("what", ["unsubscribe", "resume", "leave"])
async def test_a_client_may_go_while_the_failure_of_its_plan_is_still_on_its_way(
    clock: Clock, tmp_path: Path, what: str
) -> None:
    async with opened(clock, tmp_path, grace=0.0) as broker:
        client = Client(broker)
        client.subscribe("ASK { ?s <p> ?o }")
        await settled(broker)
        spuid = client.only.spuid
        with failing(plan_of(broker, spuid)):
            broker.submit(insert(1), None, lambda _: None)
        try:
            match what:
                case "unsubscribe":
                    broker.unsubscribe(client.line.session, spuid, lambda: None)
                case "resume":
                    client.resume(spuid, 99)
                case _:
                    client.lose()
                    broker.run_due()
        except UnknownSubscription:
            pass
        await settled(broker)
        assert len(broker.subscriptions) == len(broker.engine.subscriptions) == 0
    async with opened(clock, tmp_path) as second:
        assert len(second.subscriptions) == 0
