"""Measures LAMP updates of the smart-lighting city through a whole broker with its 1,004 subscriptions.

Prints one JSON line with `http` and `websocket` (prepared updates), each with `updates_per_s` at full load, and with
`p50_ms` and `p99_ms` at half of that load, from the scheduled time of an update to the arrival of its notification;
`engine_updates_per_s` and `engine_prepared_updates_per_s` (the bare engine, with the same subscriptions and updates, as
texts and prepared); `overhead` (time of an update through the broker / through the engine, for each kind of update);
and `durability`. The client runs on one core, the broker and the bare engine on the other.

With `--secured`, a second broker authenticates every request and message by a token. Rounds of the two brokers
alternate, at full load only. The JSON line has the updates per second of both, `plain` and `secured`; their ratio
`secured_to_plain`, from neighbouring rounds; and `secured_to_plain_busy`, the same ratio by the processor time of the
brokers, which is more reliable while other programs use the machine. Figures are medians of `--turns` rounds.

With `--watched`, rounds with a page of the dashboard open in a browser alternate with rounds without one. For each
page, `watched_to_unwatched` is the ratio by updates per second, and `watched_to_unwatched_busy` by processor time.
"""

import argparse
import gc
import os
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import orjson

from measure import NOW, check, city_document, our_city, per_call, report, rounded, say
from sockets import (
    Address,
    Broker,
    Line,
    Lines,
    broker_core,
    open_websockets,
    split_http,
    subscribe,
    take_client_core,
    tidings,
    websocket_json,
)
from tidings.bench.workloads.city import (
    COARSE_ROADS,
    FINE_ROADS,
    NS,
    PAPER_ROADS,
    PREFIX,
    ns,
    subscriptions,
    update_lamp,
)
from tidings.engine.engine import Engine
from tidings.model.terms import literal

_ROUNDS = 3
UPDATES = 31 * PAPER_ROADS  # a round
_SOCKETS = 100
_HTTP_CONNECTIONS = 16
_WINDOW = 64  # updates that a WebSocket publisher has sent and not seen answered
_NOTIFYING = frozenset((*FINE_ROADS, *COARSE_ROADS))
_PREPARED = (
    f"{PREFIX}DELETE {{ ?lamp ns:hasDimmingValue ?old }} INSERT {{ ?lamp ns:hasDimmingValue ?new }} "
    "WHERE { ?lamp ns:hasDimmingValue ?old }"
)


def road_of(number: int) -> int:
    """The road whose first lamp gets the value n from update n. The value identifies the notification."""
    return number % PAPER_ROADS + 1


class Publisher(Protocol):
    """Sends updates as fast as its window allows."""

    answered: int

    def ready(self) -> bool:
        """Whether one more update may be sent."""

    def send(self, packet: bytes) -> None: ...

    def packet(self, number: int) -> bytes: ...

    def close(self) -> None: ...


class HttpPublisher:
    """Persistent connections, with one update in flight on each."""

    def __init__(self, broker: Broker, lines: Lines, token: str = "") -> None:
        self.answered = 0
        self._lines = lines
        self._token = token
        self._free = [Line(broker.http, split_http) for _ in range(_HTTP_CONNECTIONS)]
        for line in self._free:
            line.hear = self._hearer(line)
            lines.add(line)

    def ready(self) -> bool:
        return bool(self._free)

    def send(self, packet: bytes) -> None:
        self._free.pop().send(packet)

    def packet(self, number: int) -> bytes:
        text = update_lamp(road_of(number), 1, str(number))
        return http_request("/update", "application/sparql-update", text, self._token)

    def close(self) -> None:
        for line in self._free:
            self._lines.remove(line)

    def _hearer(self, line: Line) -> Callable[[bytes], None]:
        def hear(message: bytes) -> None:
            check(message.startswith(b"HTTP/1.1 200 "), f"the update succeeds, not {message!r}")
            self.answered += 1
            self._free.append(line)

        return hear


