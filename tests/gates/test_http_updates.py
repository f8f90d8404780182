"""Updates of the SPARQL 1.1 Protocol over HTTP: what they did, their order, their time, and what they may load."""

import asyncio
import time
from pathlib import Path

import httpx
import pytest

from gates.doors import is_error
from gates.requests import UPDATE, Gate, ask, client_of, gate
from tidings.server import brokers
from tidings.server.config import Settings
from waiting import until


@pytest.mark.parametrize("path", ["/update", "/sparql"])
def test_an_update_can_be_sent_in_two_ways_and_says_what_it_did(app: Gate, path: str) -> None:
    text = "DELETE { ?s ?p 2 } INSERT { ?s ?p 20 , 21 } WHERE { ?s ?p 2 }"
    first = ask(app, "POST", path, data={"update": text})
    second = ask(app, "POST", path, content=text, headers=UPDATE)
    assert first.status_code == second.status_code == 200
    response = first.json()["response"]
    assert (response["added"], response["removed"]) == (2, 1)
    assert response["time"] > 1_700_000_000_000_000
    assert (response["sequence"], second.json()["response"]["sequence"]) == (1, 0)  # no effect, no commit
    assert (second.json()["response"]["added"], second.json()["response"]["removed"]) == (0, 0)


def test_using_parameters_say_what_where_sees(app: Gate) -> None:
    text = "INSERT { ?s <http://example.org/seen> ?o } WHERE { ?s <http://example.org/p> ?o }"
    response = ask(app, "POST", "/update", data={"update": text, "using-graph-uri": "http://example.org/g"})
    assert response.json()["response"]["added"] == 1


def test_a_dataset_given_twice_is_refused(app: Gate) -> None:
    text = "INSERT { ?s ?p ?o } USING <http://example.org/g> WHERE { ?s ?p ?o }"
    response = ask(app, "POST", "/update", data={"update": text, "using-named-graph-uri": "http://example.org/h"})
    assert response.status_code == 400


def test_a_read_only_endpoint_refuses_updates_and_says_so() -> None:
    app = gate(read_only=True)
    assert is_error(ask(app, "POST", "/update", content="CLEAR ALL", headers=UPDATE), 403, "not_allowed")
    assert "SPARQL11Update" not in ask(app, "GET", "/").text


def test_commits_are_numbered_in_the_order_of_their_updates() -> None:
    async def story() -> None:
        settings = Settings()
        async with brokers.build_broker(settings) as broker, client_of(broker, settings) as client:
            answers = [
                (await client.post("/update", content=text, headers=UPDATE)).json()["response"]
                for text in ("INSERT DATA { <a> <b> 1 }", "DELETE DATA { <a> <b> 2 }", "CLEAR ALL")
            ]
            assert [each["sequence"] for each in answers] == [1, 1, 2]
            assert answers[0]["time"] <= answers[1]["time"] <= answers[2]["time"]

    asyncio.run(story())


def test_one_update_too_many_is_asked_to_come_back() -> None:
    async def story() -> None:
        settings = Settings(max_queue=1)
        async with (
            brokers.build_broker(settings) as broker,
            client_of(broker, settings) as client,
            asyncio.TaskGroup() as group,
        ):
            broker.updates.hold()
            first = group.create_task(client.post("/update", content="INSERT DATA { <a> <b> 1 }", headers=UPDATE))
            await until(lambda: broker.updates.accepted)
            second = await client.post("/update", content="CLEAR ALL", headers=UPDATE)
            assert is_error(second, 429, "too_many_requests")
            assert second.headers["retry-after"] == "1"
            broker.updates.resume()
            assert (await first).json()["response"]["added"] == 1

    asyncio.run(story())


@pytest.mark.parametrize("parameters", [{"delay": "3600"}, {"delay": "PT1H"}, {"at": "2999-12-31T23:59:59Z"}])
def test_an_update_can_be_sent_ahead_of_its_time(app: Gate, parameters: dict[str, str]) -> None:
    text = "INSERT DATA { <a> <b> 1 }"
    answer = ask(app, "POST", "/update", data={"update": text} | parameters)
    assert answer.status_code == 200
    response = answer.json()["response"]
    assert response["delayed"]
    assert response["at"].endswith("Z")
    assert response["time"] > time.time() * 1e6
    assert is_error(ask(app, "POST", "/update", data={"update": "INSERT"} | parameters), 400, "sparql_syntax_error")


@pytest.mark.parametrize(
    "parameters",
    [
        {"delay": "-1"}, {"delay": "soon"}, {"delay": "nan"}, {"delay": "P"}, {"delay": "1", "at": "1"},
        {"at": "tomorrow"}, {"at": "2999-12-31T23:59:59"}, {"at": "²"}, {"at": "9" * 18}, {"at": "9" * 40},
    ],
)  # fmt: skip
def test_an_instant_that_makes_no_sense_is_refused(app: Gate, parameters: dict[str, str]) -> None:
    answer = ask(app, "POST", "/update", data={"update": "INSERT DATA { <a> <b> 1 }"} | parameters)
    assert is_error(answer, 400, "bad_request")


def test_load_reads_from_its_folder_and_from_nowhere_else(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "a.ttl").write_text("<#me> <http://example.org/p> 5 .")
    (tmp_path / "secret.ttl").write_text("<a> <b> 6 .")
    app = gate(load_from=str(inside))

    def load(source: str) -> httpx.Response:
        return ask(app, "POST", "/update", content=f"LOAD <{source}>", headers=UPDATE)

    assert load("a.ttl").json()["response"]["added"] == 1
    assert ask(app, "GET", "/query", params={"query": "ASK { <a.ttl#me> ?p 5 }"}).json()["boolean"] is True
    assert is_error(load((tmp_path / "secret.ttl").as_uri()), 403, "not_allowed")
    assert is_error(load("%2E%2E/secret.ttl"), 403, "not_allowed")
    assert is_error(load("http://elsewhere.example/a.ttl"), 403, "not_allowed")
    missing = load("nope.ttl")
    assert is_error(missing, 502, "load_failed")
    assert str(tmp_path) not in missing.text
