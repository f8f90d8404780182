"""Mixed profiles, stress and soak: updates at a fixed rate, and the latencies of their notifications."""

import asyncio
from collections.abc import AsyncIterator

from tidings.bench.configuration import MixedTest, SoakTest, StressTest
from tidings.bench.experiments.listeners import Listener, added_text, listen, tally
from tidings.bench.experiments.open_loop import Load, offer
from tidings.bench.experiments.setting import Surroundings, now
from tidings.bench.results.histogram import Histogram
from tidings.bench.results.measured import Measurement
from tidings.bench.targets import Target
from tidings.bench.workloads import city

_THING = "<urn:pes:load> <urn:pes:value>"
_QUERY = f"SELECT ?value WHERE {{ {_THING} ?value }}"
_MEGABYTE = 1 << 20
_FIRST = 1000
"""The first value of a mixed profile, which the initial city does not have."""


def _write(value: int) -> str:
    return f"DELETE {{ {_THING} ?old }} INSERT {{ {_THING} {value} }} WHERE {{ OPTIONAL {{ {_THING} ?old }} }}"


# -- stress -----------------------------------------------------------------------------------------------------


async def stress(test: StressTest, target: Target, around: Surroundings) -> AsyncIterator[Measurement]:
    """Rising load until the 99th percentile of the latency is beyond the bound, or a notification is lost."""
    listeners = [await listen(target, _QUERY, added_text, test.timeout) for _ in range(test.subscribers)]
    rate, first = test.start, 1
    try:
        for step in range(test.steps):
            around.progress(step, test.steps, f"{rate:,.0f} updates a second")
            measurement = await _at_rate(target, around, listeners, rate, test, first)
            first += len(measurement.samples) + int(measurement.values["failed"]) + 1
            yield measurement
            if measurement.values["missed"]:
                break
            first, rate = first + int(rate * test.seconds), rate * test.factor
    finally:
        for listener in listeners:
            await listener.end()


async def _at_rate(
    target: Target, around: Surroundings, listeners: list[Listener], rate: float, test: StressTest, first: int
) -> Measurement:
    for listener in listeners:
        listener.marks.clear()
    load = await offer(lambda number: target.update(_write(first + number)), rate, test.seconds)
    last = str(first + len(load.meant) - 1)
    await asyncio.gather(*(listener.heard(last, test.timeout) for listener in listeners))
    latencies, stale = _latencies(load, listeners, first)
    wanted = [str(first + number) for number in range(len(load.meant)) if number in load.answered]
    counted = tally([(wanted, [mark for mark, _ in listener.marks]) for listener in listeners])
    p99 = latencies.percentile(99.0) if latencies.count else float("inf")
    missed = p99 > test.p99_ms or counted.lost > 0 or bool(load.failures)
    achieved = len(load.answered) / load.seconds
    return Measurement(
        target=around.target, test=around.test, kind="stress", n=int(rate), samples=(p99,) if latencies.count else (),
        values=counted.values() | {
            "stale": stale, "rate": achieved, "p99_ms": p99, "missed": missed, "failed": len(load.failures),
        },
        histogram=latencies.to_json(),
    )  # fmt: skip


def _latencies(load: Load, listeners: list[Listener], first: int) -> tuple[Histogram, int]:
    """The times from the scheduled instant of each update to its notification, for every subscriber; and the number of
    notifications that belong to none of these updates."""
    histogram, stale = Histogram(), 0
    meant = {str(first + number): instant for number, instant in enumerate(load.meant)}
    for listener in listeners:
        for mark, at in listener.marks:
            if mark in meant:
                histogram.record(max(0.0, (at - meant[mark]) * 1000.0))
            else:
                stale += 1
    return histogram, stale


# -- mixed ------------------------------------------------------------------------------------------------------


