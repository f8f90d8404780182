"""Who a client is, to a broker that asks: tokens are asked for, shown, renewed, and shown to nobody else."""

import asyncio
import json
import logging
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from gates.secured import POLICY, A, House, secured
from gates.wire import own_ports, serving
from tidings.client import Credentials, Endpoint, Token, connect
from tidings.client.errors import BadCredentials, CannotConnect, NotUnderstood, Refused
from tidings.client.http import AsyncHttpClient, HttpClient
from tidings.client.login.addresses import broker_of, host_of
from tidings.client.login.login import Login
from waiting import asynchronous, until

pytestmark = pytest.mark.server
QUERY = "SELECT ?o { GRAPH ?g { <s> <p> ?o } }"
BRIEF = POLICY.replace("seconds = 600", "seconds = 1")


def http_of(house: House) -> str:
    return str(house.http.base_url).rstrip("/")


async def member(house: House, name: str) -> Credentials:
    """A client that is registered, and knows where its tokens are."""
    return Credentials(name, await house.register(name), f"{http_of(house)}/oauth/token")


def logins(house: House, folder: Path) -> int:
    """How many tokens were given."""
    house.security.audit.write()
    lines = (folder / "audit.jsonl").read_text().splitlines()
    return sum((event["what"], event["decision"]) == ("token", "allowed") for event in map(json.loads, lines))


def ask(house: House, credentials: Credentials | Token) -> Any:
    with HttpClient(http_of(house), credentials=credentials) as calls:
        return calls.json("/query", "POST", form={"query": QUERY})


# -- values -----------------------------------------------------------------------------------------------------


def test_no_secret_is_in_what_is_printed() -> None:
    kept = (Credentials("lamp", "hush"), Token("hush"), Login(Credentials("lamp", "hush"), "http://broker"))
    assert not any("hush" in f"{each!r} {each}" for each in kept)


@pytest.mark.parametrize("text", ["", " ", "a b", "a\r\nb", "Bearer", "Bearer ", "é", "a\0"])
def test_what_cannot_be_a_token_is_refused_without_being_repeated(text: str) -> None:
    with pytest.raises(BadCredentials) as refused:
        Token(text)
    assert not text.strip() or text not in str(refused.value)


@pytest.mark.parametrize("text", ["abc.d-e_f", "Bearer abc.d-e_f", "bearer  abc.d-e_f\n"])
def test_a_token_comes_with_and_without_its_scheme(text: str) -> None:
    assert Token(text).header == "Bearer abc.d-e_f"


@pytest.mark.parametrize(
    ("url", "broker"),
    [
        ("http://localhost:8000", "http://localhost:8000"),
        ("http://ann:secret@localhost:8000/query", "http://localhost:8000"),
        ("https://host/secure/update", "https://host"),
        ("https://host/city/subscribe?x=1", "https://host/city"),
        ("ws://localhost:9000/subscribe", "http://localhost:8000"),
        ("wss://[::1]:9443/secure/subscribe", "https://[::1]:8443"),
        ("wss://host:8443/subscribe", "https://host:8443"),
        ("wss://host/subscribe", "https://host"),
    ],
)
def test_the_broker_of_an_address_is_known(url: str, broker: str) -> None:
    assert broker_of(url) == broker


def test_a_machine_is_another_if_the_way_to_it_is_not_encrypted() -> None:
    assert host_of("wss://host:9443/subscribe") == host_of("https://host:8443")
    assert host_of("ws://host:9443/subscribe") != host_of("https://host:8443")
    assert host_of("https://host.example:8443") != host_of("https://host:8443")


# -- over HTTP --------------------------------------------------------------------------------------------------


@asynchronous
async def test_a_client_asks_for_a_token_once_and_shows_it_in_every_request(tmp_path: Path) -> None:
    async with secured(tmp_path) as house:
        reader = await member(house, "reader")
        for _ in range(3):
            answer = await asyncio.to_thread(ask, house, reader)
            assert [row["o"]["value"] for row in answer["results"]["bindings"]] == ["in a"]
        async with Endpoint(f"{http_of(house)}/query", credentials=reader) as store:
            answers = await asyncio.gather(*(store.query(QUERY) for _ in range(40)))
        assert {len(each) for each in answers} == {1}
        assert logins(house, tmp_path) == 1


@asynchronous
async def test_requests_at_once_ask_for_one_token_together(tmp_path: Path) -> None:
    async with secured(tmp_path) as house:
        reader = await member(house, "reader")
        async with Endpoint(f"{http_of(house)}/query", credentials=reader) as store:
            await asyncio.gather(*(store.query(QUERY) for _ in range(40)))
        assert logins(house, tmp_path) == 1


