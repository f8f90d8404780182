"""Crashes of a broker in front of a store of record, and what each side has then: finished, taken back, or learnt."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from broker.elsewhere import Elsewhere, mirrored
from broker.making import ALL, Client, Clock, Replies, crashed, delete, full_disk, insert, quads_of
from broker.test_record import quad
from tidings.broker.broker import Broker
from tidings.broker.durability import group_commit
from tidings.log.reading import read
from tidings.model.errors import EndpointRefused
from tidings.model.terms import Quad
from waiting import PATIENCE, asynchronous, until


@asynchronous
@pytest.mark.parametrize("taken", [0, 1, 2])
async def test_what_a_crash_interrupts_is_finished_as_somebody_may_have_been_told(
    clock: Clock, tmp_path: Path, taken: int
) -> None:
    elsewhere = Elsewhere(quad(1))
    async with mirrored(clock, elsewhere, tmp_path / "a") as (broker, _):
        elsewhere.turn.clear()
        replies = Replies(broker)
        replies.submit("DELETE { ?s <p> ?o } INSERT { <s2> <p> 2 } WHERE { ?s <p> ?o }")
        await until(lambda: elsewhere.requests)
        folder = crashed(tmp_path / "a", tmp_path / "b")
        after = Elsewhere(*list(elsewhere.quads))
        await _partly(after, elsewhere.requests[0], taken)
        elsewhere.turn.set()
        await until(lambda: replies.outcomes)
    for _ in range(2):
        async with mirrored(clock, after, folder) as (broker, mirror):
            assert after.quads == quads_of(broker) == {quad(2)}
            await broker.update(insert(5))
            assert mirror.status().state == "ok"
            assert quad(5) in after.quads
            await broker.update(delete(5))


@asynchronous
async def test_what_was_answered_before_the_log_had_it_keeps_its_number_and_its_time_after_a_crash(
    clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even if the store has lost it as well."""
    monkeypatch.setattr(group_commit, "PROMISED_SECONDS", PATIENCE)  # the crash comes before the write, on any machine
    elsewhere = Elsewhere()
    async with mirrored(clock, elsewhere, tmp_path / "a") as (broker, _):
        await broker.update(insert(1))
        done = await broker.update(insert(2), publisher="me")
        assert [entry.commit for entry in broker.commit_log.group_commit.promised] == [2]
        folder = crashed(tmp_path / "a", tmp_path / "b")
    clock.pass_by(100)
    after = Elsewhere(quad(1))
    async with mirrored(clock, after, folder) as (broker, _):
        assert after.quads == quads_of(broker) == {quad(1), quad(2)}
        entries = [entry for entry in read(folder, 0) if entry.delta]
        assert [(entry.commit, entry.time) for entry in entries][1:] == [(done.commit, done.time)]
        assert entries[1].publisher == "me"


@asynchronous
async def test_what_a_crash_interrupts_and_the_store_refuses_is_taken_back(clock: Clock, tmp_path: Path) -> None:
    elsewhere = Elsewhere(quad(1))
    async with mirrored(clock, elsewhere, tmp_path / "a") as (broker, _):
        elsewhere.turn.clear()
        replies = Replies(broker)
        replies.submit("DELETE { ?s <p> ?o } INSERT { <s2> <p> 2 } WHERE { ?s <p> ?o }")
        await until(lambda: elsewhere.requests)
        folder = crashed(tmp_path / "a", tmp_path / "b")
        elsewhere.turn.set()
        await until(lambda: replies.outcomes)
    after = Elsewhere()
    after.refuses = lambda each: each == quad(2)
    for _ in range(2):
        async with mirrored(clock, after, folder) as (broker, mirror):
            assert after.quads == quads_of(broker) == {quad(1)}
            assert mirror.status().state == "ok"