async def mixed(test: MixedTest, target: Target, around: Surroundings) -> AsyncIterator[Measurement]:
    """The subscriptions of the SPS paper, and its updates in turn with a new value each, at a rate."""
    known = set(city.roads(test.factor))
    lamps = [place for place in city.subscribed_lamps() if place[0] in known]
    roads = [road for road in city.COARSE_ROADS if road in known]
    queries = [city.subscribe_lamp(*place) for place in lamps] + [city.subscribe_road(road) for road in roads]
    listeners = [await listen(target, query, added_text, test.timeout) for query in queries]
    order = sorted(known)
    timeline: list[tuple[float, float]] = []
    begun = now()

    def text(number: int) -> str:
        road, value = order[number % len(order)], str(_FIRST + number)
        return city.update_lamp(road, 1, value) if test.updates == "LAMP" else city.update_road(road, value)

    def watch(number: int) -> None:
        if number % max(1, int(test.rate / 2)) == 0:
            timeline.append((now() - begun, number / max(1e-9, now() - begun)))
            around.progress(number, test.rate * test.seconds, f"{test.rate:,.0f} updates a second")

    try:
        load = await offer(lambda number: target.update(text(number)), test.rate, test.seconds, watch=watch)
        expected = _expected(order, lamps, roads, len(load.meant), test.updates)
        await _settle(load, listeners, sum(expected), test.timeout)
        histogram, stale = _latencies(load, listeners, _FIRST)
        got = histogram.count
        lost = max(0, sum(expected) - got)
        yield Measurement(
            target=around.target, test=around.test, kind="mixed", n=int(test.rate),
            samples=tuple(histogram.percentile(each) for each in (50.0, 99.0)) if histogram.count else (),
            values={
                "subscriptions": len(listeners), "sent": len(load.meant), "answered": len(load.answered),
                "failed": len(load.failures), "rate": len(load.answered) / load.seconds,
                "expected": sum(expected), "received": got, "lost": lost, "stale": stale,
                "loss_ratio": lost / sum(expected) if sum(expected) else 0.0,
            },
            timeline=tuple(timeline), histogram=histogram.to_json(),
            wrong=(f"{lost} of {sum(expected)} notifications lost",) if lost and not target.offers.polls else (),
        )  # fmt: skip
    finally:
        for listener in listeners:
            await listener.end()


def _expected(order: list[int], lamps: list[tuple[int, int]], roads: list[int], sent: int, updates: str) -> list[int]:
    """How many notifications each update causes: one for each subscription whose lamp, or road, it touches."""
    fine = {road: sum(1 for place in lamps if place[0] == road) for road in order}
    first = {road for road, lamp in lamps if lamp == 1}
    counts = []
    for number in range(sent):
        road = order[number % len(order)]
        hit = (road in first) if updates == "LAMP" else fine.get(road, 0)
        counts.append(int(hit) + (road in roads))
    return counts


async def _settle(load: Load, listeners: list[Listener], expected: int, seconds: float) -> None:
    """Wait until all expected notifications have come, or no more come."""
    deadline = now() + seconds
    sent = {str(_FIRST + number) for number in range(len(load.meant))}
    while now() < deadline and sum(mark in sent for each in listeners for mark, _ in each.marks) < expected:
        await asyncio.sleep(0.02)


# -- soak -------------------------------------------------------------------------------------------------------


async def soak(test: SoakTest, target: Target, around: Surroundings) -> AsyncIterator[Measurement]:
    """Replace one value for a given time, and read the memory of the target every second."""
    listeners = [await listen(target, _QUERY, added_text, test.timeout) for _ in range(test.subscribers)]
    timeline: list[tuple[float, float]] = []
    begun = now()

    async def watch_memory() -> None:
        while True:
            size = await target.memory()
            if size is not None:
                timeline.append((now() - begun, size / _MEGABYTE))
            around.progress(now() - begun, test.seconds, "memory" if size is None else f"{size / _MEGABYTE:,.0f} MB")
            await asyncio.sleep(min(1.0, test.seconds / 10))

    watching = asyncio.create_task(watch_memory())
    try:
        load = await offer(lambda number: target.update(_write(number + 1)), test.rate, test.seconds)
        last = str(len(load.meant))
        await asyncio.gather(*(listener.heard(last, test.timeout) for listener in listeners))
        wanted = [str(number + 1) for number in sorted(load.answered)]
        counted = tally([(wanted, [mark for mark, _ in listener.marks]) for listener in listeners])
        histogram, stale = _latencies(load, listeners, 1)
        growth = _growth(timeline)
        wrong = [f"memory has grown by {growth:,.0f} MB"] if growth > test.growth_mb else []
        if counted.lost and not target.offers.polls:
            wrong.append(f"{counted.lost} of {counted.expected} notifications lost")
        yield Measurement(
            target=around.target, test=around.test, kind="soak", n=int(test.rate),
            samples=tuple(histogram.percentile(each) for each in (50.0, 99.0)) if histogram.count else (),
            values=counted.values() | {
                "stale": stale, "rate": len(load.answered) / load.seconds, "failed": len(load.failures),
                "growth_mb": growth,
            },
            timeline=tuple(timeline), histogram=histogram.to_json(), wrong=tuple(wrong),
        )  # fmt: skip
    finally:
        watching.cancel()
        for listener in listeners:
            await listener.end()


def _growth(timeline: list[tuple[float, float]]) -> float:
    """The mean of the last quarter minus that of the second; the first quarter is the warm-up."""
    if len(timeline) < 4:
        return 0.0
    quarter = len(timeline) // 4
    sizes = [size for _, size in timeline]
    return sum(sizes[-quarter:]) / quarter - sum(sizes[quarter : 2 * quarter]) / quarter
