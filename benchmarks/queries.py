"""Compares queries over the city, from the text to the last row, with pyoxigraph on the same data.

Prints one JSON line with a ratio for each query (ours / pyoxigraph, less is better).
"""

from collections import Counter
from typing import Any

import pyoxigraph

from measure import NOW, check, duel, our_city, report, rounded, say, their_city
from tidings.bench.workloads.city import NS, subscribe_lamp, subscribe_road
from tidings.engine.updates.executor import Core
from tidings.model.results import Solutions

_PREFIX = f"PREFIX ns: <{NS}>\n"
_ROUNDS = 5

QUERIES = {
    "pattern": [subscribe_lamp(road, 1) for road in range(1, 201)],
    "road_join": [subscribe_road(road) for road in range(301, 311)],
    "optional": [
        _PREFIX + f"SELECT ?lamp ?d ?note {{ ns:ROAD_{road} ns:isConnectedTo ?post . ?post ns:hasLamp ?lamp . "
        "?lamp ns:hasDimmingValue ?d OPTIONAL { ?lamp ns:note ?note } }"
        for road in range(201, 221)
    ],
    "group_by": [
        _PREFIX + "SELECT ?road (COUNT(?lamp) AS ?lamps) { ?road ns:isConnectedTo ?post . ?post ns:hasLamp ?lamp . "
        "?lamp ns:hasDimmingValue ?d } GROUP BY ?road"
    ],
    "path": [
        _PREFIX + f"SELECT ?d {{ ns:ROAD_{road} ns:isConnectedTo/ns:hasLamp/ns:hasDimmingValue ?d }}"
        for road in range(1, 101)
    ],
    "closure": [
        _PREFIX + f"SELECT ?x {{ ns:ROAD_{road} (ns:isConnectedTo|ns:hasLamp)+ ?x }}" for road in range(1, 101)
    ],
}


def main() -> None:
    say("loading the city twice ...")
    core, peer = our_city(), their_city()
    figures = {}
    for name, texts in QUERIES.items():
        for text in texts[:10]:
            check(_our_rows(core, text) == _their_rows(peer, text), f"{name}: {text}")
        mine, theirs = duel(lambda text: _drain(core, text), lambda text: list(_solve(peer, text)), [texts] * _ROUNDS)
        say(f"{name}: {mine * 1e6:,.0f} µs, pyoxigraph {theirs * 1e6:,.0f} µs")
        figures[name] = rounded(mine / theirs)
    report(**figures)


def _drain(core: Core, text: str) -> list[Any]:
    result = core.query(text, now=NOW)
    assert isinstance(result, Solutions)
    return list(result.rows)


def _solve(peer: pyoxigraph.Store, text: str) -> pyoxigraph.QuerySolutions:
    solutions = peer.query(text)
    assert isinstance(solutions, pyoxigraph.QuerySolutions)
    return solutions


def _our_rows(core: Core, text: str) -> Counter[tuple[str | None, ...]]:
    return Counter(_drain(core, text))


def _their_rows(peer: pyoxigraph.Store, text: str) -> Counter[tuple[str | None, ...]]:
    return Counter(tuple(None if term is None else str(term) for term in row) for row in _solve(peer, text))


if __name__ == "__main__":
    main()
