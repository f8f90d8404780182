"""Health is told from elsewhere than the loop: it answers while the loop is held, and says for how long it has been."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

from tidings.log.errors import LogBroken
from tidings.server.health import BUSY, STUCK, Health, HealthServer
from waiting import PATIENCE


class Patient:
    """A broker whose health a test decides."""

    def __init__(self) -> None:
        self.ending = False
        self.broken = False

    def check_log(self) -> None:
        if self.broken:
            raise LogBroken


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


@contextmanager
def held_loop(health: Health, broker: Patient) -> Iterator[None]:
    """A loop that gives signs of life, and then is held for as long as the test likes."""
    held, let_go = threading.Event(), threading.Event()

    def hold() -> None:
        held.set()
        let_go.wait(PATIENCE)

    async def live() -> None:
        loop = asyncio.get_running_loop()
        health.watch(broker, loop)
        loop.call_soon(hold)
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    thread = threading.Thread(target=lambda: asyncio.run(live()))
    thread.start()
    try:
        assert held.wait(PATIENCE)
        yield
    finally:
        let_go.set()
        thread.join()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def health(clock: Clock) -> Health:
    return Health(clock)


@pytest.fixture
def client(health: Health) -> Iterator[httpx.Client]:
    with (
        HealthServer(health, "127.0.0.1", 0) as server,
        httpx.Client(base_url=f"http://127.0.0.1:{server.port}", timeout=PATIENCE) as asking,
    ):
        yield asking


def test_health_answers_while_the_loop_is_held(health: Health, client: httpx.Client, clock: Clock) -> None:
    with held_loop(health, Patient()):
        for path in ("/healthz", "/readyz"):
            answer = client.get(path)
            assert (answer.status_code, answer.json()["status"]) == (200, "ok")
        clock.seconds += BUSY + 1
        assert client.get("/healthz").status_code == 200
        busy = client.get("/readyz")
        assert (busy.status_code, busy.json()["error"]) == (503, "loop_busy")
        assert busy.json()["seconds"] == pytest.approx(BUSY + 1, abs=0.1)
        assert "the loop has not turned for 1.9 s" in busy.json()["error_description"]
        clock.seconds += STUCK
        assert client.get("/healthz").json()["error"] == "loop_busy"


def test_health_tells_what_is_wrong(health: Health, client: httpx.Client) -> None:
    broker = Patient()
    with held_loop(health, broker):
        broker.broken = True
        assert (client.get("/healthz").status_code, client.get("/readyz").json()["error"]) == (503, "log_broken")
        broker.broken, broker.ending = False, True
        assert (client.get("/readyz").status_code, client.get("/healthz").json()["error"]) == (503, "shutting_down")


def test_a_broker_that_starts_is_alive_but_not_ready(client: httpx.Client) -> None:
    assert client.get("/healthz").json()["status"] == "starting"
    assert (client.get("/readyz").status_code, client.get("/readyz").json()["error"]) == (503, "starting")


def test_there_is_nothing_else_at_the_port_of_health(client: httpx.Client) -> None:
    answer = client.get("/query?query=ASK{}")
    assert (answer.status_code, answer.json()["error"]) == (404, "not_found")
    assert client.post("/update", data={"update": "DROP ALL"}).status_code == 501
    assert client.head("/healthz").content == b""
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_clients_that_say_nothing_hold_nobody_up(health: Health) -> None:
    with HealthServer(health, "127.0.0.1", 0) as server:
        silent = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(10)]
        try:
            assert httpx.get(f"http://127.0.0.1:{server.port}/healthz", timeout=PATIENCE).status_code == 200
        finally:
            for each in silent:
                each.close()
