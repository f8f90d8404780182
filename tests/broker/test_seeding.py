"""What a broker begins with: committed like anything else, and only if there is nothing yet."""

from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest

from broker.making import Client, Clock, crashed, full_disk, in_memory, insert, opened, quads_of, settled
from tidings.broker.updates import initial_data as seeding
from tidings.broker.updates.initial_data import seed
from tidings.log.errors import LogWriteFailed
from tidings.model.terms import Quad
from waiting import asynchronous

EVERYTHING = "SELECT * { ?s ?p ?o }"


def quads(most: int = 10) -> Iterator[Quad]:
    for n in range(most):
        yield f"<urn:{n}>", "<urn:p>", f'"{n}"', ""


@pytest.fixture(autouse=True)
def _small_batches() -> Iterator[None]:
    with mock.patch.object(seeding, "BATCH", 3):
        yield


@asynchronous
async def test_an_empty_broker_is_seeded_and_stays_so(clock: Clock, tmp_path: Path) -> None:
    async with opened(clock, tmp_path) as broker:
        assert await seed(broker, quads)
        assert quads_of(broker) == set(quads())
        assert not await seed(broker, lambda: pytest.fail("nothing is to be read"))
    async with opened(clock, tmp_path) as second:
        assert quads_of(second) == set(quads())
        assert not await seed(second, lambda: pytest.fail("nothing is to be read"))


@asynchronous
async def test_a_broker_that_has_ever_committed_is_not_seeded_though_it_is_empty(clock: Clock) -> None:
    async with in_memory(clock) as broker:
        await broker.update(insert(1))
        await broker.update("CLEAR ALL")
        assert not await seed(broker, quads)
        assert quads_of(broker) == set()


@asynchronous
async def test_quads_that_come_again_count_once_and_languages_have_one_spelling(clock: Clock) -> None:
    twice = [("<urn:a>", "<urn:p>", '"x"@en', ""), ("<urn:a>", "<urn:p>", '"x"@EN', "")] * 5
    async with in_memory(clock) as broker:
        assert await seed(broker, lambda: twice)
        assert quads_of(broker) == {twice[0]}
        assert broker.last_commit == 1


@asynchronous
async def test_subscribers_that_come_after_the_seed_see_all_of_it_and_resume_well(clock: Clock, tmp_path: Path) -> None:
    async with opened(clock, tmp_path / "a") as broker:
        await seed(broker, quads)
        client = Client(broker)
        client.subscribe(EVERYTHING)
        await broker.update(insert(1))
        await settled(broker)
        client.lose()
        client.come_back()
        client.resume(client.only.spuid)
        await settled(broker)
        assert client.only.commits[-1] == broker.last_commit
        client.check()
        copy = crashed(tmp_path / "a", tmp_path / "b")
    async with opened(clock, copy) as second:
        client.come_back(second)
        client.resume(client.only.spuid)
        await settled(second)
        client.check()


@asynchronous
async def test_a_seed_that_was_interrupted_is_completed_at_the_next_start(clock: Clock, tmp_path: Path) -> None:
    def broken() -> Iterator[Quad]:
        yield from quads(7)
        raise ValueError("a line that makes no sense")

    async with opened(clock, tmp_path) as broker:
        with pytest.raises(ValueError, match="no sense"):
            await seed(broker, broken)
    async with opened(clock, tmp_path) as second:
        assert await seed(second, quads)
        assert quads_of(second) == set(quads())


@asynchronous
async def test_a_seed_that_cannot_be_written_fails(clock: Clock, tmp_path: Path) -> None:
    async with opened(clock, tmp_path) as broker:
        with full_disk(), pytest.raises(LogWriteFailed):
            await seed(broker, quads)
    async with opened(clock, tmp_path) as second:
        assert await seed(second, quads)
        assert quads_of(second) == set(quads())
