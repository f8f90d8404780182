"""Pages of other origins, and names that are not the broker's, are refused at both gates; programs notice nothing."""

import json
from typing import Any

import httpx
import pytest
from picows import WSHandshakeError

from gates.client import connected
from gates.doors import indoors, is_error, listening
from gates.requests import SELECT, ask, gate
from gates.sockets import ALL, asynchronous, serving
from tidings.gates.errors import HostNotAllowed, OriginNotAllowed
from tidings.gates.visitors import Visitors

DROP = {"update": "DROP ALL"}
EVIL = "https://evil.example"

# -- names ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host",
    [
        "localhost", "LOCALHOST:8000", "lights.localhost:8000", "127.0.0.1:8000", "10.1.2.3", "[::1]:8000", "[fe80::1]",
        "broker.example.org", "Broker.Example.Org.:443", "a.city.example", "a.b.city.example:80", None, "",
    ],
)  # fmt: skip
def test_addresses_and_the_names_of_the_settings_are_ours(host: str | None) -> None:
    Visitors(hosts=["broker.example.org", "*.city.example"], origins=()).check(host)


@pytest.mark.parametrize(
    "host",
    [
        "evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "evillocalhost", "broker.example.org.evil",
        "city.example", "evilcity.example", "1.2.3", "[::1].evil.example:8000x", "evil.example:8000", "-", "[evil]",
    ],
)  # fmt: skip
def test_other_names_are_not(host: str) -> None:
    if host.startswith("[::1]"):
        host = host.removeprefix("[::1].")
    with pytest.raises(HostNotAllowed, match="allowed_hosts"):
        Visitors(hosts=["broker.example.org", "*.city.example"], origins=()).check(host)


def test_any_name_is_ours_if_the_settings_say_so() -> None:
    Visitors(hosts=["*"], origins=()).check("evil.example")


# -- origins ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        ("http://localhost:8000", "localhost:8000"),
        ("http://localhost", "localhost:80"),
        ("http://localhost:80", "localhost"),
        ("https://10.1.2.3", "10.1.2.3"),
        ("https://10.1.2.3:443", "10.1.2.3"),
        ("http://[::1]:8000", "[::1]:8000"),
        ("HTTP://LocalHost:8000", "localhost:8000"),
        ("https://mine.example", "localhost:8000"),
        ("https://MINE.example", "localhost:8000"),
        (None, "localhost:8000"),
    ],
)
def test_own_pages_and_those_of_the_settings_may_ask(origin: str | None, host: str) -> None:
    Visitors(hosts=(), origins=["https://mine.example"]).check(host, origin)


@pytest.mark.parametrize(
    "origin",
    [
        EVIL, "null", "", "http://localhost:3000", "http://localhost", "https://localhost", "http://127.0.0.1:8000",
        "http://localhost:8000.evil.example", "http://evil.example:8000", "http://mine.example",
        "https://mine.example:8443", "https://mine.example.evil.example", "localhost:8000", "file://",
    ],
)  # fmt: skip
def test_pages_from_elsewhere_may_not(origin: str) -> None:
    with pytest.raises(OriginNotAllowed, match="cors"):
        Visitors(hosts=(), origins=["https://mine.example"]).check("localhost:8000", origin)


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_what_a_page_embeds_says_where_it_comes_from(site: str) -> None:
    visitors = Visitors(hosts=(), origins=())
    with pytest.raises(OriginNotAllowed):
        visitors.check("localhost:8000", None, site, "no-cors")
    visitors.check("localhost:8000", None, site, "navigate")  # somebody follows a link
    visitors.check("localhost:8000", None, "same-origin", "cors")
    visitors.check("localhost:8000", None, "none", "navigate")
    Visitors(hosts=(), origins=["*"]).check("localhost:8000", None, site, "no-cors")


def test_the_page_of_the_http_gate_may_open_a_websocket_beside_it() -> None:
    visitors = Visitors(hosts=(), origins=(), pages=[8000])
    visitors.check("localhost:9000", "http://localhost:8000")
    visitors.check("[::1]:9000", "http://[::1]:8000")
    for origin in ("http://localhost:3000", "http://evil.example:8000", "http://127.0.0.1:8000"):
        with pytest.raises(OriginNotAllowed):
            visitors.check("localhost:9000", origin)


# -- HTTP -------------------------------------------------------------------------------------------------------

CHANGES: list[tuple[str, str, dict[str, Any]]] = [
    ("POST", "/update", {"data": DROP}),
    ("POST", "/update", {"content": "DROP ALL", "headers": {"content-type": "application/sparql-update"}}),
    ("POST", "/update", {"data": DROP | {"delay": "PT1H"}}),
    ("POST", "/sparql", {"data": DROP}),
    ("DELETE", "/rdf-graphs/service?default", {}),
    ("PUT", "/rdf-graphs/service?default", {"content": "", "headers": {"content-type": "text/turtle"}}),
    ("DELETE", "/delayed/x", {}),
]
READS: list[tuple[str, str, dict[str, Any]]] = [
    ("GET", "/query", {"params": {"query": SELECT}}),
    ("POST", "/query", {"data": {"query": SELECT}}),
    ("GET", "/subscribe", {"params": {"query": SELECT}}),
    ("GET", "/log", {}),
    ("GET", "/status", {}),
    ("GET", "/connections", {}),
    ("GET", "/subscriptions", {}),
    ("OPTIONS", "/update", {"headers": {"access-control-request-method": "POST"}}),
]