class WebSocketPublisher:
    """A connection with a prepared update, and a window of executions in flight."""

    def __init__(self, broker: Broker, lines: Lines, token: str = "") -> None:
        self._lines = lines
        self._shown = {"authorization": token} if token else {}
        (self._line,) = open_websockets(broker.websocket, 1)
        lines.add(self._line)
        answers: list[bytes] = []
        self._line.hear = answers.append
        self._line.send(websocket_json({"prepare": {"sparql": _PREPARED, **self._shown}}))
        lines.poll_until(lambda: bool(answers), "an answer to the preparation")
        check(b'"prepared"' in answers[0], f"the update is prepared, not {answers[0]!r}")
        self._id = orjson.loads(answers[0])["response"]["prepared"]
        self._line.hear = self._hear
        self._sent = self.answered = 0

    def ready(self) -> bool:
        return self._sent - self.answered < _WINDOW

    def send(self, packet: bytes) -> None:
        self._sent += 1
        self._line.send(packet)

    def packet(self, number: int) -> bytes:
        lamp = {"type": "uri", "value": f"{NS}LAMP_{road_of(number)}_1"}
        new = {"type": "literal", "value": str(number)}
        bindings = {"lamp": lamp, "new": new}
        return websocket_json({"update": {"prepared": self._id, "bindings": bindings, **self._shown}})

    def close(self) -> None:
        self._lines.remove(self._line)

    def _hear(self, message: bytes) -> None:
        check(message.startswith(b'{"response"'), f"the update succeeds, not {message!r}")
        self.answered += 1


PUBLISHERS: dict[str, Callable[[Broker, Lines, str], Publisher]] = {
    "http": HttpPublisher,
    "websocket": WebSocketPublisher,
}


class Audience:
    """The subscribers, with the arrival times of their notifications, which are parsed after the measurement."""

    def __init__(self, address: Address, lines: Lines, token: str = "") -> None:
        self._texts = subscriptions()
        self._token = token
        self._answers: list[Counter[bytes]] = [Counter() for _ in self._texts]
        self._sequences = [-1] * len(self._texts)
        self._heard: list[tuple[float, bytes]] = []
        sockets = open_websockets(address, _SOCKETS)
        for line in sockets:
            line.hear = self._hear
            lines.add(line)
        everyone = [(sockets[n % _SOCKETS], text, str(n)) for n, text in enumerate(self._texts)]
        subscribe(lines, everyone, {"authorization": token} if token else {})
        self.absorb()

    def _hear(self, message: bytes) -> None:
        self._heard.append((time.perf_counter(), message))

    def __len__(self) -> int:
        return len(self._heard)

    def absorb(self) -> dict[int, float]:
        """Add the notifications to the answers. Returns their arrival times by the number of the update."""
        arrivals = {}
        for arrival, message in self._heard:
            notification = orjson.loads(message).get("notification")
            check(notification is not None, f"everybody is subscribed: {message!r}")
            subscriber = int(notification["alias"])
            self._sequences[subscriber] += 1
            check(notification["sequence"] == self._sequences[subscriber], f"sequences without gaps: {message!r}")
            added = notification["addedResults"]["results"]["bindings"]
            self._answers[subscriber].update(map(_row, added))
            self._answers[subscriber].subtract(map(_row, notification["removedResults"]["results"]["bindings"]))
            if notification["sequence"]:
                check(len(added) == 1, f"one lamp an update: {message!r}")
                arrivals[int(added[0]["dimming"]["value"])] = arrival
        self._heard.clear()
        return arrivals

    def check(self, address: Address, lines: Lines) -> None:
        """Check that the first answers and the notifications add up to the present answers of the queries."""
        line = Line(address, split_http)
        lines.add(line)
        answers: list[bytes] = []
        line.hear = answers.append
        for number, text in enumerate(self._texts):
            line.send(http_request("/query", "application/sparql-query", text, self._token))
            lines.poll_until(lambda wanted=number: len(answers) > wanted, "an answer to a query")  # type: ignore[misc]
            rows = orjson.loads(answers[-1].split(b"\r\n\r\n", 1)[1])["results"]["bindings"]
            check(+self._answers[number] == Counter(map(_row, rows)), f"the folded answer of {text}")


