"""Queries run beside each other, an update runs alone, and a turn ends with its thread."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from tidings.engine.core import Core
from tidings.gates.errors import ShuttingDown
from tidings.gates.shared import Done, SharedCore
from tidings.model.errors import RowLimitExceeded, SparqlSyntaxError, TimeLimitExceeded
from tidings.model.results import Result, Solutions

ALL = "SELECT * { ?s ?p ?o }"
MANY = "INSERT DATA { " + " ".join(f"<s> <p{n}> {n} ." for n in range(100)) + " }"
ENDLESS = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }"


@contextmanager
def shared(
    seconds: float | None = 30.0, rows: int | None = None, clock: Callable[[], int] = lambda: 1_000_000
) -> Iterator[SharedCore]:
    core = Core()
    shared_core = SharedCore(core, lambda: Core(core.store), clock=clock, seconds=seconds, rows=rows, workers=2)
    yield shared_core
    shared_core.close()


def rows(result: Result) -> int:
    assert isinstance(result, Solutions)
    return sum(1 for _ in result.rows)


def test_an_update_says_when_it_happened_and_what_it_changed() -> None:
    async def story(core: SharedCore) -> None:
        assert await core.update("INSERT DATA { <a> <b> 1, 2 }", None) == Done(1_000_000, 2, 0)
        assert await core.update("DELETE { <a> <b> 1 } INSERT { <a> <b> 2, 3, 4 } WHERE {}", None) == Done(
            1_000_000, 2, 1
        )
        assert await core.query(ALL, None, rows) == 3

    with shared() as core:
        asyncio.run(story(core))


def test_an_update_waits_for_a_query_that_is_being_read() -> None:
    started, go_on = threading.Event(), threading.Event()

    def slowly(result: Result) -> int:
        started.set()
        assert go_on.wait(10)
        return rows(result)

    async def story(core: SharedCore) -> None:
        await core.update("INSERT DATA { <a> <b> 1 }", None)
        async with asyncio.TaskGroup() as group:
            reading = group.create_task(core.query(ALL, None, slowly))
            await asyncio.to_thread(started.wait, 10)
            writing = group.create_task(core.update("INSERT DATA { <a> <b> 2 }", None))
            await asyncio.sleep(0.02)
            assert not writing.done()
            assert len(core.core.store) == 1
            go_on.set()
        assert reading.result() == 1
        assert len(core.core.store) == 2

    with shared() as core:
        asyncio.run(story(core))


def test_each_query_has_a_now_of_its_own_however_long_it_is_read() -> None:
    started, go_on = threading.Event(), threading.Event()

    def now(result: Result) -> str:
        assert isinstance(result, Solutions)
        return str(next(iter(result.rows))[0])

    def slowly(result: Result) -> str:
        started.set()
        assert go_on.wait(10)
        return now(result)

    async def story(core: SharedCore) -> None:
        async with asyncio.TaskGroup() as group:
            first = group.create_task(core.query("SELECT (NOW() AS ?n) {}", None, slowly))
            await asyncio.to_thread(started.wait, 10)
            second = await core.query("SELECT (NOW() AS ?n) {}", None, now)
            go_on.set()
        assert "00:00:01" in first.result()
        assert "00:00:02" in second

    seconds = iter(range(1, 10))
    with shared(clock=lambda: next(seconds) * 1_000_000) as core:
        asyncio.run(story(core))


def test_a_request_that_is_given_up_ends_its_evaluation_before_the_next_update() -> None:
    async def story(core: SharedCore) -> None:
        await core.update(MANY, None)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await core.query(ENDLESS, None, rows)
        assert (await core.update("CLEAR ALL", None)).removed == 100

    with shared(seconds=None) as core:
        asyncio.run(story(core))


def test_limits_hold_and_leave_the_core_in_good_order() -> None:
    async def story(core: SharedCore) -> None:
        await core.update(MANY, None)
        with pytest.raises(RowLimitExceeded):
            await core.query(ALL, None, rows)
        with pytest.raises(TimeLimitExceeded):
            await core.query(ENDLESS, None, rows)
        with pytest.raises(SparqlSyntaxError):
            await core.query("SELECT", None, rows)
        assert await core.query(ALL + " LIMIT 7", None, rows) == 7

    with shared(seconds=0.2, rows=50) as core:
        asyncio.run(story(core))


def test_one_time_limit_holds_for_all_operations_of_an_update() -> None:
    slow = (
        "INSERT { <x> <y> ?n } WHERE { SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h 1 . FILTER(RAND() < 2) } }"
    )

    async def story(core: SharedCore) -> None:
        await core.update(MANY, None)
        with pytest.raises(TimeLimitExceeded):
            await core.update(";".join([slow] * 1000), None)
        assert len(core.core.store) == 100

    with shared(seconds=0.3) as core:
        asyncio.run(story(core))


def test_what_comes_after_the_end_is_refused() -> None:
    async def story(core: SharedCore) -> None:
        core.end()
        with pytest.raises(ShuttingDown):
            await core.query(ALL, None, rows)

    with shared() as core:
        asyncio.run(story(core))