@pytest.mark.parametrize(("method", "path", "options"), CHANGES + READS)
@asynchronous
async def test_a_page_of_another_origin_gets_nothing_and_changes_nothing(
    method: str, path: str, options: dict[str, Any]
) -> None:
    async with indoors() as house:
        await house.update("INSERT DATA { <urn:a> <urn:p> 1 }")
        for origin in (EVIL, "null", "http://tidings.test:3000"):
            headers = options.get("headers", {}) | {"origin": origin}
            answer = await house.http.request(method, path, **options | {"headers": headers})
            assert is_error(answer, 403, "origin_not_allowed")
            assert "access-control-allow-origin" not in answer.headers
        rebound = options.get("headers", {}) | {"host": "evil.example", "origin": "http://evil.example"}
        answer = await house.http.request(method, path, **options | {"headers": rebound})
        assert is_error(answer, 421, "host_not_allowed")
        assert house.broker.last_commit == 1
        assert not len(house.broker.schedule)


@asynchronous
async def test_programs_and_the_own_page_are_let_in() -> None:
    async with indoors() as house:
        for number, headers in enumerate([{}, {"origin": "http://tidings.test"}, {"sec-fetch-site": "same-origin"}]):
            insert = {"update": f"INSERT DATA {{ <urn:a> <urn:p> {number} }}"}
            answer = await house.http.post("/update", data=insert, headers=headers)
            assert answer.status_code == 200, answer.text
        assert house.broker.last_commit == 3


def test_a_page_of_an_origin_of_the_settings_may_call() -> None:
    app = gate(cors=("http://mine.example",))
    asking = {"access-control-request-method": "POST", "access-control-request-headers": "content-type, authorization"}
    preflight = ask(app, "OPTIONS", "/update", headers={"origin": "http://mine.example"} | asking)
    assert preflight.status_code == 200
    assert preflight.headers["access-control-allow-origin"] == "http://mine.example"
    assert "POST" in preflight.headers["access-control-allow-methods"]
    for path in ("/query", "/nope"):
        mine = ask(app, "GET", path, params={"query": SELECT}, headers={"origin": "http://mine.example"})
        assert mine.headers["access-control-allow-origin"] == "http://mine.example"
        assert "Origin" in mine.headers["vary"]
        other = ask(app, "GET", path, params={"query": SELECT}, headers={"origin": "http://other.example"})
        assert is_error(other, 403, "origin_not_allowed")
        assert "access-control-allow-origin" not in other.headers


def test_all_origins_may_call_if_the_settings_say_so() -> None:
    app = gate(cors=("*",))
    answer = ask(app, "POST", "/update", data=DROP, headers={"origin": EVIL})
    assert answer.status_code == 200
    assert answer.headers["access-control-allow-origin"] == "*"


def test_health_is_told_by_whatever_name() -> None:
    answer = ask(gate(), "GET", "/healthz", headers={"host": "evil.example"})
    assert answer.status_code == 200


@asynchronous
async def test_every_answer_tells_browsers_to_be_careful() -> None:
    async with listening() as house:
        for path in ("/", "/query?query=ASK{}", "/healthz", "/nowhere", "/secure", "/query?query=nonsense"):
            answer = await house.http.get(path)
            assert answer.headers["x-content-type-options"] == "nosniff", path
            assert answer.headers["referrer-policy"] == "no-referrer"
            assert answer.headers["cross-origin-resource-policy"] == "same-origin"
            assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
            assert answer.headers["x-frame-options"] == "DENY"
            assert "origin" in answer.headers["vary"].lower()
        refused = await house.http.get("/status", headers={"origin": EVIL})
        assert refused.headers["x-content-type-options"] == "nosniff"


# -- WebSockets -------------------------------------------------------------------------------------------------


@asynchronous
@pytest.mark.parametrize(
    ("header", "value", "status", "code"),
    [
        ("Origin", EVIL, 403, "origin_not_allowed"),
        ("Origin", "null", 403, "origin_not_allowed"),
        ("Origin", "http://127.0.0.1:3000", 403, "origin_not_allowed"),
        ("Host", "evil.example", 421, "host_not_allowed"),
    ],
)
async def test_a_websocket_of_a_page_from_elsewhere_is_not_opened(
    header: str, value: str, status: int, code: str
) -> None:
    upgrade = {
        "connection": "upgrade", "upgrade": "websocket", "sec-websocket-version": "13",
        "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
    }  # fmt: skip
    async with serving() as house, httpx.AsyncClient() as client:
        answer = await client.get(f"http://127.0.0.1:{house.port}/subscribe", headers=upgrade | {header: value})
        assert is_error(answer, status, code)
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert not house.broker.sessions


@asynchronous
async def test_a_websocket_below_secure_is_not_there_without_security() -> None:
    async with serving() as house:
        with pytest.raises(WSHandshakeError) as refused:
            async with connected(house, "/secure/subscribe"):
                pass
        assert refused.value.raw_body
        assert "this broker runs without" in json.loads(refused.value.raw_body)["error_description"]
        async with connected(house) as client:
            await client.follow(ALL)
