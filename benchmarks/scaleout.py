"""Subscriptions on Spark, on two cores: a thousand SPUs, each in its own unit, and a log that concerns all of them.

Prints one JSON line. `matched_rows_per_s` is the number of rows that the units get in a second, the median over
batches, warm: the first six do not count. `matched_rows_per_s_shared` is the same with units of the default size, 64
subscriptions of a plan. `batch_ms_p50` is the time of a batch of ten commits. `speedup_2_cores` is the throughput of
two cores divided by that of one. `register_s` is the time of the driver to register a hundred thousand subscriptions,
`admit_s` that of the job to begin them. `route_us` is the time to read a change and find its units, `unit_us` the time
of a unit for a row, both in one process. The notifications are checked against those of one engine.

    python benchmarks/scaleout.py [COMMITS [SUBSCRIPTIONS [MANY]]]
"""

import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from measure import check, report, rounded, say, write_log
from tidings.engine.engine import Engine
from tidings.log.entry import Entry
from tidings.model.terms import Quad
from tidings.model.zset import ZSet
from tidings.spark.log_source.origin import origin_of
from tidings.spark.session import session
from tidings.spark.streaming.input.unit_rows import Addressed, UnitRow, changes, inbox_of
from tidings.spark.streaming.job import Settings, StreamJob
from tidings.spark.streaming.output.notification_rows import notification_row
from tidings.spark.streaming.output.notifications import manifests, read_notifications
from tidings.spark.streaming.router import Router
from tidings.spark.streaming.subscriptions.requests import SubscriptionRequest
from tidings.spark.streaming.unit import Arrival, Inbox, Member, Unit

COMMITS = 400_000
SUBSCRIPTIONS = 1_000
MANY = 100_000
BATCH = 20_000
_NS = "http://example.org/city#"
_WARM = 6
"""The number of first batches that do not count."""


def _lamp(number: int) -> str:
    return f"<{_NS}lamp{number}>"


def _value(number: int) -> str:
    return f'"{number}"^^<http://www.w3.org/2001/XMLSchema#integer>'


def query_of(lamp: int) -> str:
    return f"SELECT ?road ?value {{ {_lamp(lamp)} <{_NS}on> ?road ; <{_NS}dimming> ?value }}"


def life(lamps: int, commits: int) -> Iterator[Entry]:
    """One commit adds all lamps; each further commit dims the next lamp."""
    instant = 1_700_000_000_000_000
    start: dict[Quad, int] = {}
    for lamp in range(lamps):
        start[_lamp(lamp), f"<{_NS}on>", f"<{_NS}road{lamp % 97}>", ""] = 1
        start[_lamp(lamp), f"<{_NS}dimming>", _value(0), ""] = 1
    yield Entry(1, instant, ZSet.owning(start))
    for seq in range(2, commits + 2):
        lamp, turn = (seq * 7919) % lamps, (seq - 2) // lamps
        before = seq - lamps >= 2
        former = _value(seq - lamps) if before else _value(0)
        change = {
            (_lamp(lamp), f"<{_NS}dimming>", former, ""): -1,
            (_lamp(lamp), f"<{_NS}dimming>", _value(seq), ""): 1,
        }
        yield Entry(seq, instant + seq * 1_000 + turn, ZSet.owning(change))


class Requests:
    """All subscriptions, which begin with the first commit."""

    def __init__(self, count: int) -> None:
        self._requests: dict[str, SubscriptionRequest] | None = {
            f"spu{n}": SubscriptionRequest(query_of(n), f"spu{n}", 0) for n in range(count)
        }

    def read(self) -> dict[str, SubscriptionRequest] | None:
        requests, self._requests = self._requests, None
        return requests


def run(folder: Path, log: Path, count: int, settings: Settings, cores: int) -> tuple[float, float, Path]:
    """Rows a second and seconds for a batch, warm, and the folder of the output."""
    spark = session(f"local[{cores}]", partitions=cores)
    out = folder / "out"
    StreamJob(spark, str(log), folder / "checkpoint", out, settings=settings).run(Requests(count))
    spark.stop()
    found = list(manifests(out))
    warm = found[_WARM:]
    times = [after.finished - before.finished for before, after in zip(found[_WARM - 1 :], warm, strict=False)]
    speeds = [batch.rows / seconds for batch, seconds in zip(warm, times, strict=True) if batch.rows > settings.commits]
    return statistics.median(speeds), statistics.median(times), out


