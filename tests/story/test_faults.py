"""Things that go wrong around a broker: each has a clear error or a defined reaction, and nothing promised is lost."""

import asyncio
import socket
import subprocess
import sys
from collections import Counter
from pathlib import Path

import httpx
import pytest
import uvicorn

from gates.client import Follower, connected
from gates.wire import SERVE, serving
from tidings.gates.http import connection as patience
from tidings.server import brokers, gates
from tidings.server.config import Settings
from waiting import PATIENCE, asynchronous

_FULL_AFTER = """
import resource, sys
from tidings.cli import main
resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))  # no file may grow beyond this: a disk that is full
sys.exit(main(["serve", "--http-port", "0", "--ws-port", "0", "--log-level", "error"]))
"""


def tidings(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """A run of the interpreter that ends by itself."""
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False
    )


def insert(number: int) -> str:
    return f'INSERT DATA {{ <a> <b> {number} , "{"x" * 1000}{number}" }}'


@pytest.mark.server
@asynchronous
async def test_a_full_disk_refuses_updates_and_forgets_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    acknowledged = []
    with serving(tmp_path, program=("-c", _FULL_AFTER)) as broker:
        async with connected(broker) as subscriber, connected(broker) as publisher:
            follower = await subscriber.follow("SELECT ?o WHERE { <a> <b> ?o }")
            for number in range(100):
                answer = await publisher.ask({"update": {"sparql": insert(number), "alias": "u"}})
                if "error" in answer:
                    break
                acknowledged.append(number)
                await follower.hear()
            assert (answer["error"], answer["status_code"]) == ("log_write_failed", 507)
            assert "nothing was committed" in answer["error_description"]
            answer = await publisher.ask({"update": {"sparql": insert(1000), "alias": "u"}})
            assert answer["error"] == "log_write_failed"
            assert len(acknowledged) > 10
            rows = {row["o"]["value"] for row in await asyncio.to_thread(broker.query, "SELECT ?o { <a> <b> ?o }")}
            assert rows == {row[0] for row in follower.answer}
            assert len(rows) == 2 * len(acknowledged), "what was refused is not there, not even in part"
    with serving(tmp_path) as broker:
        rows = {row["o"]["value"] for row in await asyncio.to_thread(broker.query, "SELECT ?o { <a> <b> ?o }")}
        assert rows == {row[0] for row in follower.answer}
        assert (await asyncio.to_thread(broker.update, insert(2000)))["sequence"] == len(acknowledged) + 1


@pytest.mark.server
def test_two_brokers_on_one_folder_are_one_too_many(tmp_path: Path) -> None:
    with serving(tmp_path) as broker:
        second = tidings(tmp_path, *SERVE)
        assert second.returncode == 1
        assert f"in use by process {broker.process.pid}" in second.stderr


@pytest.mark.server
def test_a_folder_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    done = tidings(tmp_path, *SERVE, "--data", "taken")
    assert done.returncode == 1
    assert "taken" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.server
def test_a_damaged_log_is_refused_and_can_be_repaired(tmp_path: Path) -> None:
    with serving(tmp_path) as broker:
        for number in range(5):
            broker.update(f"INSERT DATA {{ <a> <b> {number} }}")
        broker.stop()
    (segment,) = (tmp_path / "tidings-data" / "log").glob("*.jsonl")
    lines = segment.read_bytes().splitlines(keepends=True)
    segment.write_bytes(b"".join([*lines[:2], lines[2].replace(b'"add"', b'"add '), *lines[3:]]))
    refused = tidings(tmp_path, *SERVE)
    assert refused.returncode == 1
    assert "line 3" in refused.stderr
    assert "tidings repair --data tidings-data" in refused.stderr
    assert tidings(tmp_path, "-m", "tidings", "repair", "--data", "tidings-data").returncode == 0
    with serving(tmp_path) as broker:
        assert len(broker.query("SELECT ?o { <a> <b> ?o }")) == 2


@pytest.mark.server
@asynchronous
async def test_what_was_accepted_is_answered_before_the_end(tmp_path: Path) -> None:
    with serving(tmp_path) as broker:
        async with connected(broker) as publisher:
            for number in range(500):
                publisher.send({"update": {"sparql": f"INSERT DATA {{ <a> <b> {number} }}", "alias": str(number)}})
            await publisher.next()
            stopping = asyncio.create_task(asyncio.to_thread(broker.stop))
            answers = Counter[str]()
            while (message := await publisher.inbox.messages.get()) is not None:
                answers["done" if "response" in message else message["error"]] += 1
            assert await stopping == 0
    with serving(tmp_path) as broker:
        kept = len(await asyncio.to_thread(broker.query, "SELECT ?o { <a> <b> ?o }"))
    assert kept == answers["done"] + 1
    assert set(answers) <= {"done", "shutting_down"}


@asynchronous
async def test_a_client_that_sends_its_headers_for_ever_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings(memory=True)
    broker = brokers.build_broker(settings)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(
            gates.uvicorn_config(gates.http_app(broker, settings), settings, gates.websocket_gate(broker, settings))
        )
        async with broker:
            serving_ = asyncio.create_task(server.serve(sockets=[listener]))
            monkeypatch.setattr(patience, "HEADER_SECONDS", 0.05)
            reader, writer = await asyncio.open_connection(*listener.getsockname())
            writer.write(b"POST /update HTTP/1.1\r\nHost: x\r\nX-Slow: ")
            assert await asyncio.wait_for(reader.read(), PATIENCE) == b""
            writer.close()
            monkeypatch.setattr(patience, "HEADER_SECONDS", PATIENCE)
            address = "http://{}:{}/healthz".format(*listener.getsockname())
            async with httpx.AsyncClient(timeout=PATIENCE) as client:
                assert (await client.get(address)).status_code == 200
                (connection,) = server.server_state.connections
                assert isinstance(connection, patience.HttpConnection)
                assert connection.patience is None  # a connection that rests between two requests is not slow
                assert (await client.get(address)).status_code == 200
            server.should_exit = True
            await serving_


def test_followers_check_what_they_are_told() -> None:
    """The tests above rest on it."""
    follower = Follower("it", spuid="urn:x", told=0)
    head = {"vars": ["o"]}
    row = {"o": {"type": "literal", "value": "1"}}
    notification = {
        "alias": "it", "sequence": 1, "spuid": "urn:x",
        "addedResults": {"head": head, "results": {"bindings": []}},
        "removedResults": {"head": head, "results": {"bindings": [row]}},
    }  # fmt: skip
    with pytest.raises(AssertionError, match="was not there"):
        follower.take({"notification": notification})