@asynchronous
async def test_a_token_that_has_expired_is_renewed_once_and_the_request_repeated(tmp_path: Path) -> None:
    async with secured(tmp_path) as house:
        reader = await member(house, "reader")
        async with Endpoint(f"{http_of(house)}/query", credentials=reader) as store:
            assert len(await store.query(QUERY)) == 1
            house.clock.pass_by(630)
            assert [len(each) for each in await asyncio.gather(*(store.query(QUERY) for _ in range(20)))] == [1] * 20
            assert logins(house, tmp_path) == 2
            house.clock.pass_by(630)
            assert len((await asyncio.to_thread(ask, house, reader))["results"]["bindings"]) == 1
            assert logins(house, tmp_path) == 3
            await house.security.authority.credentials.remove("reader")
            with pytest.raises(Refused) as refused:
                await store.query(QUERY)
        assert (refused.value.code, refused.value.status) == ("invalid_client", 401)
        assert reader.secret not in f"{refused.value} {refused.value.details}"


@asynchronous
async def test_one_who_has_only_a_token_gets_no_other(tmp_path: Path) -> None:
    async with secured(tmp_path) as house:
        token = Token(await house.newcomer("reader"))
        assert len((await asyncio.to_thread(ask, house, token))["results"]["bindings"]) == 1
        house.clock.pass_by(630)
        with pytest.raises(Refused) as refused:
            await asyncio.to_thread(ask, house, token)
        assert (refused.value.code, refused.value.status) == ("invalid_grant", 401)
        assert token.text not in str(refused.value)


@asynchronous
async def test_what_one_may_not_do_is_no_reason_for_another_token(tmp_path: Path) -> None:
    async with secured(tmp_path) as house:
        reader = await member(house, "reader")
        url = http_of(house)
        async with Endpoint(f"{url}/query", f"{url}/update", credentials=reader) as store:
            with pytest.raises(Refused) as refused:
                await store.update("CLEAR ALL")
        assert refused.value.status == 403
        assert logins(house, tmp_path) == 1


@asynchronous
async def test_nobody_writes_secrets_into_a_log(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(1)
    for name in ("httpx", "httpcore", "picows", "tidings", "asyncio"):
        logging.getLogger(name).setLevel(1)
    try:
        async with secured(tmp_path) as house:
            listener = await member(house, "listener")
            caplog.clear()
            async with connect(house.ws, credentials=listener) as client:
                await (await client.subscribe(QUERY)).unsubscribe()
            async with Endpoint(f"{http_of(house)}/query", credentials=listener) as store:
                await store.query(QUERY)
    finally:
        for name in ("httpx", "httpcore", "picows", "tidings", "asyncio"):
            logging.getLogger(name).setLevel(logging.NOTSET)
    said = [record.getMessage() for record in caplog.records if not record.name.startswith("picows.server")]
    assert any("/oauth/token" in line for line in said)
    assert not any(listener.secret in line or "eyJ" in line for line in said)  # as every token begins


# -- nobody else ------------------------------------------------------------------------------------------------


@asynccontextmanager
async def stranger(answer: bytes) -> AsyncIterator[tuple[str, list[str]]]:
    """Somebody who answers everything in the same way, by address, and what they were asked."""
    heard: list[str] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append((await reader.readuntil(b"\r\n\r\n")).decode())
        writer.write(answer)
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}", heard


def response(status: str, *headers: str, body: bytes = b"") -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


@asynchronous
async def test_a_token_is_for_the_broker_and_for_nobody_whom_it_names(tmp_path: Path) -> None:
    async with (
        secured(tmp_path) as house,
        stranger(response("200 OK", body=b"{}")) as (elsewhere, heard),
        stranger(response("307 Temporary Redirect", f"Location: http://{elsewhere}/query")) as (broker, asked),
    ):
        reader = await member(house, "reader")
        async with Endpoint(f"http://{broker}/query", credentials=reader) as store:
            with pytest.raises(Refused):
                await store.query(QUERY)
        assert "authorization: bearer" in asked[-1].lower()
        assert heard == []
        async with AsyncHttpClient(broker=http_of(house), credentials=reader) as client:
            await client.json(f"http://{elsewhere}/anything")
        assert "authorization" not in heard[-1].lower()


@asynchronous
async def test_a_socket_that_is_led_elsewhere_shows_nothing_there(tmp_path: Path) -> None:
    async with (
        secured(tmp_path) as house,
        stranger(response("404 Not Found")) as (elsewhere, heard),
        stranger(response("307 Temporary Redirect", f"Location: ws://{elsewhere}/subscribe")) as (broker, asked),
    ):
        reader = await member(house, "reader")
        with pytest.raises(CannotConnect) as failure:
            async with connect(f"ws://{broker}/subscribe", credentials=reader):
                pass
        assert "authorization: bearer" in asked[-1].lower()
        assert heard == []
        assert "eyJ" not in str(failure.value)


