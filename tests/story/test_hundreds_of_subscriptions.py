"""A busy day: hundreds of subscriptions come and go while thousands of updates run, and nobody is ever told wrong.

A second engine lives through the same day and evaluates everything in full. Its subscribers must be told the same.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

from oracles.recomputation import Follower
from strategies.data import GRAPHS, PREDICATES, PREFIX, RESOURCES
from strategies.subscriptions import FEATURES, text_of
from tidings.engine.core import Core
from tidings.engine.engine import Engine
from tidings.model.errors import GraphExists, GraphMissing
from tidings.model.results import Row
from tidings.model.zset import ZSet

UPDATES = 3000
AT_ONCE = 200
COMPARED = 20
CHECK_EVERY = 250

NAMES = (*RESOURCES, *(f"<http://example.org/n{number}>" for number in range(8)))
OBJECTS = (*NAMES, "1", "2", "1.5", '"s"', '"s"@en', '"S"@EN')
FREQUENT = (
    "SELECT * {{ {s} ?p ?o }}",
    "SELECT ?s {{ ?s {p} {s} }}",
    "SELECT * {{ {s} {p} ?o . ?o ?q ?v }}",
    "SELECT * {{ {s} {p} ?o OPTIONAL {{ ?o {q} ?v }} }}",
    "SELECT ?o (COUNT(*) AS ?n) {{ {s} ?p ?o . ?o ?q ?v }} GROUP BY ?o",
    "SELECT * {{ ?s {p} ?o FILTER (?s = {s}) }}",
    "SELECT DISTINCT ?v {{ GRAPH ?g {{ {s} {p} ?o . ?o ?q ?v }} }}",
    "SELECT * {{ {s} {p} ?o FILTER NOT EXISTS {{ ?o {q} ?v }} }}",
    "SELECT * {{ GRAPH {g} {{ ?s {p} ?o MINUS {{ ?o {q} {s} }} }} }}",
    "SELECT ?o {{ {s} {p}+ ?o }}",
    "SELECT * {{ {s} ?p ?o }} ORDER BY DESC(?o) ?p LIMIT 2",
    "ASK {{ {s} {p} {t} }}",
    "CONSTRUCT {{ ?o {q} _:b . _:b {p} {s} }} {{ {s} {p} ?o }}",
)
RARE = tuple(text_of(query) for queries in FEATURES.values() for query in queries)


def update(random: Random) -> str:
    """Mostly small changes; now and then a big one."""
    s, t, o = random.choice(NAMES), random.choice(NAMES), random.choice(OBJECTS)
    p, q, g = random.choice(PREDICATES), random.choice(PREDICATES), random.choice(GRAPHS)
    small = (
        f"INSERT DATA {{ {s} {p} {o} }}",
        f"INSERT DATA {{ {s} {p} {o}, {t} . {t} {q} {o} }}",
        f"INSERT DATA {{ GRAPH {g} {{ {s} {p} {o} . {t} {p} {s} }} }}",
        f"DELETE WHERE {{ {s} {p} ?o }}",
        f"DELETE WHERE {{ GRAPH ?g {{ {s} {p} ?o }} }}",
        f"DELETE {{ {s} {p} ?o }} INSERT {{ {s} {p} {o} }} WHERE {{ OPTIONAL {{ {s} {p} ?o }} }}",
        f"DELETE {{ ?s {p} ?o }} INSERT {{ ?s {q} ?o }} WHERE {{ ?s {p} ?o FILTER (?s IN ({s}, {t})) }}",
        f"WITH {g} DELETE {{ ?s ?p ?o }} INSERT {{ ?o ?p ?s }} WHERE {{ ?s ?p ?o FILTER (isIRI(?o) && ?s = {s}) }}",
        f"INSERT {{ {s} {p} [ {q} ?o ] }} WHERE {{ {t} {p} ?o FILTER (isIRI(?o)) }}",
        "DELETE { ?b ?p ?o } WHERE { ?b ?p ?o FILTER (isBlank(?b)) }",
        f"DELETE DATA {{ {s} {p} {o} }} ; INSERT DATA {{ {s} {p} {o} . {s} {q} {t} }}",
    )
    big = (
        f"COPY {g} TO DEFAULT",
        f"MOVE {g} TO {random.choice(GRAPHS)}",
        f"ADD DEFAULT TO {g}",
        f"CLEAR {random.choice(('DEFAULT', 'NAMED', f'GRAPH {g}', 'ALL'))}",
    )
    return PREFIX + random.choice(big if random.random() < 0.02 else small)


def query(random: Random) -> str:
    if random.random() < 0.2:
        return random.choice(RARE)
    s, t = random.choice(NAMES), random.choice(NAMES)
    p, q, g = random.choice(PREDICATES), random.choice(PREDICATES), random.choice(GRAPHS)
    return random.choice(FREQUENT).format(s=s, t=t, p=p, q=q, g=g)


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
