"""Builds the inbox for Linked Data Notifications. It may fetch JSON-LD contexts from where LOAD may fetch documents."""

from pathlib import Path
from typing import Any

import orjson

from tidings.gates.gate import Gate
from tidings.gates.premises import Premises
from tidings.model.errors import TidingsError
from tidings.server.config import BadSetting, Settings
from tidings.server.loading import reach
from tidings.server.outgoing import FetchFailed, Outgoing


def linked_data_notifications(premises: Premises, settings: Settings) -> Gate | None:
    """Raises BadSetting."""
    if not settings.ldn:
        return None
    from tidings.gates.ldn.contexts import Contexts
    from tidings.gates.ldn.gate import LdnGate
    from tidings.gates.ldn.notifications import Reading

    outgoing = Outgoing(reach(settings)) if settings.outgoing_hosts else None

    def fetch(address: str) -> Any:
        assert outgoing is not None
        try:
            return orjson.loads(outgoing.fetch(address, "application/ld+json, application/json").body)
        except orjson.JSONDecodeError as error:
            raise FetchFailed(f"what is at {address} is not JSON") from error

    try:
        return LdnGate(premises, Reading(Contexts(fetch if outgoing else None), _constraint(settings)))
    except TidingsError as error:
        raise BadSetting(f"--ldn-constraint: {error}") from error


def _constraint(settings: Settings) -> str | None:
    if settings.ldn_constraint is None:
        return None
    try:
        return Path(settings.ldn_constraint).read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise BadSetting(f"--ldn-constraint: {settings.ldn_constraint}: {error}") from error