@asynchronous
async def test_a_broker_that_takes_subscriptions_on_another_machine_is_told_nothing(tmp_path: Path) -> None:
    body = b"<http://b/> <http://www.w3.org/ns/sparql-service-description#endpoint> <ws://evil.example/subscribe> ."
    async with secured(tmp_path) as house, stranger(response("200 OK", body=body)) as (broker, asked):
        with pytest.raises(CannotConnect, match=r"evil\.example"):
            async with connect(f"http://{broker}", credentials=await member(house, "reader")):
                pass
        assert "authorization" not in asked[-1].lower()


@asynchronous
async def test_where_no_tokens_are_given_the_client_says_so(tmp_path: Path) -> None:
    async with secured(tmp_path) as house:
        secret = await house.register("reader")
        with pytest.raises(NotUnderstood, match="gives no tokens"):
            async with connect(house.ws, credentials=Credentials("reader", secret)):  # where only sockets are
                pass


# -- on a socket ------------------------------------------------------------------------------------------------


@asynchronous
async def test_a_socket_is_of_whoever_opened_it(tmp_path: Path) -> None:
    async with secured(tmp_path) as house:
        listener, boss = await member(house, "listener"), await member(house, "boss")
        async with connect(house.ws, credentials=listener) as client, connect(house.ws, credentials=boss) as master:
            live = await client.subscribe(QUERY)
            assert live.values() == [{"o": "in a"}]
            with pytest.raises(Refused) as refused:
                await client.update("CLEAR ALL")
            assert refused.value.status == 403
            await master.update(f'INSERT DATA {{ GRAPH <{A}> {{ <s> <p> "more" }} }}')
            await until(lambda: len(live) == 2)
        async with connect(house.ws) as nobody:
            with pytest.raises(Refused) as refused:
                await nobody.query(QUERY)
        assert (refused.value.code, refused.value.status) == ("invalid_request", 401)


@asynchronous
async def test_a_socket_whose_token_has_expired_shows_another_and_asks_again(tmp_path: Path) -> None:
    async with secured(tmp_path, token_grace=60.0) as house:
        listener = await member(house, "listener")
        async with connect(house.ws, credentials=listener) as client:
            live = await client.subscribe(QUERY)
            house.clock.pass_by(630)
            answers = await asyncio.gather(*(client.query(QUERY) for _ in range(10)))
            assert {len(each) for each in answers} == {1}
            assert len(await client.subscribe(QUERY)) == 1
            assert logins(house, tmp_path) == 2
            house.clock.pass_by(61)
            await house.security.guard.presences.look()
            await house.broker.update(f'INSERT DATA {{ GRAPH <{A}> {{ <s> <p> "more" }} }}')
            await until(lambda: len(live) == 2)


@asynchronous
async def test_one_who_only_listens_shows_a_new_token_before_the_old_one_expires(tmp_path: Path) -> None:
    async with secured(tmp_path, BRIEF, token_grace=60.0) as house:
        listener = await member(house, "listener")
        async with connect(house.ws, credentials=listener) as client:
            live = await client.subscribe(QUERY)
            house.clock.pass_by(30)  # the grace is not over
            asked = house.broker.status().queries_done
            await until(lambda: house.broker.status().queries_done > asked)  # which is how the next token is shown
            house.clock.pass_by(40)  # for the first token, it is now
            await house.security.guard.presences.look()
            await house.broker.update(f'INSERT DATA {{ GRAPH <{A}> {{ <s> <p> "more" }} }}')
            await until(lambda: len(live) == 2)


@asynchronous
async def test_a_connection_that_is_mended_shows_who_it_is_again(tmp_path: Path) -> None:
    ports = own_ports()
    with serving(tmp_path, "--secure", *ports) as first:
        secret = (tmp_path / "tidings-data" / "admin.secret").read_text().strip()
        admin = Credentials("admin", secret, f"{first.http}/oauth/token")
        client = await connect(first.http, credentials=admin).__aenter__()
        live = await client.subscribe("SELECT ?o { <s> <p> ?o }")
        await client.update("INSERT DATA { <s> <p> 1 }")
        first.stop(signal.SIGKILL)
    with serving(tmp_path, "--secure", program=("-m", "tidings", "serve", *ports)):
        assert len(await client.query("SELECT ?o { <s> <p> ?o }")) == 1
        await client.update("INSERT DATA { <s> <p> 2 }")
        await until(lambda: len(live) == 2)
        assert client.reconnections == 1
        await client.close()
