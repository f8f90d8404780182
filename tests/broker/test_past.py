"""The graph as it was: whatever was committed since is taken back, on a copy."""

import asyncio
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker.making import Clock, full_disk, in_memory, insert, opened
from endurance import often
from tidings.broker.broker import Broker
from tidings.broker.errors import NoLog, UnknownCommit
from tidings.gates.http.results import document
from tidings.log.errors import HistoryGone, LogBroken
from tidings.log.layout import segment_path
from tidings.model.access import ALL_RIGHTS, Graphs, Rights
from waiting import asynchronous

QUADS = "SELECT ?g ?s ?o { { ?s <p> ?o BIND('' AS ?g) } UNION { GRAPH ?g { ?s <p> ?o } } }"
UPDATES = [
    "INSERT DATA { <a> <p> 1, 'x'@en }",
    "INSERT DATA { <a> <p> 2 GRAPH <g> { <a> <p> 1 } }",
    "DELETE DATA { <a> <p> 1, 'x'@EN }",
    "DELETE DATA { <a> <p> 'x'@en } ; INSERT DATA { <a> <p> 'x'@EN }",
    "DROP GRAPH <g>",
    "CLEAR ALL",
]


async def answer(broker: Broker, text: str = QUADS, at: int | None = None, rights: Rights = ALL_RIGHTS) -> list[bytes]:
    spool = await broker.query(text, None, document(None, ["tsv"]), rights, at=at)
    with spool.file as file:
        return sorted(file.read().splitlines()[1:])


@settings(max_examples=often(6))
@given(st.lists(st.sampled_from(UPDATES), min_size=1, max_size=8), st.sampled_from(["none", "os", "fsync"]))
def test_every_commit_answers_as_it_did(
    tmp_path_factory: pytest.TempPathFactory, updates: list[str], durability: str
) -> None:
    async def story() -> None:
        async with opened(Clock(), tmp_path_factory.mktemp("past"), durability=durability) as broker:
            answers = {0: await answer(broker)}
            for update in updates:
                await broker.update(update)
                answers[broker.last_commit] = await answer(broker)
            for commit, then in answers.items():
                assert await answer(broker, at=commit) == then

    asyncio.run(story())


@asynchronous
async def test_commits_on_their_way_to_the_disk_are_taken_back_as_well(clock: Clock, tmp_path: Path) -> None:
    async with opened(clock, tmp_path, durability="fsync") as broker:
        for number in range(4):
            broker.submit(insert(number), None, lambda _: None)
        assert len(broker.commit_log.group_commit) == 4
        assert [len(await answer(broker, at=commit)) for commit in range(5)] == [0, 1, 2, 3, 4]


@asynchronous
async def test_who_may_not_read_a_graph_never_could(clock: Clock, tmp_path: Path) -> None:
    async with opened(clock, tmp_path) as broker:
        await broker.update("INSERT DATA { <a> <p> 1 GRAPH <g> { <a> <p> 2 } }")
        await broker.update("CLEAR ALL")
        rights = Rights(read=Graphs(names=frozenset(("",))))
        assert len(await answer(broker, at=1)) == 2
        assert len(await answer(broker, at=1, rights=rights)) == 1


@asynchronous
async def test_what_is_yet_to_come_and_what_was_forgotten_cannot_be_asked(clock: Clock, tmp_path: Path) -> None:
    async with opened(clock, tmp_path, segment_size=1) as broker:
        for number in range(3):
            await broker.update(insert(number))
        with pytest.raises(UnknownCommit, match="no commit 4 yet"):
            await answer(broker, at=4)
        segment_path(tmp_path, 1).unlink()
        with pytest.raises(HistoryGone, match="its first is commit 2"):
            await answer(broker, at=0)
        assert len(await answer(broker, at=1)) == 1
    async with in_memory(clock) as broker:
        with pytest.raises(NoLog):
            await answer(broker, at=0)


@asynchronous
async def test_where_the_log_has_failed_nothing_is_made_up(clock: Clock, tmp_path: Path) -> None:
    async with opened(clock, tmp_path, durability="none") as broker:
        with full_disk():
            await broker.update(insert(1))
            with pytest.raises(LogBroken):
                await answer(broker, at=0)
