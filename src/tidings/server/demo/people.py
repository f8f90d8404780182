"""Simulates people who walk along roads, and the readings of the presence sensors at the lamp posts.

    a sensor reads True at t  =  at least one person is within REACH of its post at t

The same seed gives the same readings: each person has a random generator of its own, and the simulation uses no clock.
Times are simulated seconds, which may pass faster than real ones.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import merge
from random import Random

SPACING = 24.0
"""Metres from post to post."""
REACH = 8.0
"""Metres within which a sensor detects a person; less than half of SPACING, so that only one sensor detects each."""
SPEED = 1.4
"""Metres a second."""


@dataclass(frozen=True, slots=True)
class Road:
    number: int
    posts: int


@dataclass(frozen=True, slots=True)
class Reading:
    """From time `at` on, somebody or nobody is at a place, which is a road and a post, as in `POST_1_4`."""

    at: float
    place: str
    present: bool


def readings(roads: Sequence[Road], people: int, *, seed: int = 0, speed: float = SPEED) -> Iterator[Reading]:
    """The endless readings of the sensors, in order; each differs from the one before at the same place."""
    if not roads:
        return
    present: Counter[str] = Counter()
    walks = (_walk(roads, Random(f"{seed}/{person}"), speed) for person in range(people))
    for at, change, place in merge(*walks):
        before = present[place]
        present[place] += change
        if not before or not present[place]:
            yield Reading(at, place, change > 0)


def _walk(roads: Sequence[Road], rng: Random, speed: float) -> Iterator[tuple[float, int, str]]:
    """The times when a person comes to a place (1) and leaves it (-1)."""
    speed *= rng.uniform(0.8, 1.2)
    now = rng.uniform(0, SPACING / speed)
    while True:
        for place, stay in _stroll(rng.choice(roads), rng):
            yield now, 1, place
            now += 2 * REACH / speed + stay
            yield now, -1, place
            now += (SPACING - 2 * REACH) / speed
        now += rng.uniform(1, 10)  # round the corner, to another road


def _stroll(road: Road, rng: Random) -> Iterator[tuple[str, float]]:
    """A walk along a road from one of its ends, with seconds of rest at some posts. Some people turn back."""
    post, ahead = rng.choice(((1, 1), (road.posts, -1)))
    while 1 <= post <= road.posts:
        yield f"{road.number}_{post}", rng.uniform(4, 12) if rng.random() < 0.1 else 0.0
        if rng.random() < 0.05:
            ahead = -ahead
        post += ahead
