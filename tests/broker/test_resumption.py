"""Coming back to a subscription: what was missed is told as one change, or the answer is told anew."""

from pathlib import Path

import pytest

from broker.making import ALL, Client, Clock, delete, full_disk, in_memory, insert, opened, settled
from tidings.broker.errors import UnknownSubscription
from tidings.broker.subscriptions.outbox import LOST
from tidings.broker.subscriptions.resumption import TAKEN_OVER
from tidings.log.errors import LogWriteFailed
from waiting import asynchronous


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
