"""The SPARQL 1.1 Protocol over HTTP, as a client sees it."""

import asyncio
import errno
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psutil
import pyoxigraph as ox
import pytest

from broker.making import Clock
from tidings.broker.broker import Broker
from tidings.broker.spool import Spool
from tidings.engine.updates.executor import Core
from tidings.model.formats.results.documents import ResultFormat, read_results
from tidings.model.results import Boolean, Solutions
from tidings.server import app as wiring
from tidings.server.app import WATCH, Watch
from tidings.server.config import Settings
from waiting import PATIENCE, asynchronous, until

DATA = """PREFIX : <http://example.org/> INSERT DATA {
  :a :p 1 , "été"@fr . :b :p 2 . GRAPH :g { :c :p 3 } GRAPH :h { :d :p 4 } }"""
SELECT = "SELECT ?s ?o WHERE { ?s <http://example.org/p> ?o } ORDER BY ?s ?o"
UPDATE = {"content-type": "application/sparql-update"}
QUERY = {"content-type": "application/sparql-query"}


@dataclass(frozen=True)
class Gate:
    """What is behind an address: every request finds the quads that the one before it left."""

    settings: Settings
    core: Core
    watch: Watch


def gate(watch: Watch = WATCH, **changes: Any) -> Gate:
    settings = Settings(**changes)
    core = wiring.build_core(settings)
    core.update(DATA, now=0)
    return Gate(settings, core, watch)


def ask(app: Gate, method: str, path: str, **options: Any) -> httpx.Response:
    async def once() -> httpx.Response:
        async with (
            wiring.build_broker(app.settings, app.core, watch=app.watch) as broker,
            client_of(broker, app.settings, raise_app_exceptions=False) as client,
        ):
            return await client.request(method, path, **options)

    return asyncio.run(once())


def client_of(broker: Broker, settings: Settings, *, raise_app_exceptions: bool = True) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(wiring.http_app(broker, settings), raise_app_exceptions=raise_app_exceptions)
    return httpx.AsyncClient(transport=transport, base_url="http://tidings.test")


@pytest.fixture
def app() -> Gate:
    return gate()


def values(response: httpx.Response) -> list[str]:
    assert response.status_code == 200, response.text
    return [binding["o"]["value"] for binding in response.json()["results"]["bindings"]]


def is_error(response: httpx.Response, status: int, code: str) -> bool:
    envelope = response.json()
    return (response.status_code, envelope["status_code"], envelope["error"]) == (status, status, code)


# -- queries ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/query", "/sparql"])
def test_a_query_can_be_asked_in_three_ways(app: Gate, path: str) -> None:
    answers = [
        ask(app, "GET", path, params={"query": SELECT}),
        ask(app, "POST", path, data={"query": SELECT}),
        ask(app, "POST", path, content=SELECT, headers={"content-type": "application/sparql-query; charset=utf-8"}),
    ]
    assert [values(answer) for answer in answers] == [["1", "été", "2"]] * 3
    assert {answer.headers["content-type"] for answer in answers} == {"application/sparql-results+json"}


@pytest.mark.parametrize(
    ("parameters", "found"),
    [
        ({"default-graph-uri": "http://example.org/g"}, ["3"]),
        ({"default-graph-uri": ["http://example.org/g", "http://example.org/h"]}, ["3", "4"]),
        ({"named-graph-uri": "http://example.org/g"}, []),
    ],
)
def test_the_dataset_of_the_request_is_the_dataset(app: Gate, parameters: dict[str, object], found: list[str]) -> None:
    assert values(ask(app, "GET", "/query", params={"query": SELECT} | parameters)) == found
    assert values(ask(app, "POST", "/query", data={"query": SELECT} | parameters)) == found
    assert values(ask(app, "POST", "/query", params=parameters, content=SELECT, headers=QUERY)) == found


@pytest.mark.parametrize("format_", ResultFormat)
def test_results_come_in_every_format_by_header_and_by_parameter(app: Gate, format_: ResultFormat) -> None:
    expected = read_results(ask(app, "GET", "/query", params={"query": SELECT}).content, ResultFormat.JSON)
    assert isinstance(expected, Solutions)
    for options in (
        {"headers": {"accept": f"text/html;q=0.3, {format_.media.types[0]};q=0.9"}},
        {"params": {"format": format_.media.name}},
        {"params": {"format": format_.media.types[0]}},
    ):
        response = ask(
            app, "POST", "/query", content=SELECT, **{**options, "headers": QUERY | options.get("headers", {})}
        )
        assert response.headers["content-type"].partition(";")[0] == format_.media.types[0]
        found = read_results(response.content, format_)
        assert isinstance(found, Solutions)
        assert found.variables == expected.variables
        assert len(list(found.rows)) == 3


