"""Smart lighting of the SPS paper, engine only: LAMP and ROAD with their 1,004 subscriptions on the city.

Prints one JSON line with `lamp` and `road`, each with `ups`, `sps`, `tps`, `lhr_percent`, `notifications`, `nl_min_ms`,
`nl_max_ms`, `ratio_to_plain_store` (our updates per second with all subscriptions / pyoxigraph's plain update of the
same texts without any), `e2e`, and `ratio_to_naive` (the time of naive SPUs to update all answers after an update / the
time of ours; the update itself is the same for both).
"""

import gc
import time
from collections import Counter
from typing import Any

import pyoxigraph

from measure import NOW, check, our_city, per_call, report, rounded, say, their_city
from tidings.bench.workloads.city import PAPER_ROADS, lamp_updates, posts_of_road, road_updates, subscriptions
from tidings.engine.engine import Engine
from tidings.engine.plans.spu import answer_rows
from tidings.engine.updates.executor import Core

_ROUNDS = 7
_NAIVE_UPDATES = 8
EXPECTED = {"lamp": (0.40, 23, 1), "road": (0.72, 1004, 31)}


def texts(name: str, value: str) -> list[str]:
    return lamp_updates(value) if name == "lamp" else road_updates(value)


def main() -> None:
    say("loading the city ...")
    core, peer = our_city(), their_city()
    engine = Engine(core, clock=time.perf_counter)
    queries = {engine.subscribe(text, now=NOW)[0].id: text for text in subscriptions()}
    gc.collect()
    gc.freeze()
    report(**{name: _experiment(name, engine, queries, peer) for name in ("lamp", "road")})


def _experiment(name: str, engine: Engine, queries: dict[int, str], peer: pyoxigraph.Store) -> dict[str, Any]:
    hit_rate, notified, triples = _check(name, engine, queries)
    best: dict[str, float] = {}
    plain: list[float] = []
    latencies: list[float] = []
    for number in range(_ROUNDS):
        work = texts(name, f"{name}{number}")
        engine.timing.reset()
        seconds = per_call(lambda text: _timed(engine, text, latencies), work)
        if not best or seconds < best["seconds"]:
            timing = engine.timing
            total = timing.update + timing.lutt + timing.booster + timing.notify
            best = {"seconds": seconds, "e2e": (total - timing.update) / timing.update}
        if name == "lamp" or number < 1:
            plain.append(per_call(peer.update, work))
    naive = _naive(name)
    upkeep = best["seconds"] * best["e2e"] / (1 + best["e2e"])
    ups = 1 / best["seconds"]
    subscribed = len(engine.subscriptions)
    say(
        f"{name}: {best['seconds'] * 1e6:.1f} µs an update, of which {upkeep * 1e6:.1f} for the answers "
        f"(naive {naive * 1e3:.1f} ms); plain store {min(plain) * 1e6:.1f} µs"
    )
    return {
        "ups": rounded(ups, 1),
        "sps": rounded(ups * subscribed, 0),
        "tps": rounded(ups * subscribed * triples, 0),
        "lhr_percent": rounded(hit_rate, 2),
        "notifications": notified,
        "nl_min_ms": rounded(min(latencies) * 1e3, 4),
        "nl_max_ms": rounded(max(latencies) * 1e3, 3),
        "ratio_to_plain_store": rounded(min(plain) / best["seconds"]),
        "e2e": rounded(best["e2e"]),
        "ratio_to_naive": rounded(naive / upkeep, 0),
    }


def _timed(engine: Engine, text: str, latencies: list[float]) -> None:
    """Execute an update. If there are notifications, record the time from its commit to the last of them."""
    timing = engine.timing
    before = timing.lutt + timing.booster + timing.notify
    if engine.apply(text, now=NOW).notifications:
        latencies.append(timing.lutt + timing.booster + timing.notify - before)


def _check(name: str, engine: Engine, queries: dict[int, str]) -> tuple[float, int, float]:
    """Check the paper's own updates: hit rate, notifications and triples of each update, and all answers afterwards."""
    lhr, notified, triples = EXPECTED[name]
    answers = {number: _answer(engine, text) for number, text in queries.items()}
    engine.timing.reset()
    total = 0
    for text in texts(name, "100"):
        for notification in engine.apply(text, now=NOW).notifications:
            total += 1
            answer = answers[notification.subscription.id]
            for row, weight in notification.changes.items():
                answer[row] += weight
    timing = engine.timing
    lamps = sum(map(posts_of_road, range(1, PAPER_ROADS + 1)))
    quads = 2 * (PAPER_ROADS if name == "lamp" else lamps)
    check(timing.quads == quads, f"{name}: {quads} quads change, not {timing.quads}")
    updated = timing.quads / 2 / PAPER_ROADS
    check(round(updated) == triples, f"{name}: Nu is {triples}, not {updated:.1f}")
    check(total == notified == timing.notifications, f"{name}: {notified} notifications, not {total}")
    found = timing.hit_rate(len(engine.subscriptions))
    check(round(found, 2) == lhr, f"{name}: LHR is {lhr} %, not {found:.3f} %")
    for number, text in queries.items():
        check(+answers[number] == _answer(engine, text), f"{name}: the folded answer of {text}")
    return found, total, updated


def _answer(engine: Engine, text: str) -> Counter[Any]:
    return Counter(answer_rows(engine.core.query(text, now=NOW)))


def _naive(name: str) -> float:
    """The seconds that naive SPUs take after an update, the mean over a few of the same updates."""
    engine = Engine(Core(our_city().store), naive=True, clock=time.perf_counter)
    for text in subscriptions():
        engine.subscribe(text, now=NOW)
    work = texts(name, "naive")
    sample = work[:: len(work) // _NAIVE_UPDATES]
    engine.timing.reset()
    for text in sample:
        engine.apply(text, now=NOW)
    return (engine.timing.lutt + engine.timing.booster + engine.timing.notify) / len(sample)


if __name__ == "__main__":
    main()