@asynchronous
@pytest.mark.parametrize("crashes", [True, False])
async def test_what_the_store_has_of_an_update_and_refuses_to_undo_counts_as_changed_by_others(
    clock: Clock, tmp_path: Path, *, crashes: bool
) -> None:
    elsewhere = Elsewhere()
    async with mirrored(clock, elsewhere, tmp_path / "a", patience=5.0) as (broker, mirror):
        client = Client(broker)
        client.subscribe(ALL)
        elsewhere.breaks = 2
        replies = Replies(broker)
        replies.submit("INSERT DATA { <s1> <p> 1 . <s2> <p> 2 . <s3> <p> 3 }")
        await until(lambda: mirror.outage.trouble)
        clock.pass_by(6)
        await until(replies.errors)
        assert [error.code for error in replies.errors()] == ["endpoint_away"]
        assert elsewhere.quads == {quad(1), quad(2)}
        folder = crashed(tmp_path / "a", tmp_path / "b")
        elsewhere.refuses = lambda each: each == quad(1)
        if not crashes:
            elsewhere.away = False
            await until(lambda: mirror.outage.trouble is None)
            assert elsewhere.quads == quads_of(broker) == {quad(1)}
            client.check()
    elsewhere.away = False
    async with mirrored(clock, elsewhere, folder if crashes else tmp_path / "a") as (broker, mirror):
        assert elsewhere.quads == quads_of(broker) == {quad(1)}
        await broker.update(insert(5))
        assert mirror.status().state == "ok"
        assert elsewhere.quads == quads_of(broker) == {quad(1), quad(5)}


@asynchronous
async def test_a_store_that_takes_no_update_at_all_says_nothing_about_those_it_has(clock: Clock) -> None:
    """Half of an update is not kept because somebody has forgotten a password."""
    elsewhere = Elsewhere()
    async with mirrored(clock, elsewhere) as (broker, mirror):
        elsewhere.breaks = 1
        replies = Replies(broker)
        replies.submit("INSERT DATA { <s1> <p> 1 . <s2> <p> 2 }")
        await until(lambda: elsewhere.away and mirror.outage.trouble)
        elsewhere.refuses = lambda _: True
        elsewhere.away = False
        await until(lambda: isinstance(mirror.outage.trouble, EndpointRefused))
        assert quads_of(broker) == set()
        elsewhere.refuses = lambda _: False
        await until(replies.done)
        assert elsewhere.quads == quads_of(broker) == {quad(1), quad(2)}


@asynccontextmanager
async def two_under_way(
    clock: Clock, elsewhere: Elsewhere, folder: Path
) -> AsyncIterator[tuple[Broker, Replies, Callable[[str], Path]]]:
    """One update is at the store, and the intent of another is in the log; what the disk has can be copied."""
    async with mirrored(clock, elsewhere, folder / "a") as (broker, _):
        await broker.update(insert(1))
        elsewhere.turn.clear()
        replies = Replies(broker)
        replies.submit(insert(2))
        await until(lambda: len(elsewhere.requests) == 2)
        replies.submit("DELETE DATA { <s1> <p> 1 } ; INSERT DATA { <s3> <p> 3 }")
        await until(lambda: _intents(folder / "a")[-2:] == [[2], [3]])
        try:
            yield broker, replies, lambda name: crashed(folder / "a", folder / name)
        finally:
            elsewhere.turn.set()


def _intents(folder: Path) -> list[list[int]]:
    """The commits of the intents that a log has."""
    notes = [note for entry in read(folder, 0) for note in entry.notes if note.kind == "intent"]
    return [[commit["seq"] for commit in note.content["commits"]] for note in notes]


