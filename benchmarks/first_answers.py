"""How long first answers block the event loop, for plans that have state: DISTINCT, groups, windows.

Prints one JSON line: for each query the seconds until the first answer (`distinct`, …), the longest time that the event
loop is blocked meanwhile (`distinct_still`), and that divided by the seconds (`distinct_ratio`; less is better).
Updates that concern the query go on all the time. The number of rows is checked against a new answer.
"""

import asyncio
import time

import orjson

from measure import check, report, rounded, say
from tidings.broker.broker import Broker
from tidings.broker.policy import Policy
from tidings.broker.subscriptions.subscriber import Parcel, Subscriber
from tidings.engine.engine import Engine
from tidings.gates.answers import body_of, encode_body
from tidings.model.errors import TidingsError

SENSORS = 200_000
QUERIES = {
    "select": "SELECT ?s ?v { ?s <urn:value> ?v }",
    "distinct": "SELECT DISTINCT ?s ?v { ?s <urn:value> ?v }",
    "count": "SELECT (COUNT(*) AS ?n) (MAX(?v) AS ?m) { ?s <urn:value> ?v }",
    "groups": "SELECT ?s (SUM(?v) AS ?n) { ?s <urn:value> ?v } GROUP BY ?s",
    "window": "SELECT ?s ?v { ?s <urn:value> ?v } ORDER BY ?v ?s LIMIT 10",
}
CHANGE = """DELETE {{ <urn:s{0}> <urn:value> ?v }} INSERT {{ <urn:s{0}> <urn:value> {1} }}
WHERE {{ <urn:s{0}> <urn:value> ?v }}"""


class Reader:
    """A client that waits for its first answer, and counts its rows."""

    def __init__(self) -> None:
        self.rows: int | None = None
        """The number of rows of its answer, after all notifications so far; None before the first answer."""
        self.error: TidingsError | None = None

    def deliver(self, subscriber: Subscriber, sequence: int, parcel: Parcel) -> None:
        assert self.rows is not None
        self.rows += sum(weight for _, weight in parcel.changes.items())

    def dismiss(self, subscriber: Subscriber, reason: str, code: int) -> None:
        raise AssertionError(reason)

    def close(self, code: int, reason: str) -> None:
        raise AssertionError(reason)

    def answered(self, subscriber: Subscriber, parcel: Parcel, _: bool) -> None:
        told = orjson.loads(b"{" + body_of(parcel)[1:-1])
        self.rows = len(told["addedResults"]["results"]["bindings"])

    def refused(self, error: TidingsError) -> None:
        self.error = error


async def measured(text: str) -> tuple[float, float]:
    """The seconds until the first answer, and the longest time that the event loop was blocked."""
    engine = Engine()
    broker = Broker(engine, Policy(seconds=300.0), clock=lambda: time.time_ns() // 1000, monotonic=time.monotonic)
    async with broker:
        values = " ".join(f"<urn:s{number}> <urn:value> {number * 7919 % 100_003} ." for number in range(SENSORS))
        await broker.update(f"INSERT DATA {{ {values} }}")
        broker.freeze()
        reader = Reader()
        begun = last = time.perf_counter()
        longest, number = 0.0, 0
        session = broker.connect(reader)
        broker.subscribe(session, text, None, None, reader.answered, reader.refused, encode=encode_body)
        while reader.rows is None and reader.error is None:
            number += 1
            if number % 50 == 0:
                await broker.update(CHANGE.format(number % SENSORS, number))
            await asyncio.sleep(0.001)
            now = time.perf_counter()
            longest, last = max(longest, now - last), now
        seconds = time.perf_counter() - begun
        check(reader.error is None, f"{text} was refused: {reader.error}")
        check(reader.rows == len(engine.first_answer(text, now=0)), text)
        return seconds, longest


def main() -> None:
    figures: dict[str, float] = {}
    for name, text in QUERIES.items():
        seconds, still = asyncio.run(measured(text))
        say(f"{name}: {seconds:.2f} s, and the loop stood still for {still * 1000:.0f} ms at most")
        figures |= {name: rounded(seconds), f"{name}_still": rounded(still), f"{name}_ratio": rounded(still / seconds)}
    report(**figures)


if __name__ == "__main__":
    main()