def test_ask_is_answered_by_a_boolean(app: Gate) -> None:
    response = ask(
        app, "GET", "/query", params={"query": "ASK { ?s ?p 42 }"}, headers={"accept": "application/sparql-results+xml"}
    )
    assert read_results(response.content, ResultFormat.XML) == Boolean(False)


@pytest.mark.parametrize(
    ("accept", "syntax"),
    [
        ("*/*", ox.RdfFormat.TURTLE),
        ("text/turtle", ox.RdfFormat.TURTLE),
        ("application/n-triples", ox.RdfFormat.N_TRIPLES),
        ("application/rdf+xml", ox.RdfFormat.RDF_XML),
        ("application/ld+json", ox.RdfFormat.JSON_LD),
        ("application/n-quads", ox.RdfFormat.N_QUADS),
        ("application/trig", ox.RdfFormat.TRIG),
    ],
)
def test_triples_come_in_every_rdf_format(app: Gate, accept: str, syntax: ox.RdfFormat) -> None:
    response = ask(app, "GET", "/query", params={"query": "CONSTRUCT WHERE { ?s ?p ?o }"}, headers={"accept": accept})
    assert response.headers["content-type"].partition(";")[0] == syntax.media_type
    assert len(list(ox.parse(response.content, syntax))) == 3


def test_head_is_a_get_without_its_body(app: Gate) -> None:
    got = ask(app, "GET", "/query", params={"query": SELECT})
    head = ask(app, "HEAD", "/query", params={"query": SELECT})
    assert head.status_code == 200
    assert head.content == b""
    assert head.headers["content-length"] == got.headers["content-length"] == str(len(got.content))


def test_an_answer_larger_than_a_chunk_is_whole_and_compressed_when_welcome(app: Gate) -> None:
    many = "SELECT ?o { VALUES ?a { 1 2 3 4 5 6 7 8 9 10 } VALUES ?b { 1 2 3 4 5 6 7 8 9 10 } " * 1
    query = f"{many} VALUES ?c {{ {' '.join(map(str, range(50)))} }} BIND(?a * ?b + ?c AS ?o) }}"
    plain = ask(app, "POST", "/query", content=query, headers=QUERY | {"accept-encoding": "identity"})
    packed = ask(app, "POST", "/query", content=query, headers=QUERY | {"accept-encoding": "gzip"})
    assert len(plain.content) == int(plain.headers["content-length"]) > 100_000
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.content == plain.content
    assert len(values(plain)) == 5000


# -- updates ----------------------------------------------------------------------------------------------------


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


# -- refusals ---------------------------------------------------------------------------------------------------


def test_a_syntax_error_says_where(app: Gate) -> None:
    response = ask(app, "GET", "/query", params={"query": "SELECT *\nWHERE { ?s }"})
    assert is_error(response, 400, "sparql_syntax_error")
    assert (response.json()["line"], response.json()["column"]) == (2, 12)


