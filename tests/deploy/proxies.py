"""nginx and Caddy as they are deployed, but on free ports of this machine, with a certificate made here."""

import os
import pwd
import ssl
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeAlias

from deploy.places import DEPLOY, HOST, NotListening, listening, run, tool, tries
from gates.wire import Broker
from ports import free_ports

NAME, PASSWORD = "ann", "secret"
SITE = "tidings.example.org"
CERTIFICATE, KEY = "fullchain.pem", "privkey.pem"


@dataclass(frozen=True, slots=True)
class Proxy:
    """Where it is, and whom to trust."""

    port: int
    plain_port: int
    folder: Path

    @property
    def certificate(self) -> Path:
        return self.folder / CERTIFICATE

    @property
    def url(self) -> str:
        return f"https://localhost:{self.port}"

    @property
    def ws(self) -> str:
        return f"wss://{NAME}:{PASSWORD}@localhost:{self.port}/subscribe"

    @property
    def trust(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=self.certificate)


def make_certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate for this machine that signs itself, and its key."""
    certificate, key = folder / CERTIFICATE, folder / KEY
    run(
        tool("openssl"), "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
        "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-out", certificate, "-keyout", key,
    )  # fmt: skip
    return certificate, key


def replaced(text: str, *pairs: tuple[str, str]) -> str:
    """A configuration with other values in their places, which must be there."""
    for written, meant in pairs:
        assert written in text, written
        text = text.replace(written, meant)
    return text


# -- nginx ------------------------------------------------------------------------------------------------------


def nginx_command(folder: Path, broker: Broker, port: int, plain_port: int) -> list[str | Path]:
    """Write the configuration of nginx into a folder; how to run it."""
    certificate, key = make_certificate(folder)
    users = folder / "tidings.htpasswd"
    users.write_text(f"{NAME}:{run(tool('openssl'), 'passwd', '-apr1', PASSWORD)}")
    letsencrypt = f"/etc/letsencrypt/live/{SITE}"
    site = replaced(
        (DEPLOY / "nginx" / "tidings.conf").read_text(),
        (f"{letsencrypt}/fullchain.pem", str(certificate)),
        (f"{letsencrypt}/privkey.pem", str(key)),
        ("/etc/nginx/tidings.htpasswd;", f"{users};"),
        (f"{HOST}:8000", f"{HOST}:{broker.http_port}"),
        ("    listen [::]:80;\n", ""),
        ("    listen [::]:443 ssl http2;\n", ""),
        ("listen 80;", f"listen {HOST}:{plain_port};"),
        ("listen 443 ssl", f"listen {HOST}:{port} ssl"),
        (SITE, "localhost"),
    )
    (folder / "tidings.conf").write_text(site)
    paths = " ".join(
        f"{what}_temp_path {folder / what};" for what in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    user = f"user {pwd.getpwuid(0).pw_name};" if os.geteuid() == 0 else ""  # workers read files of the test
    (folder / "nginx.conf").write_text(
        f"daemon off; {user} pid {folder / 'pid'}; error_log stderr; events {{ worker_connections 256; }}\n"
        f"http {{ access_log off; {paths} include {folder / 'tidings.conf'}; }}\n"
    )
    return [tool("nginx"), "-p", folder, "-e", "stderr", "-c", folder / "nginx.conf"]


# -- Caddy ------------------------------------------------------------------------------------------------------


@cache
def _hashed() -> str:
    return run(tool("caddy"), "hash-password", "--plaintext", PASSWORD).strip()


def caddy_command(folder: Path, broker: Broker, port: int, plain_port: int) -> list[str | Path]:
    """As `nginx_command`. The certificate is one from a file, and nothing is asked of an authority."""
    certificate, key = make_certificate(folder)
    (folder / "tidings.users").write_text(f"{NAME} {_hashed()}\n")
    site = replaced(
        (DEPLOY / "caddy" / "Caddyfile").read_text(),
        (f"{HOST}:8000", f"{HOST}:{broker.http_port}"),
        (f"\n{SITE} {{", f"\nlocalhost {{\n\ttls {certificate} {key}"),
    )
    options = f"admin off\n\tstorage file_system {folder / 'storage'}\n\thttp_port {plain_port}\n\thttps_port {port}"
    (folder / "Caddyfile").write_text(f"{{\n\t{options}\n}}\n{site}")
    return [tool("caddy"), "run", "--config", folder / "Caddyfile", "--adapter", "caddyfile"]


def nginx_with_certificates(folder: Path, broker: Broker, port: int, plain_port: int) -> list[str | Path]:
    """As `nginx_command`, but with certificates of clients instead of passwords, as its comment says."""
    command = nginx_command(folder, broker, port, plain_port)
    site = folder / "tidings.conf"
    changed = replaced(
        site.read_text(),
        (
            "#   ssl_client_certificate /etc/nginx/tidings-clients.pem;",
            f"ssl_client_certificate {folder / CERTIFICATE};",
        ),
        ("#   ssl_verify_client ", "ssl_verify_client "),
        ('auth_basic           "Tidings";', "auth_basic off;"),
    )
    site.write_text(changed)
    return command


Command: TypeAlias = Callable[[Path, Broker, int, int], list[str | Path]]
COMMANDS: dict[str, Command] = {
    "nginx": nginx_command,
    "caddy": caddy_command,
}


@contextmanager
def before(broker: Broker, command: Command, folder: Path) -> Iterator[Proxy]:
    """A proxy that stands before a broker."""
    for last in tries():
        port, plain_port = free_ports(2)
        try:
            with listening(port, folder / "log", *command(folder, broker, port, plain_port)):
                yield Proxy(port, plain_port, folder)
                return
        except NotListening:
            if last:
                raise


def check(command: list[str | Path]) -> subprocess.CompletedProcess[str]:
    """What the program itself says of a configuration, on stderr."""
    arguments = [command[0], "validate", *command[2:]] if command[1] == "run" else [*command, "-t"]
    return subprocess.run(arguments, capture_output=True, text=True, timeout=60, check=False)
