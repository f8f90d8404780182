"""The time of an update by the number of subscriptions, on which it must not depend.

Prints one JSON line with `lamps` (S_LAMP subscriptions to 1k, 10k, 100k and 1M lamps), `joins` (S_ROAD-like joins up to
100k roads) and `ranges` (range filters with up to 100k thresholds), each with `us_per_update` by size, `growth` (the
largest size over the smallest), `bytes_per_subscription` and `registrations_per_s`; and `max_gc_pause_ms`.
"""

import gc
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import orjson

from measure import NOW, check, per_call, report, resident_mb, rounded, say
from tidings.bench.workloads.city import NS
from tidings.engine.engine import Engine
from tidings.engine.pauses import Pauses
from tidings.engine.store.store import Store
from tidings.engine.updates.executor import Core
from tidings.model.terms import Quad

_UPDATES = 2000
_ROUNDS = 5
_LAMPS_A_ROAD = 4


def _iri(name: str) -> str:
    return f"<{NS}{name}>"


def _number(value: int) -> str:
    return f'"{value}"^^<http://www.w3.org/2001/XMLSchema#integer>'


def lamps(size: int) -> Iterator[Quad]:
    for number in range(size):
        yield _iri(f"LAMP_{number}"), _iri("hasDimmingValue"), '"0"', ""


def subscribe_lamp(number: int) -> str:
    return f"PREFIX ns: <{NS}> SELECT ?d {{ ns:LAMP_{number} ns:hasDimmingValue ?d }}"


def roads(size: int) -> Iterator[Quad]:
    for road in range(size):
        for each in range(_LAMPS_A_ROAD):
            lamp, post = f"LAMP_{road * _LAMPS_A_ROAD + each}", f"POST_{road}_{each}"
            yield _iri(f"ROAD_{road}"), _iri("isConnectedTo"), _iri(post), ""
            yield _iri(post), _iri("hasLamp"), _iri(lamp), ""
            yield _iri(lamp), _iri("hasDimmingValue"), '"0"', ""


def subscribe_road(number: int) -> str:
    return (
        f"PREFIX ns: <{NS}> SELECT ?lamp ?d {{ ?lamp ns:hasDimmingValue ?d . ?post ns:hasLamp ?lamp . "
        f"?road ns:isConnectedTo ?post . FILTER(?road = ns:ROAD_{number}) }}"
    )


def sensors(size: int) -> Iterator[Quad]:
    """A few sensors, whose values move between the thresholds of many subscriptions."""
    for number in range(100):
        yield _iri(f"LAMP_{number}"), _iri("hasDimmingValue"), _number(size // 2), ""


def subscribe_range(number: int) -> str:
    """A subscription with one of many thresholds. It is notified only when the value of a lamp crosses that."""
    return f"PREFIX ns: <{NS}> SELECT ?lamp {{ ?lamp ns:hasDimmingValue ?d FILTER(?d > {number}) }}"


def replace(lamp: int, value: str) -> str:
    subject = f"ns:LAMP_{lamp} ns:hasDimmingValue"
    return f"PREFIX ns: <{NS}> DELETE {{ {subject} ?d }} INSERT {{ {subject} {value} }} WHERE {{ {subject} ?d }}"


KINDS: dict[str, tuple[Callable[[int], Iterator[Quad]], Callable[[int], str], list[int]]] = {
    "lamps": (lamps, subscribe_lamp, [1_000, 10_000, 100_000, 1_000_000]),
    "joins": (roads, subscribe_road, [1_000, 10_000, 100_000]),
    "ranges": (sensors, subscribe_range, [1_000, 10_000, 100_000]),
}


def updates(kind: str, size: int, number: int) -> list[str]:
    """A round of updates, spread over the data. Each causes one notification."""
    texts = []
    for each in range(_UPDATES):
        if kind == "ranges":
            texts.append(replace(each % 100, str(size // 2 + (1 + each // 100) % 2)))
        else:
            lamp = each * 7919 % (size if kind == "lamps" else size * _LAMPS_A_ROAD)
            texts.append(replace(lamp, f'"{number}-{each}"'))
    return texts


def main() -> None:
    figures: dict[str, Any] = {}
    pauses = []
    for kind, (_, _, sizes) in KINDS.items():
        found = [_run_apart(kind, size) for size in sizes]
        pauses += [each["max_gc_pause_ms"] for each in found]
        times = [each["us_per_update"] for each in found]
        figures[kind] = {
            "us_per_update": {str(size): us for size, us in zip(sizes, times, strict=True)},
            "growth": rounded(times[-1] / times[0]),
            "bytes_per_subscription": found[-1]["bytes_per_subscription"],
            "registrations_per_s": found[-1]["registrations_per_s"],
        }
    report(**figures, max_gc_pause_ms=max(pauses))


def _run_apart(kind: str, size: int) -> dict[str, Any]:
    """Measure a size in a process of its own, so that it does not inherit the memory of another."""
    output = subprocess.run([sys.executable, __file__, kind, str(size)], stdout=subprocess.PIPE, check=True).stdout
    result: dict[str, Any] = orjson.loads(output.splitlines()[-1])
    return result


def _measure(kind: str, size: int) -> None:
    data, subscribe, _ = KINDS[kind]
    pauses = Pauses()
    engine = Engine(Core(Store(data(size))))
    pauses.settle()
    gc.collect()
    before = resident_mb()
    pauses.watch(time.perf_counter)
    start = time.perf_counter()
    for number in range(size):
        _, answer = engine.subscribe(subscribe(number), now=NOW)
        pauses.count()
        if number % 100_000 == 99_999:
            say(f"{kind}: {number + 1:,} of {size:,} subscriptions")
    registered = time.perf_counter() - start
    check(bool(answer) or kind == "ranges", f"{kind}: the last subscription has a first answer")
    memory = (resident_mb() - before) * 1e6 / size
    best = min(_round(engine, kind, size, number) for number in range(_ROUNDS))
    say(f"{kind} {size:,}: {best * 1e6:.1f} µs an update, {memory:.0f} B and {registered / size * 1e6:.0f} µs each")
    report(
        us_per_update=rounded(best * 1e6, 2),
        bytes_per_subscription=rounded(memory, 0),
        registrations_per_s=rounded(size / registered, 0),
        max_gc_pause_ms=rounded(pauses.longest * 1e3, 1),
    )


def _round(engine: Engine, kind: str, size: int, number: int) -> float:
    work = updates(kind, size, number + 1)
    engine.timing.reset()
    seconds = per_call(lambda text: engine.apply(text, now=NOW), work)
    notified = engine.timing.notifications
    # A value that moves by one crosses exactly one threshold.
    check(notified == engine.timing.commits == _UPDATES, f"{kind} {size}: {_UPDATES} notifications, not {notified}")
    return seconds


if __name__ == "__main__":
    if len(sys.argv) > 2:
        _measure(sys.argv[1], int(sys.argv[2]))
    else:
        main()