@pytest.mark.parametrize(
    ("method", "path", "options", "status", "code"),
    [
        ("GET", "/nope", {}, 404, "not_found"),
        ("GET", "/query?x=y", {}, 400, "bad_request"),
        ("GET", "/query?query=ASK{}&query=ASK{}", {}, 400, "bad_request"),
        ("GET", "/sparql?update=CLEAR%20ALL", {}, 400, "bad_request"),
        ("POST", "/query", {"data": {"update": "CLEAR ALL"}}, 400, "bad_request"),
        ("POST", "/update", {"data": {"query": "ASK {}"}}, 400, "bad_request"),
        ("POST", "/sparql", {"data": {"query": "ASK {}", "update": "CLEAR ALL"}}, 400, "bad_request"),
        ("POST", "/query", {"content": "ASK {}"}, 415, "unsupported_format"),
        ("POST", "/query", {"content": "ASK {}", "headers": {"content-type": "text/plain"}}, 415, "unsupported_format"),
        ("POST", "/query", {"content": "", "headers": QUERY | {"content-encoding": "br"}}, 415, "unsupported_format"),
        ("GET", "/query?query=ASK{}&format=pdf", {}, 415, "unsupported_format"),
        ("GET", "/query?query=ASK{}", {"headers": {"accept": "image/png"}}, 406, "not_acceptable"),
        ("POST", "/update", {"content": "LOAD <x.ttl>", "headers": UPDATE}, 403, "not_allowed"),
        ("POST", "/update", {"content": "COPY <x> TO <y>", "headers": UPDATE}, 404, "graph_missing"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_with_an_envelope(
    method: str, path: str, options: dict[str, object], status: int, code: str
) -> None:
    assert is_error(ask(gate(), method, path, **options), status, code)


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PUT", "/query", {"GET", "HEAD", "POST", "OPTIONS"}),
        ("GET", "/update", {"POST", "OPTIONS"}),
        ("DELETE", "/", {"GET", "HEAD", "OPTIONS"}),
    ],
)
def test_a_wrong_method_is_told_the_right_ones(app: Gate, method: str, path: str, allowed: set[str]) -> None:
    response = ask(app, method, path)
    assert is_error(response, 405, "method_not_allowed")
    assert set(response.headers["allow"].split(", ")) == allowed
    options = ask(app, "OPTIONS", path)
    assert options.status_code == 204
    assert set(options.headers["allow"].split(", ")) == allowed


def test_a_body_above_the_limit_is_refused_announced_or_not() -> None:
    app = gate(max_body=100)

    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(20):
            yield b"#" * 10

    assert is_error(ask(app, "POST", "/query", content=b"#" * 101, headers=QUERY), 413, "body_too_large")
    assert is_error(ask(app, "POST", "/query", content=chunks(), headers=QUERY), 413, "body_too_large")
    assert ask(app, "POST", "/query", content="ASK {}".ljust(100), headers=QUERY).status_code == 200


def test_an_evaluation_over_its_limits_is_an_error_even_in_the_last_row() -> None:
    endless = "SELECT (COUNT(*) AS ?n) { " + "".join(f"?a{n} ?b{n} ?c{n} . " for n in range(14)) + "}"
    clock = Clock(step=100.0)
    app = gate(Watch(clock.now, clock.monotonic), timeout=1000.0)
    assert is_error(ask(app, "POST", "/query", content=endless, headers=QUERY), 503, "time_limit_exceeded")
    assert is_error(ask(gate(max_rows=2), "POST", "/query", content=SELECT, headers=QUERY), 503, "row_limit_exceeded")


def test_what_nobody_foresaw_is_an_envelope_without_our_insides(app: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidings.gates.http.app.document", lambda *_: 1 / 0)
    response = ask(app, "GET", "/query", params={"query": "ASK {}"})
    assert is_error(response, 500, "internal_error")
    assert "division" not in response.text


def test_commits_are_numbered_in_the_order_of_their_updates() -> None:
    async def story() -> None:
        settings = Settings()
        async with wiring.build_broker(settings) as broker, client_of(broker, settings) as client:
            answers = [
                (await client.post("/update", content=text, headers=UPDATE)).json()["response"]
                for text in ("INSERT DATA { <a> <b> 1 }", "DELETE DATA { <a> <b> 2 }", "CLEAR ALL")
            ]
            assert [each["sequence"] for each in answers] == [1, 1, 2]
            assert answers[0]["time"] <= answers[1]["time"] <= answers[2]["time"]

    asyncio.run(story())


def test_one_request_too_many_is_asked_to_come_back_and_health_is_still_told(monkeypatch: pytest.MonkeyPatch) -> None:
    app = gate(max_requests=1)
    query = Broker.query

    async def story() -> None:
        inside, go_on = asyncio.Event(), asyncio.Event()

        async def slowly(*arguments: Any) -> Spool:
            inside.set()
            await asyncio.wait_for(go_on.wait(), PATIENCE)
            return await query(*arguments)

        monkeypatch.setattr(Broker, "query", slowly)
        async with (
            wiring.build_broker(app.settings, app.core) as broker,
            client_of(broker, app.settings) as client,
            asyncio.TaskGroup() as group,
        ):
            first = group.create_task(client.get("/query", params={"query": SELECT}))
            await asyncio.wait_for(inside.wait(), PATIENCE)
            second = await client.get("/query", params={"query": SELECT})
            assert is_error(second, 429, "too_many_requests")
            assert second.headers["retry-after"] == "1"
            assert (await client.get("/healthz")).json()["status"] == "ok"
            go_on.set()
            assert values(await first) == ["1", "été", "2"]
            assert (await client.get("/query", params={"query": SELECT})).status_code == 200

    asyncio.run(story())


def test_one_update_too_many_is_asked_to_come_back() -> None:
    async def story() -> None:
        settings = Settings(max_queue=1)
        async with (
            wiring.build_broker(settings) as broker,
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


# -- the rest of the house --------------------------------------------------------------------------------------


def test_pages_of_other_origins_may_call(app: Gate) -> None:
    preflight = ask(
        app, "OPTIONS", "/update",
        headers={"origin": "http://other.example", "access-control-request-method": "POST",
                 "access-control-request-headers": "content-type, authorization"},
    )  # fmt: skip
    assert preflight.status_code == 200
    assert preflight.headers["access-control-allow-origin"] == "*"
    assert "POST" in preflight.headers["access-control-allow-methods"]
    for path in ("/query", "/nope"):
        answer = ask(app, "GET", path, params={"query": SELECT}, headers={"origin": "http://other.example"})
        assert answer.headers["access-control-allow-origin"] == "*"


def test_only_the_origins_of_the_settings_may_call() -> None:
    app = gate(cors=("http://mine.example",))
    mine = ask(app, "GET", "/healthz", headers={"origin": "http://mine.example"})
    other = ask(app, "GET", "/healthz", headers={"origin": "http://other.example"})
    assert mine.headers["access-control-allow-origin"] == "http://mine.example"
    assert "access-control-allow-origin" not in other.headers


@pytest.mark.parametrize("path", ["/", "/sparql", "/query"])
def test_programs_get_a_service_description(app: Gate, path: str) -> None:
    response = ask(app, "GET", path, headers={"accept": "application/n-triples"})
    found = {
        (quad.predicate.value.rpartition("#")[2], getattr(quad.object, "value", ""))
        for quad in ox.parse(response.content, ox.RdfFormat.N_TRIPLES)
    }
    sd = "http://www.w3.org/ns/sparql-service-description#"
    assert ("endpoint", "http://tidings.test/sparql") in found
    assert ("supportedLanguage", f"{sd}SPARQL11Update") in found
    assert ("resultFormat", "http://www.w3.org/ns/formats/SPARQL_Results_JSON") in found
    assert ("name", "http://example.org/g") in found


def test_a_forged_host_does_not_get_into_the_description(app: Gate) -> None:
    response = ask(app, "GET", "/", headers={"host": 'x"> <http://evil.example/> "'})
    assert response.status_code in (200, 400)
    assert "evil" not in response.text


def test_browsers_get_a_page_that_needs_nothing_else(app: Gate) -> None:
    response = ask(app, "GET", "/", headers={"accept": "text/html,application/xhtml+xml,*/*;q=0.8"})
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in response.headers["content-security-policy"]
    assert "<textarea" in response.text
    assert "src=" not in response.text
    assert "<link" not in response.text


# -- a real server ----------------------------------------------------------------------------------------------


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
    assert second.stderr.count("\n") == 1


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
    async with httpx.AsyncClient(base_url=address, timeout=PATIENCE) as client:
        asking = await begin_what_has_no_end(client, process)
        asking.cancel()
        await until(lambda: not copies(process))  # there is no time limit: it was given up
        assert (await client.post("/update", content="CLEAR ALL", headers=UPDATE)).status_code == 200


@pytest.mark.server
@asynchronous
async def test_told_twice_to_stop_it_gives_up_what_runs_and_says_so(server: Server) -> None:
    address, process = server
    async with httpx.AsyncClient(base_url=address, timeout=PATIENCE) as client:
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


# -- warnings ---------------------------------------------------------------------------------------------------


def test_an_answer_says_which_function_nobody_knows(app: Gate) -> None:
    answer = ask(app, "GET", "/query", params={"query": "SELECT ?s { ?s ?p ?o FILTER(<http://e/é>(?o)) }"})
    assert answer.status_code == 200
    warning = "the function <http://e/%C3%A9> is not known: every call of it is an error"
    assert answer.headers["tidings-warning"] == warning
    assert "tidings-warning" not in ask(app, "GET", "/query", params={"query": SELECT}).headers


def test_the_log_names_an_unknown_function_once(app: Gate, caplog: pytest.LogCaptureFixture) -> None:
    async def story() -> None:
        async with wiring.build_broker(app.settings, app.core) as broker, client_of(broker, app.settings) as client:
            for number in range(3):
                text = f"SELECT ?s {{ ?s ?p ?o FILTER(<http://e/f>(?o) = {number}) }} LIMIT {number + 1}"
                answer = await client.get("/query", params={"query": text})
                assert "http://e/f" in answer.headers["tidings-warning"]
            change = "DELETE { ?s ?p ?o } WHERE { ?s ?p ?o FILTER(<http://e/g>(?o)) }"
            await client.post("/update", content=change, headers=UPDATE)

    asyncio.run(story())
    said = [record.getMessage() for record in caplog.records if "not known" in record.getMessage()]
    assert said == [
        f"a request was accepted, but the function <http://e/{name}> is not known: every call of it is an error"
        for name in "fg"
    ]
