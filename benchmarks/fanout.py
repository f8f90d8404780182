"""Compares notifications of an update to many WebSocket subscribers with mosquitto: equal sizes and numbers, QoS 0.

Prints one JSON line: `ratio_100` and `ratio_1000` (delivered messages a second, Tidings / mosquitto; more is better),
the rates themselves (`tidings_100`, `mosquitto_100`, …), and `message_bytes`. With `_alone`, each message is published
only after all before it have arrived. Both brokers have the same core and the same receiver, and take turns. The
publisher is never more than a window ahead of the messages that have arrived.
"""

import socket
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import orjson
import psutil

from measure import check, report, rounded, say
from sockets import (
    PATIENCE,
    Address,
    Line,
    Lines,
    allow_open_files,
    busy_seconds,
    open_websockets,
    split_mqtt,
    started,
    subscribe,
    take_client_core,
    tidings,
    websocket_json,
)
from tidings.bench.workloads.city import NS, subscribe_lamp, update_lamp

SIZES = (100, 1000)
WINDOW = 32
_ROUNDS = 5
_MESSAGES = 200_000  # delivered messages of a round; a quarter of that with `_alone`
_WITNESSES = 10  # subscribers whose messages are checked
_TOPIC = b"lamp"
_TOOL = Path(__file__).resolve().parent.parent / "scripts" / "tool"


@dataclass
class Contender:
    """A broker with its subscribers. `publication` makes message number 1, 2, 3, …, and `number` reads its number."""

    name: str
    process: psutil.Process
    publisher: Line
    subscribers: list[Line]
    lines: Lines
    publication: Callable[[int], bytes]
    number: Callable[[bytes], int]
    published: int = 0


