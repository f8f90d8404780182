"""Slow clients: what they miss is added up, and whoever has too much waiting is let go."""

from pathlib import Path

from broker.making import ALL, Client, Clock, crashed, delete, in_memory, insert, opened, settled
from tidings.broker.subscriptions.outbox import TOO_SLOW
from waiting import asynchronous


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
