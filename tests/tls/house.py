"""A broker with TLS in the test's own loop: real sockets, real certificates."""

import asyncio
import os
import shutil
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from cryptography import x509

from tidings import cli
from tidings.broker.broker import Broker
from tidings.client.trust import Trust
from tidings.gates.websocket.gate import WebSocketGate
from tidings.server import brokers, gates
from tidings.server.config import Settings
from tidings.server.http_server import HttpServer
from tidings.server.listening import Entrances, Listeners, Pair, listeners
from tidings.server.security import certificates as making
from tidings.server.tls import Tls, read_tls, renewing
from waiting import PATIENCE, until


@dataclass(frozen=True)
class Certificates:
    """A folder that `tidings certificates` has filled."""

    folder: Path

    @staticmethod
    def made(folder: Path) -> "Certificates":
        assert cli.main(["certificates", "--folder", str(folder)]) == 0
        assert cli.main(["certificates", "--folder", str(folder), "--client", "lamp-7"]) == 0
        return Certificates(folder)

    def copied(self, folder: Path) -> "Certificates":
        shutil.copytree(self.folder, folder)
        return Certificates(folder)

    @property
    def ca(self) -> Path:
        return self.folder / "ca.pem"

    @property
    def server(self) -> making.Files:
        return making.server_files(self.folder)

    @property
    def client(self) -> making.Files:
        return making.client_files(self.folder, "lamp-7")

    @property
    def settings(self) -> dict[str, Any]:
        return {"tls_certificate": str(self.server.certificate), "tls_key": str(self.server.key)}

    @property
    def flags(self) -> tuple[str, ...]:
        return (
            "--tls-certificate", str(self.server.certificate), "--tls-key", str(self.server.key),
            "--https-port", "0", "--wss-port", "0",
        )  # fmt: skip

    @property
    def trust(self) -> Trust:
        return Trust(ca=self.ca)

    @property
    def context(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=self.ca)

    def showing(self, shown: "Certificates | None" = None) -> ssl.SSLContext:
        """Trusts these, and shows the client's certificate of these or others."""
        context, files = self.context, (shown or self).client
        context.load_cert_chain(files.certificate, files.key)
        return context

    @property
    def serial(self) -> int:
        return x509.load_pem_x509_certificate(self.server.certificate.read_bytes()).serial_number

    def replace(self, days: int = 30, begun: int = 0) -> None:
        """Another certificate in the place of the one for the broker, as those who renew them do it: key first."""
        now = datetime.now(UTC)
        fresh = making.Files(self.folder / "fresh.pem", self.folder / "fresh-key.pem")
        signer = making.authority(self.folder, now)
        names = [making.server_name("localhost"), making.server_name("127.0.0.1")]
        making.certify_server(signer, fresh, names, now - timedelta(days=begun), now + timedelta(days=days))
        fresh.key.replace(self.server.key)
        fresh.certificate.replace(self.server.certificate)


@dataclass(frozen=True)
class House:
    """A broker, and where it listens."""

    broker: Broker
    gate: WebSocketGate
    listeners: Listeners
    entrances: Entrances

    @property
    def https(self) -> str:
        return _there(self.listeners.secure).addresses.http

    @property
    def wss(self) -> str:
        return _there(self.listeners.secure).addresses.ws

    @property
    def http(self) -> str:
        return _there(self.listeners.plain).addresses.http

    @property
    def ws(self) -> str:
        return _there(self.listeners.plain).addresses.ws

    @property
    def https_port(self) -> int:
        return _there(self.listeners.secure).http_port

    @property
    def wss_port(self) -> int:
        return _there(self.listeners.secure).ws_port


def _there(pair: Pair | None) -> Pair:
    assert pair is not None
    return pair


@asynccontextmanager
async def serving(app: Any = None, **changes: Any) -> AsyncIterator[House]:
    """As `tidings serve` does it, without a process; `app` answers instead of the broker."""
    ports = {"http_port": 0, "ws_port": 0, "https_port": 0, "wss_port": 0}
    settings = Settings(**(ports | {"ping": PATIENCE} | changes))
    tls = read_tls(settings)
    with ExitStack() as stack:
        sockets = stack.enter_context(listeners(settings, tls=tls is not None))
        async with brokers.build_broker(settings) as broker, _open(broker, settings, sockets, tls, app) as house:
            yield house


@asynccontextmanager
async def _open(
    broker: Broker, settings: Settings, sockets: Listeners, tls: Tls | None, app: Any
) -> AsyncIterator[House]:
    gate = gates.websocket_gate(broker, settings, *sockets.http_ports)
    pages = gates.http_gate(broker, settings, *sockets.ws_ports)
    entrances = Entrances(None if tls is None else tls.context)
    quick = None if app else gates.quick_updates(broker, settings, pages)
    config = gates.uvicorn_config(app or gates.http_app(broker, settings, pages), settings, gate, quick)
    server = HttpServer(config, entrances)
    for pair in sockets.pairs:
        entrances.add(pair, server.serve_connections, gates.serve_websockets(gate, settings))
    running = asyncio.create_task(server.serve())
    await until(lambda: server.started)
    try:
        if tls is None:
            yield House(broker, gate, sockets, entrances)
        else:
            async with renewing(tls, entrances.renew):
                yield House(broker, gate, sockets, entrances)
    finally:
        pages.end()
        server.should_exit = True
        await gate.close()
        async with asyncio.timeout(PATIENCE):
            await running


async def shown_at(port: int, context: ssl.SSLContext) -> int:
    """The number of the certificate that a new connection gets."""
    _, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context, server_hostname="localhost")
    document = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
    writer.close()
    return x509.load_der_x509_certificate(document).serial_number


async def said_in_plain(port: int, said: bytes) -> bytes:
    """All that comes back from a port to which somebody speaks without TLS."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(said)
    try:
        return await asyncio.wait_for(reader.read(), PATIENCE)
    except ConnectionResetError:
        return b""
    finally:
        writer.close()


def plain_socket(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)


def mode_of(path: Path) -> int:
    return os.stat(path).st_mode & 0o777
