"""Builds the gate of web hooks by its settings."""

import secrets
from pathlib import Path

from tidings.gates.gate import Gate
from tidings.gates.premises import Premises
from tidings.security.private_file import write_private
from tidings.server.config import BadSetting, Settings
from tidings.server.outgoing import Outgoing, Reach

KEY = "webhook.key"
_REQUESTS_TAKE = 1 << 20


def open_webhooks(premises: Premises, settings: Settings) -> Gate | None:
    """Raises BadSetting."""
    if not settings.webhook_hosts:
        return None
    from tidings.gates.ldn.discovery import DISCOVERING, Resource, inbox_of
    from tidings.gates.webhooks.deliveries import Deliveries
    from tidings.gates.webhooks.delivery import Patience
    from tidings.gates.webhooks.gate import WebhookGate
    from tidings.gates.webhooks.signing import Signing

    outgoing = Outgoing(
        Reach(
            settings.webhook_hosts,
            settings.webhook_networks,
            _REQUESTS_TAKE,
            settings.webhook_timeout,
            setting="webhook",
        )
    )
    patience = Patience(settings.webhook_pause, max(settings.webhook_pause, 3600.0), settings.webhook_patience)
    disk = premises.broker.disk
    signing = Signing(_key(None if disk is None else disk.folder / KEY))

    def discover(target: str) -> str:
        found = outgoing.fetch(target, DISCOVERING)
        return inbox_of(Resource(found.url, found.links, found.media_type, found.body))

    deliveries = Deliveries(premises, signing, outgoing.check, discover, outgoing.post, patience, settings.webhook_most)
    return WebhookGate(premises, deliveries)


def _key(path: Path | None) -> bytes:
    """The key from which the gate derives all secrets, from a file that only its owner can read. Raises BadSetting."""
    from tidings.gates.webhooks.signing import KEY_BYTES

    if path is None:
        return secrets.token_bytes(KEY_BYTES)
    try:
        if not path.exists():
            write_private(path, secrets.token_hex(KEY_BYTES).encode() + b"\n")
        return bytes.fromhex(path.read_text())
    except (OSError, ValueError) as error:
        raise BadSetting(f"the key of the web hooks, {path}, cannot be used: {error}") from error
