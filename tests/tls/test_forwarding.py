"""What proxies say of their clients: believed if they are trusted, and no further than they can know."""

import asyncio
import json
from typing import Any

import pytest

from gates.client import connected
from gates.sockets import asynchronous
from plain import async_client
from tidings.gates.errors import BadForwarding
from tidings.gates.forwarding import Hop, Proxies
from tidings.server.config import BadSetting, read_settings
from tls.house import House, serving
from tls.test_one_port import Place
from waiting import PATIENCE

PROXIES = Proxies(("127.0.0.1", "10.0.0.0/8", "2001:db8::/32"))
OURS = "10.0.0.1"
CLIENT = "192.0.2.7"


def origin(*headers: tuple[str, str], peer: str = OURS) -> Hop | None:
    return PROXIES.origin(peer, headers)


# -- who is believed --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("header", [("X-Forwarded-For", CLIENT), ("Forwarded", f"for={CLIENT}")])
def test_only_trusted_proxies_are_believed(header: tuple[str, str]) -> None:
    assert origin(header) == Hop(CLIENT)
    assert origin(header, peer="::ffff:10.0.0.1") == Hop(CLIENT)  # as a socket for both versions tells it
    assert origin(header, peer="2001:db8::9") == Hop(CLIENT)
    for stranger in ("192.0.2.1", "11.0.0.1", "::1", "", "nonsense"):
        assert origin(header, peer=stranger) is None
    assert Proxies(()).origin("127.0.0.1", [header]) is None


def test_a_proxy_that_says_nothing_stands_for_itself() -> None:
    assert origin() is None
    assert origin(("X-Forwarded-Proto", "https")) is None


def test_what_the_client_wrote_before_its_proxy_does_not_count() -> None:
    assert origin(("X-Forwarded-For", f"1.1.1.1, {CLIENT}")) == Hop(CLIENT)
    assert origin(("X-Forwarded-For", "1.1.1.1"), ("X-Forwarded-For", CLIENT)) == Hop(CLIENT)
    assert origin(("X-Forwarded-For", f"nonsense<>, {CLIENT}")) == Hop(CLIENT)
    assert origin(("Forwarded", f'for=1.1.1.1;host=evil.example;proto=http, for="{CLIENT}:99"')) == Hop(CLIENT)
    assert origin(("Forwarded", f"%%%;;, for={CLIENT}")) == Hop(CLIENT)


def test_several_trusted_proxies_are_gone_through_to_the_outermost() -> None:
    assert origin(("X-Forwarded-For", f"1.1.1.1, {CLIENT}, 10.9.9.9, 10.8.8.8")) == Hop(CLIENT)
    said = f"for=1.1.1.1, for={CLIENT};proto=https;host=city.example, for=10.9.9.9;proto=http;host=inner"
    assert origin(("Forwarded", said)) == Hop(CLIENT, True, "city.example")
    lists = (("X-Forwarded-Proto", "https, http"), ("X-Forwarded-Host", "city.example, inner"))
    assert origin(("X-Forwarded-For", f"{CLIENT}, 10.9.9.9"), *lists) == Hop(CLIENT, True, "city.example")
    assert origin(("X-Forwarded-For", "10.9.9.9, 10.8.8.8")) == Hop("10.9.9.9")


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (f'For="{CLIENT}";Proto=HTTPS;Host="city.example:444"', Hop(CLIENT, True, "city.example:444")),
        ('for="[2001:dead::7]:4711"', Hop("2001:dead::7")),
        ("for=_hidden", Hop("_hidden")),
        ("for=unknown;proto=http", Hop("unknown", False)),
        (f"for={CLIENT};host=[::1]", Hop(CLIENT, None, "[::1]")),
        (f'by=10.0.0.1;for={CLIENT};host="ci\\ty.example"', Hop(CLIENT, None, "city.example")),
    ],
)
def test_the_standard_header(said: str, expected: Hop) -> None:
    assert origin(("forwarded", said)) == expected


@pytest.mark.parametrize(
    "headers",
    [
        [("Forwarded", f"for={CLIENT}"), ("X-Forwarded-For", "1.1.1.1")],
        [("Forwarded", f"for={CLIENT}"), ("X-Forwarded-Host", "evil.example")],
        [("Forwarded", "for=<script>")],
        [("Forwarded", "nonsense")],
        [("X-Forwarded-For", "nonsense")],
        [("X-Forwarded-For", CLIENT), ("X-Forwarded-Host", "evil.example/path")],
        [("X-Forwarded-For", CLIENT), ("X-Forwarded-Host", 'a">b')],
        [("X-Forwarded-For", f"{CLIENT}," * 1000)],
    ],
)
def test_what_makes_no_sense_is_refused_rather_than_guessed(headers: list[tuple[str, str]]) -> None:
    with pytest.raises(BadForwarding):
        origin(*headers)


