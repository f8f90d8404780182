"""Requests that the HTTP gate refuses, each with an envelope that says why."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from broker.making import Clock
from gates.doors import is_error
from gates.requests import QUERY, SELECT, UPDATE, Gate, ask, client_of, gate, values
from tidings.broker.broker import Broker
from tidings.broker.spool import Spool
from tidings.server import brokers
from tidings.server.brokers import Watch
from waiting import PATIENCE


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
            brokers.build_broker(app.settings, app.core) as broker,
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
