"""HTTP and WebSocket over TLS: who is let in, who is not, and certificates that change meanwhile."""

import asyncio
import logging
import re
import ssl
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from cryptography.x509 import load_pem_x509_certificate

from gates.client import Client, connected
from gates.sockets import ALL, asynchronous
from tidings.client import CannotConnect, CannotTrust, Trust, connect
from tidings.client.http import HttpClient
from tidings.server.config import BadSetting, Settings, read_settings
from tidings.server.listening import plain_host
from tidings.server.tls import TlsUnusable, read_tls
from tls.house import Certificates, House, plain_socket, said_in_plain, serving, shown_at
from waiting import PATIENCE, until


@dataclass(frozen=True)
class Place:
    ws: str


def client(house: House, context: ssl.SSLContext) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=house.https, verify=context, timeout=PATIENCE)


# -- the way in -------------------------------------------------------------------------------------------------


@asynchronous
async def test_queries_and_updates_over_tls(certificates: Certificates) -> None:
    async with serving(**certificates.settings) as house, client(house, certificates.context) as http:
        done = await http.post("/update", data={"update": "INSERT DATA { <s> <p> 1 }"})
        assert done.json()["response"]["added"] == 1
        answer = await http.post("/query", data={"query": "ASK { ?s ?p 1 }"})
        assert answer.json()["boolean"] is True


@asynchronous
async def test_the_metrics_say_when_the_certificate_expires(own: Certificates) -> None:
    async with serving(**own.settings) as house, client(house, own.context) as http:
        for days in (30, 60):
            own.replace(days=days)
            (line,) = re.findall(r"^tidings_certificate_expires_seconds (.*)", (await http.get("/metrics")).text, re.M)
            ends = load_pem_x509_certificate(own.server.certificate.read_bytes()).not_valid_after_utc
            assert float(line) == ends.timestamp()
        own.server.certificate.write_text("nothing")
        assert "certificate" not in (await http.get("/metrics")).text


@asynchronous
@pytest.mark.parametrize("door", ["wss", "https"])
async def test_a_subscription_over_tls_at_either_port(certificates: Certificates, door: str) -> None:
    async with serving(**certificates.settings) as house:
        port = house.wss_port if door == "wss" else house.https_port
        address = f"wss://localhost:{port}/subscribe"
        async with connect(address, trust=certificates.trust) as broker, await broker.subscribe(ALL) as lamps:
            assert list((await asyncio.wait_for(anext(lamps), PATIENCE)).added) == []
            await broker.update("INSERT DATA { <s> <p> 1 }")
            assert len((await asyncio.wait_for(anext(lamps), PATIENCE)).added) == 1


@asynchronous
async def test_the_address_for_subscriptions_is_learnt_over_tls(certificates: Certificates) -> None:
    async with serving(**certificates.settings) as house:
        async with connect(house.https, trust=certificates.trust) as broker:
            await broker.update("INSERT DATA { <s> <p> 1 }")
        async with client(house, certificates.context) as http:
            described = (await http.get("/", headers={"accept": "application/n-triples"})).text
        assert f"<{house.wss}>" in described
        assert f"<{house.https}/sparql>" in described


@asynchronous
async def test_tls_1_3_is_preferred_and_1_2_is_good_only_with_forward_secrecy(certificates: Certificates) -> None:
    async with serving(**certificates.settings) as house:
        for port in (house.https_port, house.wss_port):
            assert (await agreed(port, certificates.context))[0] == "TLSv1.3"
            older = certificates.context
            older.maximum_version = ssl.TLSVersion.TLSv1_2
            version, cipher = await agreed(port, older)
            assert version == "TLSv1.2"
            assert cipher.startswith("ECDHE-")
            assert cipher.endswith(("GCM-SHA256", "GCM-SHA384", "POLY1305"))
            weak = certificates.context
            weak.maximum_version = ssl.TLSVersion.TLSv1_2
            weak.set_ciphers("ECDHE-ECDSA-AES128-SHA:@SECLEVEL=0")
            assert await is_refused(port, weak)


async def agreed(port: int, context: ssl.SSLContext) -> tuple[str, str]:
    """Version and cipher."""

    def shake_hands() -> tuple[str, str]:
        with plain_socket(port) as plain, context.wrap_socket(plain, server_hostname="localhost") as tls:
            version, cipher = tls.version(), tls.cipher()
            assert tls.compression() is None
            assert version
            assert cipher
            return version, cipher[0]

    return await asyncio.to_thread(shake_hands)


async def is_refused(port: int, context: ssl.SSLContext) -> bool:
    """Whether the broker ends a handshake: by an alert, or without a word. What a client gives up itself is raised."""
    try:
        await agreed(port, context)
    except (ConnectionResetError, ssl.SSLEOFError):
        return True
    except ssl.SSLError as error:
        if "ALERT" not in (error.reason or ""):
            raise
        return True
    return False


