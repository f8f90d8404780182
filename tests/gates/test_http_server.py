"""The HTTP gate of a server in a process of its own."""

import asyncio
import errno
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace

import httpx
import psutil
import pytest

from gates.doors import is_error
from gates.requests import DATA, QUERY, SELECT, UPDATE, values
from plain import async_client
from tidings.server.config import Settings
from tidings.server.listening import CannotListen, listeners
from waiting import PATIENCE, asynchronous, until

Server = tuple[str, subprocess.Popen[str]]
Asking = asyncio.Task[httpx.Response]


@pytest.fixture
def server() -> Iterator[Server]:
    process = subprocess.Popen(
        [sys.executable, "-m", "tidings", "serve", "--memory", "--timeout", "0", "--http-port", "0", "--ws-port", "0"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    with process:
        assert process.stdout
        first = process.stdout.readline()
        try:
            yield first.split(" at ")[1].split("/sparql")[0], process
        finally:
            process.kill()


@pytest.mark.server
def test_a_real_server_answers_and_ends_when_told(server: Server) -> None:
    address, process = server
    with httpx.Client(base_url=address, timeout=PATIENCE) as client:
        assert client.post("/update", content=DATA, headers=UPDATE).json()["response"]["added"] == 5
        assert values(client.get("/query", params={"query": SELECT})) == ["1", "été", "2"]
        assert client.head("/query", params={"query": SELECT}).headers["server"].startswith("tidings/")
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert said == ""


@pytest.mark.server
def test_a_taken_port_is_one_clear_line(server: Server) -> None:
    address, _ = server
    second = subprocess.run(
        [sys.executable, "-m", "tidings", "serve"],
        env=os.environ | {
            "TIDINGS_MEMORY": "yes", "TIDINGS_HTTP_PORT": address.rpartition(":")[2], "TIDINGS_WS_PORT": "0"
        },
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert second.returncode == 1
    assert second.stderr.startswith("tidings: error: cannot listen on 127.0.0.1 port ")
    assert second.stderr.endswith("; choose another port with --http-port N, or any free one with --http-port 0\n")
    assert second.stderr.count("\n") == 1


@pytest.mark.parametrize("option", ["--http-port", "--ws-port", "--https-port", "--wss-port"])
def test_the_option_for_another_port_is_named(option: str) -> None:
    free = Settings(http_port=0, ws_port=0, https_port=0, wss_port=0)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        name = option.removeprefix("--").replace("-", "_")
        settings = replace(free, **{name: taken.getsockname()[1]})
        with pytest.raises(CannotListen, match=f"choose another port with {option} N"), listeners(settings, tls=True):
            pass


def test_another_port_is_no_help_where_the_address_is_wrong() -> None:
    settings = Settings(host="192.0.2.1", http_port=0, ws_port=0)  # of nobody (RFC 5737)
    with pytest.raises(CannotListen) as refused, listeners(settings, tls=False):
        pass
    assert "--http-port" not in str(refused.value)


ENDLESS = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?n ?o }"


def copies(process: subprocess.Popen[str]) -> list[psutil.Process]:
    """The copies of a server, which are at work."""
    return psutil.Process(process.pid).children()


async def begin_what_has_no_end(client: httpx.AsyncClient, process: subprocess.Popen[str]) -> Asking:
    """A query that is at work."""
    numbers = " ".join(f"<s> <p> {n} ." for n in range(200))
    await client.post("/update", content=f"INSERT DATA {{ {numbers} }}", headers=UPDATE)
    asking = asyncio.create_task(client.post("/query", content=ENDLESS, headers=QUERY))
    await until(lambda: copies(process))
    return asking


@pytest.mark.server
@asynchronous
async def test_an_evaluation_ends_when_its_client_leaves(server: Server) -> None:
    address, process = server
    async with async_client(base_url=address) as client:
        asking = await begin_what_has_no_end(client, process)
        asking.cancel()
        await until(lambda: not copies(process))  # there is no time limit: it was given up
        assert (await client.post("/update", content="CLEAR ALL", headers=UPDATE)).status_code == 200


@pytest.mark.server
@asynchronous
async def test_told_twice_to_stop_it_gives_up_what_runs_and_says_so(server: Server) -> None:
    address, process = server
    async with async_client(base_url=address) as client:
        asking = await begin_what_has_no_end(client, process)
        process.send_signal(signal.SIGINT)
        await until(lambda: is_closed(address))  # it has heard
        process.send_signal(signal.SIGINT)
        assert is_error(await asking, 503, "shutting_down")
    _, said = process.communicate(timeout=PATIENCE)
    assert (process.returncode, said) == (0, "")


def is_closed(address: str) -> bool:
    """Whether nobody listens there any more."""
    host, _, port = address.removeprefix("http://").rpartition(":")
    with socket.socket() as caller:
        return caller.connect_ex((host, int(port))) == errno.ECONNREFUSED
