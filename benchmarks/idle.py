"""The memory of a broker for 10,000 idle WebSocket subscribers, each with a lamp of its own.

Prints one JSON line: `bytes_per_subscriber` (resident memory of the broker with all of them minus that with one) and
`connect_s` (seconds from the first connection to the last first answer).
"""

import tempfile
import time
from pathlib import Path

import orjson

from measure import check, report, rounded, say
from sockets import (
    Line,
    Lines,
    allow_open_files,
    open_websockets,
    subscribe,
    take_client_core,
    tidings,
    websocket_json,
)
from tidings.bench.workloads.city import NS, subscribe_lamp, update_lamp

SUBSCRIBERS = 10_000
_SPARE_FILES = 1_000
_UPDATES = 100


def main() -> None:
    take_client_core()
    allow_open_files(SUBSCRIBERS + _SPARE_FILES)
    with tempfile.TemporaryDirectory() as folder:
        document = Path(folder) / "lamps.nt"
        document.write_text("".join(_lamp(number) for number in range(SUBSCRIBERS + 1)))
        with tidings("--memory", "--load", str(document), "--client-connections", str(2 * SUBSCRIBERS)) as broker:
            # The first subscriber is not measured: it includes costs that occur only once.
            (publisher,) = open_websockets(broker.websocket, 1)
            lines = Lines((publisher,))
            subscribe(lines, [(publisher, subscribe_lamp(0, SUBSCRIBERS), "first")])
            broker.await_rest()
            before = broker.resident_bytes()
            start = time.perf_counter()
            subscribers = _connect(lines, open_websockets(broker.websocket, SUBSCRIBERS))
            seconds = time.perf_counter() - start
            say(f"{SUBSCRIBERS:,} subscribers in {seconds:.1f} s")
            broker.await_rest()
            each = (broker.resident_bytes() - before) / SUBSCRIBERS
            say(f"{each:,.0f} bytes each")
            _check(lines, publisher, subscribers)
            lines.close()
    report(bytes_per_subscriber=rounded(each, 0), connect_s=rounded(seconds, 2))


def _lamp(number: int) -> str:
    return f'<{NS}LAMP_0_{number}> <{NS}hasDimmingValue> "0" .\n'


def _connect(lines: Lines, subscribers: list[Line]) -> list[Line]:
    for line in subscribers:
        lines.add(line)
    subscribe(lines, [(line, subscribe_lamp(0, number), str(number)) for number, line in enumerate(subscribers)])
    return subscribers


def _check(lines: Lines, publisher: Line, subscribers: list[Line]) -> None:
    """Check that each subscriber is still connected, and is notified of its own lamp only."""
    lines.settle()
    check(all(line.received == 1 for line in subscribers), "one answer for each subscriber")
    heard: list[bytes] = []
    updated = range(0, SUBSCRIBERS, SUBSCRIBERS // _UPDATES)
    for number in updated:
        subscribers[number].hear = heard.append
        publisher.send(websocket_json({"update": {"sparql": update_lamp(0, number, f"new {number}")}}))
    lines.poll_until(lambda: len(heard) == len(updated), "a notification of each update")
    lines.settle()
    told = [line.received - 1 for line in subscribers]
    check(told == [int(number in updated) for number in range(SUBSCRIBERS)], "only whose lamp it is, is told")
    for message in heard:
        notification = orjson.loads(message)["notification"]
        (row,) = notification["addedResults"]["results"]["bindings"]
        check(row["dimming"]["value"] == f"new {notification['alias']}", f"the lamp's own value, not {message!r}")


if __name__ == "__main__":
    main()