def _row(row: Any) -> bytes:
    return orjson.dumps(row, option=orjson.OPT_SORT_KEYS)


def http_request(path: str, kind: str, text: str, token: str = "") -> bytes:
    body = text.encode()
    shown = f"Authorization: {token}\r\n" if token else ""
    return (
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\n{shown}"
        f"Accept: application/sparql-results+json\r\nContent-Length: {len(body)}\r\n\r\n"
    ).encode() + body


class Course:
    """Rounds of updates through one kind of publisher, with their rates and the latencies of notifications."""

    def __init__(self, name: str, audience: Audience, lines: Lines) -> None:
        self.rates: list[float] = []
        self.latencies: list[float] = []
        self._name = name
        self._audience = audience
        self._lines = lines

    def run(self, publisher: Publisher, first: int) -> None:
        """Run a round at full load, and one at half of that."""
        self.rates.append(self._full_load(publisher, range(first, first + UPDATES)))
        self._half_load(publisher, range(first + UPDATES, first + 2 * UPDATES), self.rates[-1] / 2)

    def run_full_load(self, publisher: Publisher, first: int) -> None:
        self.rates.append(self._full_load(publisher, range(first, first + UPDATES)))

    def figures(self) -> dict[str, float]:
        cuts = statistics.quantiles(self.latencies, n=100)
        return {
            "updates_per_s": rounded(statistics.median(self.rates), 0),
            "p50_ms": rounded(cuts[49] * 1e3),
            "p99_ms": rounded(cuts[98] * 1e3),
        }

    def _full_load(self, publisher: Publisher, numbers: range) -> float:
        poll = self._lines.poll
        pending = iter([publisher.packet(number) for number in numbers])
        wanted = publisher.answered + len(numbers)
        packet = next(pending, None)
        start, mine = time.perf_counter(), time.process_time()
        while publisher.answered < wanted:
            while packet is not None and publisher.ready():
                publisher.send(packet)
                packet = next(pending, None)
            poll(1.0)
        seconds, mine = time.perf_counter() - start, time.process_time() - mine
        self._arrivals(numbers)
        say(f"{self._name}: {len(numbers) / seconds:,.0f} updates a second; the client was busy {mine / seconds:.0%}")
        return len(numbers) / seconds

    def _half_load(self, publisher: Publisher, numbers: range, rate: float) -> None:
        """An open loop: each update is due at its scheduled time, regardless of how long others take."""
        poll = self._lines.poll
        packets = [publisher.packet(number) for number in numbers]
        wanted = publisher.answered + len(numbers)
        sent = 0
        start = time.perf_counter()
        while publisher.answered < wanted:
            due = min(int((time.perf_counter() - start) * rate) + 1, len(packets))
            while sent < due and publisher.ready():
                publisher.send(packets[sent])
                sent += 1
            poll(0)
        arrivals = self._arrivals(numbers)
        late = [arrival - start - (number - numbers.start) / rate for number, arrival in arrivals.items()]
        say(f"{self._name}: notified after {statistics.median(late) * 1e3:.3f} ms at {rate:,.0f} updates a second")
        self.latencies += late

    def _arrivals(self, numbers: range) -> dict[int, float]:
        """The arrival times of the notifications. Checks that exactly the expected ones have arrived."""
        expected = {number for number in numbers if road_of(number) in _NOTIFYING}
        self._lines.poll_until(lambda: len(self._audience) >= len(expected), f"{len(expected)} notifications")
        self._lines.settle()
        count = len(self._audience)
        arrivals = self._audience.absorb()
        check(count == len(expected) and arrivals.keys() == expected, f"{len(expected)} notifications, not {count}")
        return arrivals


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--durability", default="fsync", help="of the broker's log (default fsync), or memory: no log")
    parser.add_argument("--secured", action="store_true", help="compare with a broker that asks everybody who they are")
    parser.add_argument("--watched", action="store_true", help="compare with the same broker while a page is open")
    parser.add_argument("--turns", type=int, default=10, help="rounds of each that is compared (default 10)")
    arguments = parser.parse_args()
    durability = arguments.durability
    take_client_core()
    if arguments.secured:
        from secured import side_by_side  # imported here because it imports this module

        report(**side_by_side(durability, arguments.turns), durability=durability)
        return
    if arguments.watched:
        from watched import watched

        report(**watched(durability, arguments.turns), durability=durability)
        return
    say("loading the city twice ...")
    engine = Engine(our_city())
    for text in subscriptions():
        engine.subscribe(text, now=NOW)
    gc.collect()
    gc.disable()  # a pause of the client would look like one of the broker
    with tempfile.TemporaryDirectory() as folder:
        document = Path(folder) / "city.nt"
        document.write_bytes(city_document())
        with tidings(*log_options(folder, "data", durability), "--load", str(document)) as broker:
            figures = _measure(broker, engine)
    report(**figures, durability=durability)