def test_proxies_are_addresses_and_networks() -> None:
    given = read_settings({"trusted_proxies": "127.0.0.1, 10.0.0.0/8"}, {}).trusted_proxies
    assert given == ("127.0.0.1/32", "10.0.0.0/8")
    for wrong in ("localhost", "10.0.0.1/8", "300.0.0.1"):
        with pytest.raises(BadSetting, match="trusted-proxies"):
            read_settings({"trusted_proxies": wrong}, {})


# -- over real sockets ------------------------------------------------------------------------------------------

FORWARDED = {"X-Forwarded-For": CLIENT, "X-Forwarded-Proto": "https", "X-Forwarded-Host": "city.example"}


async def description(house: House, **headers: str) -> str:
    async with async_client(base_url=house.http) as http:
        return (await http.get("/", headers=headers | {"accept": "application/n-triples"})).text


@asynchronous
async def test_the_description_names_the_addresses_of_a_trusted_proxy() -> None:
    known = {"trusted_proxies": ("127.0.0.1/32",), "allowed_hosts": ("city.example",)}
    async with serving(**known) as house:
        said = await description(house, **FORWARDED)
        assert "<https://city.example/sparql>" in said
        assert "<wss://city.example/subscribe>" in said
        assert "<https://city.example/subscribe>" in said
        odd = await description(house, Forwarded=f'for={CLIENT};proto=http;host="city.example:8080"')
        assert "<ws://city.example:8080/subscribe>" in odd
        assert f"<{house.ws}>" in await description(house)


@asynchronous
async def test_the_description_does_not_believe_anybody_else() -> None:
    for trusted in ((), ("10.0.0.0/8",)):
        async with serving(trusted_proxies=trusted) as house:
            said = await description(house, **FORWARDED)
            assert "city.example" not in said
            assert f"<{house.ws}>" in said


@asynchronous
async def test_requests_know_the_client_behind_the_proxy() -> None:
    from tidings.gates.http.forwarded import Forwarded

    seen: list[Any] = []

    async def note(scope: Any, receive: Any, send: Any) -> None:
        seen.append((scope["client"][0], scope["scheme"], dict(scope["headers"])[b"host"]))
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    for proxies, expected in (
        (Proxies(("127.0.0.1",)), (CLIENT, "https", b"city.example")),
        (Proxies(("10.0.0.0/8",)), ("127.0.0.1", "http", None)),
    ):
        async with serving(Forwarded(note, proxies)) as house:
            async with async_client(base_url=house.http) as http:
                assert (await http.get("/", headers=FORWARDED)).status_code == 204
            host = expected[2] or house.http.removeprefix("http://").encode()
            assert seen.pop() == (*expected[:2], host)


@asynchronous
async def test_a_request_whose_proxy_contradicts_itself_is_refused() -> None:
    async with serving(trusted_proxies=("127.0.0.1/32",)) as house:
        async with async_client(base_url=house.http) as http:
            answer = await http.get("/query?query=ASK%7B%7D", headers=FORWARDED | {"Forwarded": "for=1.1.1.1"})
        assert (answer.status_code, answer.json()["error"]) == (400, "bad_forwarding")


@asynchronous
@pytest.mark.parametrize("door", ["http", "ws"])
async def test_websockets_know_the_client_behind_the_proxy(door: str) -> None:
    async with serving(trusted_proxies=("127.0.0.1/32",)) as house:
        place = Place(house.ws if door == "ws" else house.http.replace("http", "ws") + "/subscribe")
        async with connected(place, extra_headers=FORWARDED) as client:
            await client.quiet()
            (connection,) = house.gate.connections
            assert connection.peer.address == CLIENT
        async with connected(place, extra_headers=FORWARDED | {"Forwarded": "for=1.1.1.1"}) as client:
            assert await asyncio.wait_for(client.inbox.end(), PATIENCE) == 1008
            assert "both" in client.inbox.reason
    async with serving() as house, connected(house, extra_headers=FORWARDED) as client:
        await client.quiet()
        (connection,) = house.gate.connections
        assert connection.peer.address == "127.0.0.1"


def test_the_headers_of_a_proxy_are_no_way_to_fail() -> None:
    """Whatever comes is understood or refused."""
    for text in ('"', ";", "for=", 'for="', "for=[", "=", ",,,", json.dumps({"a": 1}), "for=1.2.3.4;;;", "\x00"):
        for name in ("Forwarded", "X-Forwarded-For"):
            try:
                found = origin((name, text))
            except BadForwarding:
                continue
            assert found is None or found.client
