"""A broker that asks everybody who they are, over TLS, for the clients of other people; whoever comes may register."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gates.wire import Broker, serving
from ports import free_port
from tls.house import Certificates

POLICY = """
issuer = "https://localhost:8443"
identity = [{identity = "reader-*", roles = ["readers"]}, {identity = "*", roles = ["all"]}]
hashes = {passes = 1, kibibytes = 8, lanes = 1}
logins = {by_address = {burst = 1000, per_second = 1000}, by_client = {burst = 1000, per_second = 1000}}

[[grant]]
to = "role:all"
update = ["*"]
subscribe = ["*"]

[[grant]]
to = "role:readers"
subscribe = ["default"]
"""


@dataclass(frozen=True)
class SecuredBroker:
    plain: Broker
    https_port: int
    wss_port: int
    ca: Path

    def url(self, path: str) -> str:
        return f"https://127.0.0.1:{self.https_port}{path}"

    def profile(self) -> dict[str, Any]:
        """As SEPA's documentation has it, for other ports."""
        return {
            "host": "127.0.0.1",
            "oauth": {
                "enable": True,
                "register": self.url("/oauth/register"),
                "tokenRequest": self.url("/oauth/token"),
            },
            "sparql11protocol": {
                "protocol": "https",
                "port": self.https_port,
                "query": {"path": "/secure/query", "method": "POST", "format": "JSON"},
                "update": {"path": "/secure/update", "method": "POST", "format": "JSON"},
            },
            "sparql11seprotocol": {
                "protocol": "wss",
                "availableProtocols": {"wss": {"port": self.wss_port, "path": "/secure/subscribe"}},
            },
            "namespaces": {},
            "updates": {},
            "queries": {},
        }


@contextmanager
def secured(folder: Path, certificates: Certificates) -> Iterator[SecuredBroker]:
    (folder / "security.toml").write_text(POLICY)
    https, wss = free_port(), free_port()
    flags = (
        *("--security", "security.toml", "--memory"),
        *("--tls-certificate", str(certificates.server.certificate), "--tls-key", str(certificates.server.key)),
        *("--https-port", str(https), "--wss-port", str(wss)),
    )
    with serving(folder, *flags) as broker:
        yield SecuredBroker(broker, https, wss, certificates.ca)