def log_options(folder: str, name: str, durability: str) -> tuple[str, ...]:
    return ("--memory",) if durability == "memory" else ("--data", f"{folder}/{name}", "--durability", durability)


# -- beside the engine ------------------------------------------------------------------------------------------


def _measure(broker: Broker, engine: Engine) -> dict[str, Any]:
    lines = Lines()
    audience = Audience(broker.websocket, lines)
    courses = {name: Course(name, audience, lines) for name in PUBLISHERS}
    broker.await_rest()
    engines: dict[str, list[float]] = {name: [] for name in courses}
    first = PAPER_ROADS * 1000  # no value of the city as it is loaded
    for _ in range(_ROUNDS):
        for name, course in courses.items():
            engines[name].append(_bare(engine, name, range(first, first + UPDATES)))
            publisher = PUBLISHERS[name](broker, lines, "")  # a new one, because the broker closes idle connections
            course.run(publisher, first)
            publisher.close()
            first += 2 * UPDATES
    audience.check(broker.http, lines)
    lines.close()
    return {
        **{name: course.figures() for name, course in courses.items()},
        "engine_updates_per_s": rounded(statistics.median(engines["http"]), 0),
        "engine_prepared_updates_per_s": rounded(statistics.median(engines["websocket"]), 0),
        "overhead": {name: rounded(compared(engines[name], course.rates), 2) for name, course in courses.items()},
    }


def compared(rates: list[float], to: list[float]) -> float:
    """The median ratio of consecutive rounds, which had the same conditions on the machine."""
    return statistics.median(one / other for one, other in zip(rates, to, strict=True))


def _bare(engine: Engine, name: str, numbers: range) -> float:
    """Updates a second of the engine alone, on the broker's core, as texts or prepared like those of a publisher."""
    template = engine.core.prepare_template(_PREPARED)
    os.sched_setaffinity(0, {broker_core()})
    engine.timing.reset()
    if name == "http":
        texts = [update_lamp(road_of(number), 1, str(number)) for number in numbers]
        seconds = per_call(lambda text: engine.apply(text, now=NOW), texts)
    else:
        bindings = [{"lamp": ns(f"LAMP_{road_of(each)}_1"), "new": literal(str(each))} for each in numbers]
        seconds = per_call(lambda bound: engine.execute(*template.bind(bound), now=NOW), bindings)
    take_client_core()
    expected = sum(road_of(number) in _NOTIFYING for number in numbers)
    check(engine.timing.notifications == expected, f"the engine notifies {expected} times")
    say(f"engine, as over {name}: {1 / seconds:,.0f} updates a second")
    return 1 / seconds


if __name__ == "__main__":
    main()
