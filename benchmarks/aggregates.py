"""Compares AVG, COUNT, MIN and MAX over 10,000 sensors by road, under single updates, with the naive SPU.

Prints one JSON line with a ratio for each aggregate: the time of an update with the naive SPU / ours.
"""

from collections import Counter
from collections.abc import Iterator

from measure import NOW, check, per_call, report, rounded, say
from tidings.bench.workloads.city import NS
from tidings.engine.engine import Engine
from tidings.engine.plans.spu import answer_rows
from tidings.engine.store.store import Store
from tidings.engine.updates.executor import Core
from tidings.model.terms import Quad

_SENSORS = 10_000
_ROADS = 310
_UPDATES = 500
_NAIVE_UPDATES = 10
AGGREGATES = ("AVG", "COUNT", "MIN", "MAX")


def sensors() -> Iterator[Quad]:
    for number in range(_SENSORS):
        sensor = f"<{NS}SENSOR_{number}>"
        yield f"<{NS}ROAD_{number % _ROADS}>", f"<{NS}hasSensor>", sensor, ""
        yield sensor, f"<{NS}hasValue>", f'"{number * 7919 % 1000}"^^<http://www.w3.org/2001/XMLSchema#integer>', ""


def subscription(aggregate: str) -> str:
    return (
        f"PREFIX ns: <{NS}> SELECT ?road ({aggregate}(?v) AS ?a) "
        "{ ?road ns:hasSensor ?sensor . ?sensor ns:hasValue ?v } GROUP BY ?road"
    )


def update(number: int) -> str:
    triple = f"ns:SENSOR_{number * 6007 % _SENSORS} ns:hasValue"
    value = number * 31 % 1000
    return f"PREFIX ns: <{NS}> DELETE {{ {triple} ?v }} INSERT {{ {triple} {value} }} WHERE {{ {triple} ?v }}"


def main() -> None:
    figures = {}
    for aggregate in AGGREGATES:
        mine = _run(aggregate, naive=False, updates=_UPDATES)
        naive = _run(aggregate, naive=True, updates=_NAIVE_UPDATES)
        say(f"{aggregate}: {mine * 1e6:.1f} µs, naive {naive * 1e3:.1f} ms")
        figures[aggregate.lower()] = rounded(naive / mine, 0)
    report(**figures)


def _run(aggregate: str, *, naive: bool, updates: int) -> float:
    engine = Engine(Core(Store(sensors())), naive=naive)
    text = subscription(aggregate)
    _, first = engine.subscribe(text, now=NOW)
    answer = Counter(first)

    def apply(request: str) -> None:
        for notification in engine.apply(request, now=NOW).notifications:
            for row, weight in notification.changes.items():
                answer[row] += weight

    seconds = per_call(apply, [update(number) for number in range(updates)])
    check(+answer == Counter(answer_rows(engine.core.query(text, now=NOW))), f"{aggregate}: the folded answer")
    return seconds


if __name__ == "__main__":
    main()
