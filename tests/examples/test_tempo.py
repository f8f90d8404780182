"""The time of the city's streets: it passes as fast as somebody says, from one moment to the next."""

import asyncio

import pytest

from tidings.server.demo.tempo import Tempo
from waiting import asynchronous


class Clock:
    """Our time, as a test says."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


@asynchronous
async def test_time_goes_on_from_where_it_is_when_the_tempo_changes() -> None:
    clock = Clock()
    tempo = Tempo(3.0, clock)
    clock.seconds += 10
    assert tempo.now == pytest.approx(30.0)
    tempo.set("10")
    assert tempo.now == pytest.approx(30.0)
    clock.seconds += 2
    assert tempo.now == pytest.approx(50.0)
    tempo.begin()
    assert tempo.now == 0.0


@asynchronous
async def test_what_is_no_tempo_changes_nothing() -> None:
    tempo = Tempo(3.0, Clock())
    for text in ("fast", "", "0", "-1", "nan", "inf", "1e9"):
        tempo.set(text)
        assert tempo.factor == 3.0


@asynchronous
async def test_whoever_waits_is_woken_by_a_faster_tempo() -> None:
    clock = Clock()
    tempo = Tempo(0.1, clock)
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(tempo.until(100.0))
        await asyncio.sleep(0)
        clock.seconds += 1
        tempo.set("100")
        clock.seconds += 1
        tempo.set("101")
        await waiting
    assert tempo.now >= 100.0
