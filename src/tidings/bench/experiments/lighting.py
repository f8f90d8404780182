"""The LAMP and ROAD experiments of the SPS paper (sections IV-V), measured from outside.

The test makes all subscriptions S, then sends the updates of the profile U one after the other, each after the answer
to the last. The components of the time come from the broker, if it reports them.
"""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

from tidings.bench.configuration import LightingTest
from tidings.bench.experiments.listeners import Listener, added_text, listen
from tidings.bench.experiments.setting import Surroundings, ms, now
from tidings.bench.results import kpis
from tidings.bench.results.histogram import Histogram
from tidings.bench.results.measured import Measurement
from tidings.bench.targets import Target
from tidings.bench.workloads import city


async def measure(test: LightingTest, target: Target, around: Surroundings) -> AsyncIterator[Measurement]:
    known = set(city.roads(test.factor))
    lamps = [place for place in city.subscribed_lamps() if place[0] in known]
    roads = [road for road in city.COARSE_ROADS if road in known]
    queries = [city.subscribe_lamp(*place) for place in lamps] + [city.subscribe_road(road) for road in roads]
    listeners: list[Listener] = []
    try:
        for number, query in enumerate(queries):
            listeners.append(await listen(target, query, added_text, test.timeout))
            around.progress(number + 1, len(queries), "subscribing")
        for experiment in test.experiments:
            rounds = [
                await _round(test, target, around, experiment, sorted(known), lamps, roads, listeners, iteration)
                for iteration in range(around.warmup + around.iterations)
            ]
            yield _together(around, experiment, len(known), len(listeners), rounds[around.warmup :], target)
    finally:
        for listener in listeners:
            await listener.end()


@dataclass(frozen=True, slots=True)
class Round:
    """One pass over all updates of the profile."""

    samples: list[float]
    latencies: list[float]
    elapsed: float
    triples: int
    expected: int
    received: int
    stale: int
    components: dict[str, float]


async def _round(
    test: LightingTest,
    target: Target,
    around: Surroundings,
    experiment: str,
    order: list[int],
    lamps: list[tuple[int, int]],
    roads: list[int],
    listeners: list[Listener],
    iteration: int,
) -> Round:
    value = f"{experiment}-{iteration}"
    for listener in listeners:
        listener.marks.clear()
    first = {road for road, lamp in lamps if lamp == 1}
    expected = sum(
        (road in first if experiment == "LAMP" else sum(1 for place in lamps if place[0] == road)) + (road in roads)
        for road in order
    )
    before = await target.components()
    samples: list[float] = []
    sent: list[float] = []
    begun = now()
    for number, road in enumerate(order):
        text = city.update_lamp(road, 1, value) if experiment == "LAMP" else city.update_road(road, value)
        sent.append(now())
        await target.update(text)
        samples.append(ms(sent[-1]))
        around.progress(number + 1, len(order), f"{experiment}, round {iteration + 1}")
    elapsed = ms(begun)
    deadline = now() + test.timeout
    while now() < deadline and _told(listeners, value) < expected:
        await asyncio.sleep(0.005)
    received = _told(listeners, value)
    after = await target.components()
    return Round(
        samples,
        _latencies(listeners, value, lamps, roads, dict(zip(order, sent, strict=True))),
        elapsed,
        len(order) if experiment == "LAMP" else sum(map(city.posts_of_road, order)),
        expected,
        received,
        sum(len(listener.marks) for listener in listeners) - received,
        {name: value - before.get(name, 0.0) for name, value in after.items()},
    )


def _together(
    around: Surroundings, experiment: str, updates: int, subscriptions: int, rounds: list[Round], target: Target
) -> Measurement:
    """The rounds as one experiment; notifications are those of one round, as the paper counts them."""
    latencies = [latency for each in rounds for latency in each.latencies]
    values: dict[str, float] = {
        kpis.UPDATES: updates * len(rounds),
        kpis.SUBSCRIPTIONS: subscriptions,
        kpis.TRIPLES: sum(each.triples for each in rounds),
        kpis.NOTIFICATIONS: rounds[-1].received,
        kpis.T_ELAPSED: sum(each.elapsed for each in rounds),
        "expected": sum(each.expected for each in rounds),
        "received": sum(each.received for each in rounds),
        "lost": sum(max(0, each.expected - each.received) for each in rounds),
        "stale": sum(each.stale for each in rounds),
    }
    if latencies:
        values |= {"NL_min": min(latencies), "NL_max": max(latencies)}
    for name in (kpis.HITS, *kpis.COMPONENTS):
        if all(name in each.components for each in rounds):
            values[name] = sum(each.components[name] for each in rounds)
    wrong = [
        f"{each.received} notifications instead of {each.expected}"
        for each in rounds
        if each.received != each.expected and not target.offers.polls
    ]
    return Measurement(
        target=around.target, test=f"{around.test}-{experiment}", kind="lighting", n=updates,
        samples=tuple(sample for each in rounds for sample in each.samples), values=values, wrong=tuple(wrong),
        histogram=Histogram.of(latencies).to_json() if latencies else None,
    )  # fmt: skip


def _told(listeners: list[Listener], value: str) -> int:
    """How many notifications belong to this round: those with its value, and not of earlier rounds."""
    return sum(mark == value for listener in listeners for mark, _ in listener.marks)


def _latencies(
    listeners: list[Listener], value: str, lamps: list[tuple[int, int]], roads: list[int], sent: dict[int, float]
) -> list[float]:
    """The times from sending the update of a road to the first notification of each subscription that it affects."""
    places = [road for road, _ in lamps] + list(roads)
    first = [next((at for mark, at in listener.marks if mark == value), None) for listener in listeners]
    return [ms(sent[road], at) for road, at in zip(places, first, strict=True) if at is not None]