def check_told(out: Path, log: Iterator[Entry], count: int) -> None:
    """Check that all subscribers get the notifications that one engine gives."""
    engine = Engine()
    spuids = {engine.subscribe(query_of(n), now=0)[0].id: f"spu{n}" for n in range(count)}
    expected: dict[str, list[object]] = {spuid: [(0, 0, [], [])] for spuid in spuids.values()}
    for entry in log:
        for each in engine.absorb(entry.delta, now=entry.time).notifications:
            news = (each.sequence, entry.commit, list(each.changes.added()), list(each.changes.removed()))
            expected[spuids[each.subscription.id]].append(news)
    found: dict[str, list[object]] = {}
    for manifest in manifests(out):
        for told in read_notifications(out, manifest):
            found.setdefault(told.spuid, []).append((told.sequence, told.commit, told.added, told.removed))
    check(found == expected, f"{count:,} subscribers are told what one engine tells")


def main() -> None:
    numbers = [int(each) for each in sys.argv[1:]]
    commits, count, many = (*numbers, *(COMMITS, SUBSCRIPTIONS, MANY)[len(numbers) :])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        log = write_log(folder / "data", life(count, commits))
        say(f"{commits:,} commits written; Spark starts")
        apart = Settings(commits=max(1, min(BATCH, commits // 10)), together=1)
        speed, _, out = run(folder / "two", log, count, apart, 2)
        check_told(out, life(count, commits), count)
        say(f"{count:,} units on two cores: {speed:,.0f} rows/s")
        shared, _, _ = run(folder / "shared", log, count, replace(apart, together=64), 2)
        say(f"{count:,} subscriptions, 64 to a unit: {shared:,.0f} rows/s")
        one, _, _ = run(folder / "one", log, count, apart, 1)
        say(f"on one core: {one:,.0f} rows/s")
        short = write_log(folder / "short", life(count, 300))
        _, latency, _ = run(folder / "latency", short, count, Settings(commits=10), 2)
        say(f"a batch of ten commits: {latency * 1_000:,.0f} ms")
        register, admit = _many(folder / "many", many)
        route, unit = _alone(log, count, min(commits, 50_000))
        say(f"in one process: {route:.1f} µs to route a change, {unit:.1f} µs for a row of a unit")
        report(
            matched_rows_per_s=rounded(speed, 0),
            matched_rows_per_s_shared=rounded(shared, 0),
            batch_ms_p50=rounded(latency * 1_000, 0),
            speedup_2_cores=rounded(speed / one, 2),
            register_s=rounded(register, 1),
            admit_s=rounded(admit, 1),
            subscriptions=many,
            route_us=rounded(route, 1),
            unit_us=rounded(unit, 1),
        )


def _alone(log: Path, count: int, commits: int) -> tuple[float, float]:
    """The microseconds to route a change, and those of a unit for a row, without Spark."""
    router, units = Router(), {}
    for n in range(count):
        router.enter(n, Member(f"spu{n}", query_of(n)))
        units[n] = Unit()
        list(units[n].take(Inbox(arrivals={1: Arrival(0, 0, [Member(f"spu{n}", query_of(n))])})))
    found: list[Addressed] = []
    start = time.perf_counter()
    seen = 0
    for entry in origin_of(str(log)).commits(0, commits):
        seen += len(entry.delta)
        found.extend(changes(entry.commit, entry.time, router.find(entry.delta.items())))
    routed = time.perf_counter() - start
    rows: dict[int, list[UnitRow]] = {}
    for unit, row in found:
        rows.setdefault(unit, []).append(row)
    start = time.perf_counter()
    for unit, given in rows.items():
        for told in units[unit].take(inbox_of(given)):
            notification_row(unit, told)
    taken = time.perf_counter() - start
    return routed / seen * 1e6, taken / sum(map(len, rows.values())) * 1e6


def _many(folder: Path, many: int) -> tuple[float, float]:
    """The seconds to register many subscriptions, and to begin them."""
    log = write_log(folder / "data", life(100, 50))
    spark = session("local[2]", partitions=2)
    times: list[float] = []

    class Timed(Requests):
        def read(self) -> dict[str, SubscriptionRequest] | None:
            times.append(time.perf_counter())
            return super().read()

    job = StreamJob(spark, str(log), folder / "checkpoint", folder / "out")
    requests = Timed(many)
    job.run(requests, began=lambda: times.append(time.perf_counter()))
    end = time.perf_counter()
    spark.stop()
    say(f"{many:,} subscriptions registered in {times[1] - times[0]:.1f} s, begun {end - times[1]:.1f} s later")
    check(sum(each.told for each in manifests(folder / "out")) >= many, f"{many:,} have their first answer")
    return times[1] - times[0], end - times[1]


if __name__ == "__main__":
    main()
