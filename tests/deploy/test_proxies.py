"""A broker behind nginx and behind Caddy: TLS, passwords, updates, WebSockets and streams, all by one host name."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import httpx
import pytest

from deploy.places import DEPLOY, seconds, until
from deploy.proxies import COMMANDS, KEY, NAME, PASSWORD, Proxy, before, check, nginx_with_certificates
from gates.wire import Broker
from tidings.client import Trust, connect
from tidings.client.errors import CannotConnect
from tidings.server.config import Settings
from waiting import PATIENCE, asynchronous

pytestmark = pytest.mark.server
PATIENT = 6 * PATIENCE
"""Seconds: a password for Caddy takes one to check, and longer on a busy machine."""
FRESH = count(1)
WEBSOCKET = {
    "Connection": "Upgrade", "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}  # fmt: skip


@pytest.fixture(scope="module", params=sorted(COMMANDS))
def proxy(request: pytest.FixtureRequest, broker: Broker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    with before(broker, COMMANDS[request.param], tmp_path_factory.mktemp(request.param)) as running:
        yield running


@pytest.fixture
def inside(proxy: Proxy) -> Iterator[httpx.Client]:
    """Somebody who knows the password."""
    with httpx.Client(base_url=proxy.url, verify=proxy.trust, auth=(NAME, PASSWORD), timeout=PATIENT) as client:
        yield client


@pytest.fixture
def outside(proxy: Proxy) -> Iterator[httpx.Client]:
    """Somebody who does not."""
    with httpx.Client(base_url=proxy.url, verify=proxy.trust, timeout=PATIENT) as client:
        yield client


def insert(subject: str) -> str:
    return f"INSERT DATA {{ <{subject}> <http://e/p> 1 }}"


def following(subject: str) -> str:
    return f"SELECT ?o WHERE {{ <{subject}> <http://e/p> ?o }}"


@pytest.fixture
def subject() -> str:
    """Something that nothing has been said of yet."""
    return f"http://e/{os.getpid()}/{next(FRESH)}"


# -- the configurations -----------------------------------------------------------------------------------------


QUIRKS = {
    "nginx": ("16m;", "16x;", "client_max_body_size"),
    "caddy": ("reverse_proxy", "backward_proxy", "backward_proxy"),
}
"""How to break a configuration, and what is said of it then."""


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_the_proxy_takes_its_configuration_and_would_not_take_just_any(
    name: str, broker: Broker, tmp_path: Path
) -> None:
    command = COMMANDS[name](tmp_path, broker, 8443, 8080)
    taken = check(command)
    assert taken.returncode == 0, taken.stderr
    said = [line for line in taken.stderr.splitlines() if "OCSP" not in line]  # of which the certificate has none
    assert not [line for line in said if "warn" in line]
    site = tmp_path / ("tidings.conf" if name == "nginx" else "Caddyfile")
    right, wrong, complaint = QUIRKS[name]
    site.write_text(site.read_text().replace(right, wrong))
    refused = check(command)
    assert refused.returncode == 1
    assert complaint in refused.stderr


def test_nginx_takes_bodies_as_long_as_the_broker_does_and_waits_longer_than_it() -> None:
    text = (DEPLOY / "nginx" / "tidings.conf").read_text()
    assert f"client_max_body_size {Settings().max_body >> 20}m;" in text
    waits = [
        seconds(line.split()[1].rstrip(";"))
        for line in text.splitlines()
        if "proxy_read_timeout" in line and "1h" not in line
    ]
    assert waits
    assert all(wait > 2 * Settings().timeout for wait in waits)


# -- the way in -------------------------------------------------------------------------------------------------


def test_an_update_and_a_query_pass_through(inside: httpx.Client, subject: str) -> None:
    done = inside.post("/update", data={"update": insert(subject)})
    assert done.json()["response"]["added"] == 1
    answer = inside.post("/sparql", data={"query": following(subject)})
    assert [row["o"]["value"] for row in answer.json()["results"]["bindings"]] == ["1"]


def test_the_description_names_the_addresses_of_the_proxy_whatever_the_client_says_of_itself(
    inside: httpx.Client, proxy: Proxy
) -> None:
    claims = {"X-Forwarded-Host": "evil.example", "X-Forwarded-For": "1.1.1.1", "Forwarded": "host=evil.example"}
    for headers in ({}, claims):
        said = inside.get("/", headers={"accept": "application/n-triples"} | headers).text
        assert f"<https://localhost:{proxy.port}/sparql>" in said
        assert f"<wss://localhost:{proxy.port}/subscribe>" in said


@asynchronous
async def test_the_http_address_of_the_proxy_leads_to_subscriptions(proxy: Proxy, subject: str) -> None:
    address = proxy.url.replace("://", f"://{NAME}:{PASSWORD}@")
    async with (
        connect(address, timeout=PATIENT, trust=Trust(ca=proxy.certificate)) as client,
        await client.subscribe(following(subject)) as subscription,
    ):
        assert (await asyncio.wait_for(anext(subscription), PATIENCE)).sequence == 0


@asynchronous
async def test_a_subscription_over_a_websocket_is_told_through_the_proxy(
    proxy: Proxy, subject: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(proxy.certificate))
    async with connect(proxy.ws) as client, await client.subscribe(following(subject)) as subscription:
        first = await asyncio.wait_for(anext(subscription), PATIENCE)
        assert (first.sequence, list(first.added)) == (0, [])
        await client.update(insert(subject))
        change = await asyncio.wait_for(anext(subscription), PATIENCE)
        assert (change.sequence, len(change.added), len(change.removed)) == (1, 1, 0)


def test_an_event_stream_is_told_through_the_proxy_at_once(inside: httpx.Client, subject: str) -> None:
    with inside.stream("GET", "/subscribe", params={"query": following(subject)}) as stream:
        events = (json.loads(line[5:])["notification"] for line in stream.iter_lines() if line.startswith("data:"))
        assert next(events)["sequence"] == 0
        inside.post("/update", data={"update": insert(subject)})
        told = next(events)
        assert told["sequence"] == 1
        assert len(told["addedResults"]["results"]["bindings"]) == 1


def test_the_broker_hears_of_a_client_that_leaves(inside: httpx.Client, broker: Broker, subject: str) -> None:
    def sessions() -> int:
        return int(httpx.get(f"{broker.http}/status", timeout=PATIENT).json()["sessions"])

    with inside.stream("GET", "/subscribe", params={"query": following(subject)}) as stream:
        lines = stream.iter_lines()
        assert next(lines)
        assert sessions() > 0
    until(lambda: sessions() == 0, "the end of all sessions")


def test_the_feed_of_commits_is_followed_through_the_proxy(inside: httpx.Client, subject: str) -> None:
    begun = inside.post("/update", data={"update": insert(subject)}).json()["response"]["sequence"]
    with inside.stream("GET", "/log", params={"from": begun, "follow": "true"}) as stream:
        commits = (json.loads(line) for line in stream.iter_lines() if line)
        assert next(commits)["s"] == f"<{subject}>"
        inside.post("/update", data={"update": insert(f"{subject}/more")})
        assert next(commits)["s"] == f"<{subject}/more>"


@pytest.mark.parametrize("proxy", ["nginx"], indirect=True)
def test_the_command_line_passes_through_with_the_password_in_its_environment(
    proxy: Proxy, inside: httpx.Client, subject: str
) -> None:
    inside.post("/update", data={"update": insert(subject)})
    places = {
        "TIDINGS_HTTP": proxy.url.replace("://", f"://{NAME}:{PASSWORD}@"),
        "SSL_CERT_FILE": str(proxy.certificate),
    }
    done = subprocess.run(
        [sys.executable, "-m", "tidings", "query", "--format", "csv", following(subject)],
        env=os.environ | places, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("o\n1\n", "")


def test_who_comes_without_tls_is_sent_where_it_is_spoken(proxy: Proxy) -> None:
    answer = httpx.get(f"http://localhost:{proxy.plain_port}/query?query=ASK%7B%7D", timeout=PATIENT)
    assert answer.status_code in {301, 308}
    assert answer.headers["location"].startswith("https://localhost")


# -- who stays outside ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("headers", [{}, WEBSOCKET], ids=["http", "websocket"])
def test_nobody_gets_in_without_the_password(outside: httpx.Client, headers: dict[str, str]) -> None:
    for path in ("/", "/query?query=ASK%7B%7D", "/sparql", "/subscribe", "/log", "/status"):
        for address in (path, f"/secure{path}"):
            assert outside.get(address, headers=headers).status_code == 401, address
    assert outside.get("/subscribe", headers=headers, auth=(NAME, "guessed")).status_code == 401


@asynchronous
async def test_the_client_says_that_it_was_not_let_in(proxy: Proxy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(proxy.certificate))
    with pytest.raises(CannotConnect, match="401"):
        async with connect(proxy.ws.replace(f"{NAME}:{PASSWORD}@", "")):
            pass


def test_nginx_can_ask_for_certificates_instead_of_passwords(broker: Broker, tmp_path: Path) -> None:
    with before(broker, nginx_with_certificates, tmp_path) as proxy:
        assert httpx.get(f"{proxy.url}/status", verify=proxy.trust, timeout=PATIENT).status_code == 400
        known = proxy.trust
        known.load_cert_chain(proxy.certificate, tmp_path / KEY)
        assert httpx.get(f"{proxy.url}/status", verify=known, timeout=PATIENT).status_code == 200


def test_pages_from_elsewhere_cannot_use_a_password_that_the_browser_remembers(
    inside: httpx.Client, proxy: Proxy
) -> None:
    for origin in ("https://evil.example", "null", f"http://localhost:{proxy.port}", "https://localhost.evil.example"):
        for headers in ({"Origin": origin}, {"Origin": origin} | WEBSOCKET):
            assert inside.get("/subscribe", headers=headers).status_code == 403, (origin, headers)
        assert inside.post("/update", data={"update": "CLEAR ALL"}, headers={"Origin": origin}).status_code == 403
    own = inside.get("/query", params={"query": "ASK {}"}, headers={"Origin": proxy.url})
    assert own.json()["boolean"] is True


def test_metrics_are_for_those_who_ask_the_broker_itself(inside: httpx.Client, proxy: Proxy, broker: Broker) -> None:
    for path in ("/metrics", "/secure/metrics", "//metrics", "/%6detrics", "/x/../metrics"):
        answer = inside.get(f"{proxy.url}{path}")
        assert answer.status_code == 404, path
        assert "tidings_" not in answer.text
    assert httpx.get(f"{broker.http}/metrics", timeout=PATIENT).status_code == 200


def test_a_load_balancer_may_ask_for_health_and_nothing_below_it(outside: httpx.Client) -> None:
    assert outside.get("/healthz").json()["status"] == "ok"
    assert outside.get("/healthz", headers=WEBSOCKET).status_code != 101
    assert outside.get("/healthz/x").status_code in {401, 404}


def test_browsers_are_told_to_come_with_tls_only(inside: httpx.Client) -> None:
    assert inside.get("/healthz").headers["strict-transport-security"] == "max-age=31536000"
