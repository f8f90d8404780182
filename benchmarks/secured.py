"""Compares a broker with security with one without: `endtoend.py --secured`."""

import gc
import statistics
import tempfile
from pathlib import Path
from typing import Any

import httpx

from endtoend import PUBLISHERS, UPDATES, Audience, Course, compared, log_options
from measure import city_document, rounded, say
from sockets import Broker, Lines, busy_seconds, tidings
from tidings.bench.workloads.city import PAPER_ROADS

_POLICY = """
issuer = "http://localhost:8000"
identity = [{identity = "*"}]
[[grant]]
to = "authenticated"
subscribe = ["*"]
update = ["*"]
"""


class Side:
    """A broker with its audience and its measurements."""

    def __init__(self, broker: Broker, token: str) -> None:
        self.broker = broker
        self.token = token
        self.lines = Lines()
        self.audience = Audience(broker.websocket, self.lines, token)
        kind = "secured" if token else "plain"
        self.courses = {name: Course(f"{kind}, {name}", self.audience, self.lines) for name in PUBLISHERS}
        self.per_busy_second: dict[str, list[float]] = {name: [] for name in PUBLISHERS}
        broker.await_rest()

    def run(self, name: str, first: int) -> None:
        publisher = PUBLISHERS[name](self.broker, self.lines, self.token)
        before = busy_seconds(self.broker.process)
        self.courses[name].run_full_load(publisher, first)
        self.per_busy_second[name].append(UPDATES / (busy_seconds(self.broker.process) - before))
        publisher.close()

    def close(self) -> dict[str, float]:
        """Check all answers, and return the updates a second."""
        self.audience.check(self.broker.http, self.lines)
        self.lines.close()
        return {name: rounded(statistics.median(course.rates), 0) for name, course in self.courses.items()}


def side_by_side(durability: str, turns: int) -> dict[str, Any]:
    gc.disable()
    with tempfile.TemporaryDirectory() as folder:
        document, policy = Path(folder) / "city.nt", Path(folder) / "security.toml"
        document.write_bytes(city_document())
        policy.write_text(_POLICY)
        load = ("--load", str(document), "--ping", "600")  # the client does not read one side during the other's turn
        secure = ("--security", str(policy), "--audit-log", f"{folder}/audit.jsonl")
        with (
            tidings(*log_options(folder, "plain", durability), *load) as plain,
            tidings(*log_options(folder, "secured", durability), *load, *secure) as secured,
        ):
            say("everybody subscribes, twice ...")
            sides = (Side(plain, ""), Side(secured, _token(secured)))
            first = PAPER_ROADS * 1000
            for turn in range(turns):
                for name in PUBLISHERS:
                    for side in sides if turn % 2 == 0 else reversed(sides):
                        side.run(name, first)
                    first += UPDATES
            figures = {kind: side.close() for kind, side in zip(("plain", "secured"), sides, strict=True)}
            plain_side, secured_side = sides
            ratios = {
                name: rounded(compared(secured_side.courses[name].rates, plain_side.courses[name].rates), 3)
                for name in PUBLISHERS
            }
            busy = {
                name: rounded(compared(secured_side.per_busy_second[name], plain_side.per_busy_second[name]), 3)
                for name in PUBLISHERS
            }
    return {**figures, "secured_to_plain": ratios, "secured_to_plain_busy": busy}


def _token(broker: Broker) -> str:
    """Register a client, and return its token."""
    address = f"http://{broker.http.host}:{broker.http.port}"
    wanted = {"register": {"client_identity": "city", "grant_types": ["client_credentials"]}}
    made = httpx.post(f"{address}/oauth/register", json=wanted).raise_for_status().json()["credentials"]
    answer = httpx.post(f"{address}/oauth/token", auth=(made["client_id"], made["client_secret"])).raise_for_status()
    return f"Bearer {answer.json()['access_token']}"
