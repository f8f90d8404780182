"""A busy day: hundreds of subscriptions come and go while updates go on, and nobody is ever told wrong.

A second engine lives through the same day and evaluates everything in full. Its subscribers must be told the same.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

import pytest

from endurance import often
from oracles.recomputation import Follower
from strategies.busy import query, update
from tidings.engine.engine import Engine
from tidings.engine.updates.executor import Core
from tidings.model.errors import GraphExists, GraphMissing
from tidings.model.results import Row
from tidings.model.zset import ZSet

UPDATES = often(800)
AT_ONCE = 200
COMPARED = 20
CHECK_EVERY = 200


@dataclass
class Day:
    """The same events for an engine that keeps answers up to date and for one that knows no better."""

    random: Random
    engine: Engine = field(default_factory=lambda: Engine(Core(random=Random(1))))
    naive: Engine = field(default_factory=lambda: Engine(Core(random=Random(1)), naive=True))
    here: list[Follower] = field(default_factory=list)
    twins: dict[int, Follower] = field(default_factory=dict)
    """Subscribers of the naive engine, by the number of the subscription they go with."""

    def arrive(self) -> None:
        follower = Follower(self.engine, query(self.random))
        self.here.append(follower)
        if len(self.twins) < COMPARED:
            self.twins[follower.subscription.id] = Follower(self.naive, follower.text)

    def leave(self) -> None:
        follower = self.here.pop(self.random.randrange(len(self.here)))
        number = follower.subscription.id
        self.engine.unsubscribe(number)
        if number in self.twins:
            self.naive.unsubscribe(self.twins.pop(number).subscription.id)

    def update(self) -> None:
        text = update(self.random)
        try:
            made = self.engine.apply(text, now=0)
        except (GraphExists, GraphMissing):
            return
        expected = self.naive.apply(text, now=0)
        assert made.delta == expected.delta
        for notification in made.notifications:
            self.tell(notification.subscription.id, notification.changes)
        told = {each.subscription.id: each.changes for each in made.notifications}
        named = {each.subscription: each.changes for each in expected.notifications}
        for number, twin in self.twins.items():
            assert told.get(number, ZSet[Row]()) == named.get(twin.subscription, ZSet[Row]()), (twin.text, text)

    def tell(self, number: int, changes: ZSet[Row]) -> None:
        follower = next(each for each in self.here if each.subscription.id == number)
        assert changes
        for row, weight in changes.items():
            follower.answer[row] += weight
        follower.answer = +follower.answer


def events(random: Random) -> Iterator[str]:
    for _ in range(AT_ONCE):
        yield "arrive"
    for number in range(1, UPDATES + 1):
        yield "update"
        if random.random() < 0.2:
            yield from random.choice((("arrive", "leave"), ("leave", "arrive")))
        if number % CHECK_EVERY == 0:
            yield "check"


@pytest.mark.no_cover
def test_everybody_is_told_right_all_day_long() -> None:
    day = Day(Random(20_160_401))
    for event in events(day.random):
        match event:
            case "arrive":
                day.arrive()
            case "leave":
                day.leave()
            case "update":
                day.update()
            case _:
                for follower in day.here:
                    follower.check()
    while day.here:
        day.leave()
    assert len(day.engine.lutt) == len(day.naive.lutt) == 0
    assert day.engine.timing.notifications > UPDATES