# -- who is not let in ------------------------------------------------------------------------------------------


@asynchronous
@pytest.mark.parametrize("version", ["TLSv1", "TLSv1_1"])
@pytest.mark.filterwarnings("ignore:ssl.TLSVersion:DeprecationWarning")
async def test_old_versions_of_tls_are_refused_by_the_broker(certificates: Certificates, version: str) -> None:
    async with serving(**certificates.settings) as house:
        for port in (house.https_port, house.wss_port):
            old = certificates.context
            old.set_ciphers("ALL:@SECLEVEL=0")  # with which OpenSSL would speak it
            old.minimum_version = old.maximum_version = ssl.TLSVersion[version]
            assert await is_refused(port, old)


@asynchronous
async def test_plain_speech_at_a_port_with_tls_is_hung_up_on(certificates: Certificates) -> None:
    async with serving(**certificates.settings) as house:
        for port in (house.https_port, house.wss_port):
            said = await said_in_plain(port, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert b"HTTP/1.1 200" not in said
        async with client(house, certificates.context) as http:
            assert (await http.get("/healthz")).status_code == 200


@asynchronous
async def test_a_client_refuses_a_broker_of_another_authority(
    certificates: Certificates, foreign: Certificates
) -> None:
    async with serving(**certificates.settings) as house:
        for address in (house.wss, house.https):
            with pytest.raises(CannotConnect, match="certificate"):
                async with connect(address, trust=foreign.trust):
                    pass
            with pytest.raises(CannotConnect, match="certificate"):
                async with connect(address):
                    pass
        async with connect(house.wss, trust=Trust(verify=False)) as broker:
            assert broker.connected


@asynchronous
async def test_a_client_refuses_an_expired_certificate(own: Certificates) -> None:
    own.replace(begun=20, days=-10)
    async with serving(**own.settings) as house:
        for address in (house.wss, house.https):
            with pytest.raises(CannotConnect, match="expired"):
                async with connect(address, trust=own.trust):
                    pass


def test_files_that_a_client_cannot_use_are_named_as_such(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("nonsense")
    for file in ("ca.pem", "nowhere.pem"):
        with pytest.raises(CannotTrust), HttpClient("https://localhost:1", trust=Trust(ca=tmp_path / file)):
            pass


# -- certificates of clients ------------------------------------------------------------------------------------


def echo(seen: list[Any]) -> Any:
    """An application that notes who asked."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append((scope.get("extensions"), scope["client"][0]))
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    return app


@asynchronous
async def test_a_client_with_the_right_certificate_is_known_by_its_subject(certificates: Certificates) -> None:
    seen: list[Any] = []
    asked = certificates.settings | {"tls_client_ca": str(certificates.ca)}
    async with serving(echo(seen), **asked) as house, client(house, certificates.showing()) as http:
        assert (await http.get("/")).status_code == 204
        assert seen == [({"tls": {"client_cert_name": "CN=lamp-7"}}, "127.0.0.1")]
        for address in (house.wss, house.https.replace("https", "wss") + "/subscribe"):
            async with opened(address, certificates.showing()) as socket_:
                await socket_.quiet()
                (connection,) = house.gate.connections
                assert (connection.peer.subject, connection.peer.address) == ("CN=lamp-7", "127.0.0.1")
            await until(lambda: not house.gate.connections)


def opened(address: str, context: ssl.SSLContext) -> Any:
    return connected(Place(address), ssl_context=context)


@asynchronous
async def test_without_a_certificate_or_with_a_foreign_one_nobody_gets_in(
    certificates: Certificates, foreign: Certificates
) -> None:
    asked = certificates.settings | {"tls_client_ca": str(certificates.ca)}
    async with serving(**asked) as house:
        for context in (certificates.context, certificates.showing(foreign)):
            async with client(house, context) as http:
                with pytest.raises((httpx.ReadError, httpx.ConnectError, httpx.RemoteProtocolError)):
                    await http.get("/healthz")
            reader, writer = await asyncio.open_connection("127.0.0.1", house.wss_port, ssl=context)
            writer.write(b"GET /nowhere HTTP/1.1\r\n\r\n")
            said = b""
            with suppress(ssl.SSLError, ConnectionResetError):
                said = await asyncio.wait_for(reader.read(), PATIENCE)
            writer.close()
            assert said == b""
        async with connect(
            house.https, trust=Trust(certificates.ca, True, certificates.client.certificate, certificates.client.key)
        ) as broker:
            assert broker.connected


@asynchronous
async def test_where_certificates_of_clients_are_optional_a_foreign_one_is_still_refused(
    certificates: Certificates, foreign: Certificates
) -> None:
    seen: list[Any] = []
    asked = certificates.settings | {"tls_client_ca": str(certificates.ca), "tls_client": "optional"}
    async with serving(echo(seen), **asked) as house:
        async with client(house, certificates.context) as http:
            assert (await http.get("/")).status_code == 204
        assert seen == [({"tls": {"client_cert_name": None}}, "127.0.0.1")]
        async with client(house, certificates.showing(foreign)) as http:
            with pytest.raises((httpx.ReadError, httpx.ConnectError, httpx.RemoteProtocolError)):
                await http.get("/")
        assert len(seen) == 1


# -- other certificates -----------------------------------------------------------------------------------------


@asynchronous
async def test_a_new_certificate_is_for_new_connections_and_old_ones_go_on(own: Certificates) -> None:
    former = own.serial
    async with serving(**own.settings) as house, opened(house.wss, own.context) as old:
        follower = await old.follow(ALL)
        assert await shown_at(house.https_port, own.context) == await shown_at(house.wss_port, own.context) == former
        own.replace()
        assert own.serial != former
        await renewed(house, own)
        await old_goes_on(old, follower, house, own)


async def renewed(house: House, own: Certificates) -> None:
    """Until every port shows the certificate of the file."""
    for port in (house.https_port, house.wss_port):
        async with asyncio.timeout(PATIENCE):
            while await shown_at(port, own.context) != own.serial:
                await asyncio.sleep(0.05)


async def old_goes_on(old: Client, follower: Any, house: House, own: Certificates) -> None:
    async with client(house, own.context) as http:
        await http.post("/update", data={"update": "INSERT DATA { <s> <p> 1 }"})
    await follower.hear()
    assert sum(follower.answer.values()) == 1


@asynchronous
async def test_a_bad_certificate_is_logged_and_the_old_one_stays_until_a_good_one_comes(
    own: Certificates, foreign: Certificates, caplog: pytest.LogCaptureFixture
) -> None:
    former = own.serial
    async with serving(**own.settings) as house:
        with caplog.at_level(logging.WARNING, "tidings"):
            own.server.key.write_bytes(foreign.server.key.read_bytes())
            await until(lambda: "the key is of another certificate" in caplog.text)
            own.server.certificate.write_text("nonsense")
            await until(lambda: caplog.text.count("the old one stays") == 2)
            own.server.certificate.unlink()
            await until(lambda: "no such file" in caplog.text)
        assert await shown_at(house.https_port, own.context) == former
        own.replace()
        await renewed(house, own)


# -- settings ---------------------------------------------------------------------------------------------------


def test_files_that_the_broker_cannot_use_keep_it_from_starting(own: Certificates, foreign: Certificates) -> None:
    def refusal(**changes: str) -> str:
        with pytest.raises(TlsUnusable) as refused:
            read_tls(Settings(**(own.settings | changes)))
        return str(refused.value)

    assert "another certificate" in refusal(tls_key=str(foreign.server.key))
    assert "no such file" in refusal(tls_certificate="nowhere.pem")
    assert "authority" in refusal(tls_client_ca=str(own.server.key))
    encrypted = own.folder / "encrypted.pem"
    encrypted.write_bytes(_encrypted(own.server.key.read_bytes()))
    assert "password" in refusal(tls_key=str(encrypted))


def _encrypted(key: bytes) -> bytes:
    from cryptography.hazmat.primitives.serialization import (
        BestAvailableEncryption,
        Encoding,
        PrivateFormat,
        load_pem_private_key,
    )

    return load_pem_private_key(key, None).private_bytes(
        Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"secret")
    )


def test_the_key_may_be_in_the_file_of_the_certificate(own: Certificates) -> None:
    both = own.folder / "both.pem"
    both.write_bytes(own.server.certificate.read_bytes() + own.server.key.read_bytes())
    assert read_tls(Settings(tls_certificate=str(both))) is not None


@pytest.mark.parametrize("name", ["tls_key", "tls_client_ca", "plain_host"])
def test_what_goes_with_a_certificate_does_not_go_without(name: str) -> None:
    with pytest.raises(BadSetting, match="tls_certificate"):
        read_tls(read_settings({name: "x"}, {}))


def test_plain_ports_are_for_this_machine_unless_somebody_asks() -> None:
    assert plain_host(Settings(host="0.0.0.0")) == "127.0.0.1"
    assert plain_host(Settings(host="192.0.2.7")) == "127.0.0.1"
    assert plain_host(Settings(host="::1")) == "::1"
    assert plain_host(Settings(host="0.0.0.0", plain_host="192.0.2.7")) == "192.0.2.7"
    assert plain_host(Settings(plain_host="off")) is None


@asynchronous
async def test_without_plain_ports_there_is_tls_or_nothing(certificates: Certificates) -> None:
    async with serving(**certificates.settings, plain_host="off") as house:
        assert house.listeners.plain is None
        async with connect(house.https, trust=certificates.trust) as broker:
            assert broker.connected
