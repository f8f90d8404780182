"""`tidings serve --endpoint` in front of a real store: one long conversation, with crashes of both."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.shell import EXAMPLES, WITH_ENDPOINT, command_of, shell
from endpoint.servers import Server, oxigraph
from gates.wire import Broker, serving
from plain import calls
from tidings.client import Refused, connect
from waiting import PATIENCE, asynchronous, wait_until

S, P = "<http://example.org/s>", "<http://example.org/p>"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with oxigraph(tmp_path_factory.mktemp("oxigraph")) as running:
        yield running


def in_front_of(server: Server, folder: Path, *more: str) -> tuple[str, ...]:
    return ("--data", str(folder), "--endpoint", server.query, "--update-url", server.update, *more)


def values(broker: Broker) -> list[str]:
    rows = broker.query(f"SELECT ?o {{ {S} {P} ?o }} ORDER BY ?o")
    return [row["o"]["value"] for row in rows]


def stored(server: Server) -> list[str]:
    return [row["o"]["value"] for row in server.rows(f"SELECT ?o {{ {S} {P} ?o }} ORDER BY ?o")]


def state(broker: Broker) -> str:
    return str(calls.get(f"{broker.http}/status", timeout=PATIENCE).json()["endpoint"]["state"])


@pytest.mark.server
def test_a_broker_and_its_store_agree_whatever_happens_to_either(server: Server, tmp_path: Path) -> None:
    server.told(f"INSERT DATA {{ {S} {P} 1 }}")
    settings = in_front_of(server, tmp_path / "data", "--endpoint-patience", "1")
    with serving(tmp_path, *settings) as broker:
        assert values(broker) == ["1"], "it begins with what the store has"
        broker.update(f"DELETE {{ {S} {P} ?o }} INSERT {{ {S} {P} ?n }} WHERE {{ {S} {P} ?o BIND(?o + 1 AS ?n) }}")
        assert stored(server) == values(broker) == ["2"]

        server.told(f"INSERT DATA {{ {S} {P} 3 }}")
        for example in (line for line in EXAMPLES if command_of(line) in WITH_ENDPOINT):
            done = shell(example, tmp_path, broker)
            assert done.returncode == 0, done.stderr
            assert "the endpoint" in done.stdout
        assert values(broker) == ["2", "3"], "changes behind its back are found"

        server.kill()
        answer = calls.post(f"{broker.http}/update", data={"update": f"INSERT DATA {{ {S} {P} 4 }}"}, timeout=PATIENCE)
        assert (answer.status_code, answer.json()["error"]) == (503, "endpoint_away")
        assert state(broker) == "endpoint_away"
        asked = calls.get(f"{broker.http}/query", params={"query": f"ASK {{ {S} {P} 3 }}"}, timeout=PATIENCE)
        assert asked.json()["boolean"] is True, "queries go on from memory"
        assert int(asked.headers["age"]) > 0, "and say how old the answer is"
        assert "endpoint_away" in shell("tidings status", tmp_path, broker).stdout
        server.start()
        wait_until(lambda: state(broker) == "ok")
        broker.update(f"INSERT DATA {{ {S} {P} 5 }}")
        assert stored(server) == values(broker) == ["2", "3", "5"]
        broker.stop(signal.SIGKILL)

    server.told(f"DELETE DATA {{ {S} {P} 2 }}")
    with serving(tmp_path, *settings) as broker:
        assert values(broker) == stored(server) == ["3", "5"]
        metrics = calls.get(f"{broker.http}/metrics", timeout=PATIENCE).text
        assert "tidings_endpoint_well 1.0" in metrics
        server.kill()
        answer = calls.post(f"{broker.http}/update", data={"update": f"INSERT DATA {{ {S} {P} 6 }}"}, timeout=PATIENCE)
        assert answer.json()["error"] == "endpoint_away"
        assert broker.stop() == 0, "it ends well, although it still waits for its store"
    server.start()
    assert stored(server) == ["3", "5"]


@pytest.mark.server
def test_what_others_commit_at_another_broker_is_followed(tmp_path: Path) -> None:
    """Another Tidings is an endpoint like any other, and its log says what changes there."""
    with serving(tmp_path, "--data", str(tmp_path / "other")) as other:
        other.update(f"INSERT DATA {{ {S} {P} 1 }}")
        arguments = (
            "--data",
            str(tmp_path / "data"),
            "--endpoint",
            f"{other.http}/sparql",
            "--endpoint-feed",
            other.http,
        )
        with serving(tmp_path, *arguments) as broker:
            broker.update(f"INSERT DATA {{ {S} {P} 2 }}")
            other.update(f"DELETE DATA {{ {S} {P} 1 }}")
            other.update(f"INSERT DATA {{ {S} {P} 3 }}")
            wait_until(lambda: values(broker) == ["2", "3"])
            broker.update(f"DELETE DATA {{ {S} {P} 2 }}")
            assert values(other) == ["3"]


def quads(broker: Broker) -> int:
    return int(calls.get(f"{broker.http}/status", timeout=PATIENCE).json()["quads"])


@pytest.mark.server
@asynchronous
async def test_a_broker_with_contexts_in_memory_has_no_more_than_it_needs_and_tells_no_less(
    server: Server, tmp_path: Path
) -> None:
    server.told("CLEAR ALL")
    server.told(f"INSERT DATA {{ {S} {P} 1 . <urn:other> <urn:q> 1, 2, 3 }}")
    settings = in_front_of(server, tmp_path / "data", "--mode", "context", "--max-context", "3")
    more = f"DELETE {{ {S} {P} ?o }} INSERT {{ {S} {P} ?n }} WHERE {{ {S} {P} ?o BIND(?o + 1 AS ?n) }}"
    with serving(tmp_path, *settings) as broker:
        assert values(broker) == ["1"], "queries are answered by the store"
        assert quads(broker) == 0, "nothing is in memory that nobody needs"
        async with connect(broker.ws) as line:
            told = await line.subscribe(f"SELECT ?o {{ {S} {P} ?o }}")
            assert told.values() == [{"o": 1}]
            with pytest.raises(Refused) as refusal:
                await line.subscribe("SELECT ?s { ?s ?p ?o }")
            assert refusal.value.code == "context_too_large"
            broker.update(more)
            broker.update("DELETE WHERE { ?s <urn:q> 3 }")
            broker.update(more)
            while told.values() != [{"o": 3}]:
                await anext(told)
            assert stored(server) == values(broker) == ["3"]
            assert quads(broker) == 1
            broker.stop(signal.SIGKILL)

    server.told(f"INSERT DATA {{ {S} {P} 7 }}")
    with serving(tmp_path, *settings) as broker:
        assert quads(broker) == 2, "contexts come back from the log, and what others changed from the store"
        broker.update(f"DELETE WHERE {{ {S} {P} 7 }}")
        assert quads(broker) == 1