@asynchronous
@pytest.mark.parametrize("has", [(1,), (1, 2)])
async def test_the_intent_of_what_is_next_is_in_the_log_while_the_store_is_busy_and_both_are_finished_after_a_crash(
    clock: Clock, tmp_path: Path, has: tuple[int, ...]
) -> None:
    elsewhere = Elsewhere()
    async with two_under_way(clock, elsewhere, tmp_path) as (_, replies, copied):
        assert not replies.outcomes
        folder = copied("b")
        elsewhere.turn.set()
        await until(lambda: len(replies.done()) == 2)
        assert len(elsewhere.requests) == 3
        numbers = [done.commit for done in replies.done()]
    after = Elsewhere(*map(quad, has))
    async with mirrored(clock, after, folder) as (broker, _):
        assert after.quads == quads_of(broker) == elsewhere.quads == {quad(2), quad(3)}
        assert [entry.commit for entry in read(folder, 0) if entry.delta][-2:] == numbers == [2, 3]


@asynchronous
async def test_what_was_told_stays_though_the_store_refuses_what_was_next_after_a_crash(
    clock: Clock, tmp_path: Path
) -> None:
    elsewhere = Elsewhere()
    async with two_under_way(clock, elsewhere, tmp_path) as (_, replies, copied):
        folder = copied("b")
        elsewhere.turn.set()
        await until(lambda: len(replies.done()) == 2)
    after = Elsewhere(quad(1), quad(2))
    after.refuses = lambda each: each == quad(3)
    for _ in range(2):
        async with mirrored(clock, after, folder) as (broker, mirror):
            assert after.quads == quads_of(broker) == {quad(1), quad(2)}
            assert mirror.status().state == "ok"
            assert broker.last_commit == 2


@asynchronous
async def test_what_is_next_is_taken_back_with_what_the_store_does_not_take_and_has_its_turn_again(
    clock: Clock, tmp_path: Path
) -> None:
    elsewhere = Elsewhere()
    async with two_under_way(clock, elsewhere, tmp_path) as (broker, replies, copied):
        elsewhere.refuses = lambda each: each == quad(2)
        elsewhere.turn.set()
        await until(lambda: len(replies.outcomes) == 2)
        assert [error.code for error in replies.errors()] == ["endpoint_refused"]
        assert elsewhere.quads == quads_of(broker) == {quad(3)}
        folder = copied("b")
    after = Elsewhere(quad(3))
    async with mirrored(clock, after, folder) as (broker, _):
        assert after.quads == quads_of(broker) == {quad(3)}


@asynchronous
async def test_a_log_that_takes_no_intent_of_what_is_next_leaves_what_is_at_the_store(
    clock: Clock, tmp_path: Path
) -> None:
    elsewhere = Elsewhere()
    async with mirrored(clock, elsewhere, tmp_path / "a") as (broker, mirror):
        elsewhere.turn.clear()
        replies = Replies(broker)
        replies.submit(insert(1))
        await until(lambda: elsewhere.requests)
        with full_disk():
            replies.submit(insert(2))
            await until(lambda: broker.commit_log.group_commit.failures)
            elsewhere.turn.set()
            await until(lambda: len(replies.outcomes) == 2)
        assert [error.status for error in replies.errors()] == [507]
        await until(lambda: mirror.outage.trouble is None)
        await broker.update(insert(3))
        assert elsewhere.quads == quads_of(broker) == {quad(1), quad(3)}
        assert not broker.intents.open


async def _partly(elsewhere: Elsewhere, states: dict[Quad, bool], count: int) -> None:
    await elsewhere.take(dict(list(states.items())[:count]))


@asynchronous
async def test_a_broker_begins_with_its_log_if_the_store_is_away_and_tells_later_what_changed(
    clock: Clock, tmp_path: Path
) -> None:
    elsewhere = Elsewhere()
    async with mirrored(clock, elsewhere, tmp_path / "a") as (broker, _):
        await broker.update(insert(1))
    elsewhere.quads.add(quad(9))
    elsewhere.away = True
    async with mirrored(clock, elsewhere, tmp_path / "a", patience=0.0) as (broker, _):
        client = Client(broker)
        client.subscribe(ALL)
        await until(lambda: client.known)
        assert len(client.only.answer) == 1
        elsewhere.away = False
        await until(lambda: len(client.only.answer) == 2)
        client.check()