def main() -> None:
    take_client_core()
    allow_open_files(4 * max(SIZES))
    figures: dict[str, float] = {}
    for size in SIZES:
        with tidings_contender(size) as ours:
            message_bytes = _probe(ours)
            with mosquitto_contender(size, message_bytes) as theirs:
                check(_probe(theirs) == message_bytes, "messages of one size")
                figures |= _compete(str(size), ours, theirs, WINDOW, _MESSAGES // size)
                figures |= _compete(f"{size}_alone", ours, theirs, 1, _MESSAGES // size // 4)
    report(**figures, message_bytes=message_bytes)


def _compete(name: str, ours: Contender, theirs: Contender, window: int, publications: int) -> dict[str, float]:
    """Run rounds in turns. Returns the medians of the rates, and of the ratios of consecutive rounds."""
    rates: dict[str, list[float]] = {ours.name: [], theirs.name: []}
    for number in range(_ROUNDS):
        for contender in (ours, theirs) if number % 2 == 0 else (theirs, ours):
            rates[contender.name].append(_round(contender, window, publications))
    ratio = statistics.median(mine / other for mine, other in zip(*rates.values(), strict=True))
    say(f"{name}: {ratio:.2f}")
    return {
        f"ratio_{name}": rounded(ratio, 2),
        **{f"{each}_{name}": rounded(statistics.median(found), 0) for each, found in rates.items()},
    }


def _probe(contender: Contender) -> int:
    """Publish one message, and return its size."""
    witness = contender.subscribers[0]
    heard: list[bytes] = []
    witness.hear = heard.append
    _deliver(contender, 1, 1)
    witness.hear = None
    check(contender.number(heard[0]) == 1, f"{contender.name}: the first message")
    return len(heard[0])


def _round(contender: Contender, window: int, publications: int) -> float:
    """Messages a second. Checks that all subscribers get all messages, and that the witnesses get them in order."""
    first = contender.published + 1
    heard: dict[Line, list[bytes]] = {
        line: [] for line in contender.subscribers[:: max(1, len(contender.subscribers) // _WITNESSES)]
    }
    for line, messages in heard.items():
        line.hear = messages.append
    before = [line.received for line in contender.subscribers]
    busy, mine = busy_seconds(contender.process), time.process_time()
    seconds = _deliver(contender, window, publications)
    busy, mine = busy_seconds(contender.process) - busy, time.process_time() - mine
    for line, count in zip(contender.subscribers, before, strict=True):
        check(line.received - count == publications, f"{contender.name}: every subscriber gets every message")
    for line, messages in heard.items():
        line.hear = None
        numbers = [contender.number(message) for message in messages]
        check(numbers == list(range(first, first + publications)), f"{contender.name}: messages come in order")
    rate = publications * len(contender.subscribers) / seconds
    say(
        f"{contender.name}, {len(contender.subscribers)} subscribers, window {window}: {rate:,.0f} messages a second; "
        f"busy: broker {busy / seconds:.0%}, receiver {mine / seconds:.0%}"
    )
    return rate


def _deliver(contender: Contender, window: int, publications: int) -> float:
    """Publish, at most a window ahead of the arrivals, until all messages have arrived. Returns the seconds."""
    first = contender.published + 1
    packets = [contender.publication(number) for number in range(first, first + publications)]
    lines, publisher, size = contender.lines, contender.publisher, len(contender.subscribers)
    start = time.perf_counter()
    arrived_before = lines.received - publisher.received
    sent = arrived = 0
    while arrived < publications * size:
        allowed = arrived // size + window
        if allowed > sent and sent < publications:
            publisher.send(b"".join(packets[sent:allowed]))
            sent = min(allowed, publications)
        lines.poll(1.0)
        arrived = lines.received - publisher.received - arrived_before
        check(time.perf_counter() - start < PATIENCE, f"{contender.name}: {arrived} of {publications * size} messages")
    seconds = time.perf_counter() - start
    contender.published += publications
    lines.settle()
    return seconds


@contextmanager
def tidings_contender(size: int) -> Iterator[Contender]:
    """All clients subscribe to the same lamp, S_LAMP(1,1). Message n gives it the value n."""
    with tidings("--memory") as broker:
        publisher, *subscribers = open_websockets(broker.websocket, size + 1)
        lines = Lines((publisher, *subscribers))
        insert = f'INSERT DATA {{ <{NS}LAMP_1_1> <{NS}hasDimmingValue> "0" }}'
        publisher.send(websocket_json({"update": {"sparql": insert}}))
        lines.poll_until(lambda: publisher.received == 1, "an answer to the first update")
        subscribe(lines, [(line, subscribe_lamp(1, 1), "lamp") for line in subscribers])

        def publication(number: int) -> bytes:
            return websocket_json({"update": {"sparql": update_lamp(1, 1, str(number))}})

        yield Contender("tidings", broker.process, publisher, subscribers, lines, publication, _sequence)
        lines.close()


def _sequence(message: bytes) -> int:
    """The sequence of a notification, which counts from the first answer, 0. Checks the value that it has."""
    notification = orjson.loads(message)["notification"]
    number: int = notification["sequence"]
    (row,) = notification["addedResults"]["results"]["bindings"]
    (old,) = notification["removedResults"]["results"]["bindings"]
    values = (old["dimming"]["value"], row["dimming"]["value"])
    check(values == (str(number - 1), str(number)), f"no update is lost or merged: {message!r}")
    return number


@contextmanager
def mosquitto_contender(size: int, message_bytes: int) -> Iterator[Contender]:
    """All clients subscribe to the same topic. Message n begins with n."""
    program = subprocess.run([_TOOL, "mosquitto"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    address = Address("127.0.0.1", _free_port())
    with tempfile.TemporaryDirectory() as folder:
        settings = Path(folder) / "mosquitto.conf"
        settings.write_text(
            f"listener {address.port} {address.host}\nallow_anonymous true\nset_tcp_nodelay true\n"
            "persistence false\nlog_type error\nmax_connections -1\nuser nobody\n"  # if root starts it
        )
        with started((program, "-c", str(settings))) as process:
            _await_listener(address)
            publisher, *subscribers = (Line(address, split_mqtt) for _ in range(size + 1))
            lines = Lines((publisher, *subscribers))
            for number, line in enumerate((publisher, *subscribers)):
                line.send(_mqtt_connect(f"c{number}"))
            lines.poll_until(lambda: lines.received == size + 1, "a CONNACK for every client")
            for line in subscribers:
                line.send(_mqtt_subscribe(_TOPIC))
            lines.poll_until(lambda: lines.received == 2 * size + 1, "a SUBACK for every subscriber")

            def publication(number: int) -> bytes:
                payload = str(number).encode().ljust(message_bytes - len(_TOPIC) - 2)
                return _mqtt_packet(0x30, _mqtt_string(_TOPIC) + payload)

            yield Contender(
                "mosquitto", psutil.Process(process.pid), publisher, subscribers, lines, publication, _mqtt_number
            )
            lines.close()


def _mqtt_connect(client: str) -> bytes:
    """A CONNECT of MQTT 3.1.1 with a clean session, and without keep-alive."""
    return _mqtt_packet(0x10, _mqtt_string(b"MQTT") + b"\x04\x02\0\0" + _mqtt_string(client.encode()))


def _mqtt_subscribe(topic: bytes) -> bytes:
    return _mqtt_packet(0x82, b"\0\x01" + _mqtt_string(topic) + b"\0")


def _mqtt_packet(kind: int, body: bytes) -> bytes:
    size, length = len(body), b""
    while size > 127:
        length += bytes((size & 127 | 128,))
        size >>= 7
    return bytes((kind,)) + length + bytes((size,)) + body


def _mqtt_string(text: bytes) -> bytes:
    return len(text).to_bytes(2, "big") + text


def _mqtt_number(message: bytes) -> int:
    return int(message[2 + len(_TOPIC) :])


def _free_port() -> int:
    """A free port, for a peer that cannot choose one itself."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _await_listener(address: Address) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex((address.host, address.port)) == 0:
                return
        time.sleep(0.05)
    raise SystemExit(f"nobody listens on port {address.port}")


if __name__ == "__main__":
    main()
