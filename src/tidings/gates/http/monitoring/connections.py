"""Lists the connections of all gates over which clients get notifications, the newest first.

Administrators see all of them. Other clients see the connections over which they have subscribed, and on these only
what is their own, because one connection may carry the subscriptions of several subjects.
"""

from itertools import islice
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from tidings.broker.broker import Broker
from tidings.broker.subscriptions.subscriber import Origin, Session
from tidings.gates.asking import Asker
from tidings.gates.http.responses import Envelope
from tidings.gates.http.routing import page_of, whole
from tidings.gates.http.security.identification import asker_of
from tidings.protocol.instants import shown

MOST_SUBJECTS = 10
"""How many subjects of one connection are listed."""
_NONE_YET = 1 << 63
"""A number that no session has yet."""


class Connections:
    """Answers `GET /connections`, on one broker."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker

    async def answer(self, request: Request) -> Response:
        """The connections that the asker may see; with `after` a position, the older ones."""
        asker = asker_of(request.scope)
        before = whole(request.query_params.get("after"), "after", _NONE_YET, _NONE_YET)
        newest_first = reversed(self._broker.sessions.values())
        there = [(each, each.origin) for each in newest_first if each.origin is not None and _sees(asker, each)]
        page, more = page_of(request, (pair for pair in there if pair[0].id < before))
        listed = [_shown(session, origin, asker) for session, origin in page]
        content: dict[str, Any] = {"total": len(there), "connections": listed}
        return Envelope(content | ({"after": str(page[-1][0].id)} if more else {}))


def _sees(asker: Asker, session: Session) -> bool:
    return asker.rights.administer or (asker.subject is not None and asker.subject in session.subjects)


def _shown(session: Session, origin: Origin, asker: Asker) -> dict[str, Any]:
    subjects, subscriptions = [*islice(session.subjects, MOST_SUBJECTS)], len(session.subscribers)
    if not asker.rights.administer:
        subjects = [each for each in session.subjects if each == asker.subject]
        subscriptions = sum(each.owner == asker.subject for each in session.subscribers.values())
    return {
        "id": session.id,
        "gate": origin.gate,
        "address": origin.address or None,
        "since": shown(session.since),
        "subjects": subjects,
        "subscriptions": subscriptions,
        "waiting": None if origin.waiting is None else origin.waiting(),
        "slow": session.full,
    }
