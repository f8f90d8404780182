"""A short path for the most common request: an update that a program sends by POST.

    last byte of a body (connection) -> QuickUpdates -> Broker -> Exchange -> bytes

The answer is the same as from the HTTP application, but needs no task, routing, CORS or compression. Any unusual
request goes to the application before anything is done for it, and is refused there if need be.
"""

import logging
from collections.abc import Iterable
from typing import Protocol, TypeAlias

import orjson

from tidings.broker.broker import Broker
from tidings.broker.updates.accepted import Done, Outcome
from tidings.gates.answers import update_answer
from tidings.gates.asking import Asker, Deed, Guard
from tidings.gates.forwarding import Proxies
from tidings.gates.http.limits import LARGE_BODY
from tidings.gates.http.responses import advice
from tidings.gates.http.updates import publisher_of
from tidings.gates.quotas import Quotas, client_of
from tidings.gates.visitors import SECURE, Visitors
from tidings.model.errors import TidingsError
from tidings.protocol.answers import encode
from tidings.protocol.sparql_http import UpdateRequest, read_post

Headers: TypeAlias = list[tuple[bytes, bytes]]

_LONG_WAY = frozenset({b"origin", b"sec-fetch-site", b"content-encoding", b"transfer-encoding", b"expect", b"upgrade"})
_PATH = "/update"

log = logging.getLogger("tidings")


class Exchange(Protocol):
    """A request that waits for its answer."""

    def answer(self, status: int, headers: bytes, document: bytes) -> None:
        """Called once. `headers` are complete lines; the headers that every response has are added."""


class QuickUpdates:
    """Answers such updates. `proxies` are the trusted ones."""

    def __init__(
        self, broker: Broker, guard: Guard, quotas: Quotas, visitors: Visitors, proxies: Proxies, *, base: str,
        max_body: int,
    ) -> None:  # fmt: skip
        self._broker = broker
        self._guard = guard
        self._quotas = quotas
        self._visitors = visitors
        self._proxies = proxies
        self._base = base
        self._largest = min(max_body, LARGE_BODY)
        paths = (_PATH, SECURE + _PATH) if guard.asks else (_PATH,)
        self._deeds = {path.encode(): f"POST {path}" for path in paths}
        """The name of an update at each path in the audit log."""

    def takes(self, method: bytes, url: bytes, headers: Headers) -> bool:
        """Whether the headers of a request allow the short path."""
        if method != b"POST" or url not in self._deeds:
            return False
        fields = dict(headers)
        length = fields.get(b"content-length")
        return (
            length is not None
            and length.isdigit()
            and int(length) <= self._largest
            and len(fields) == len(headers)
            and _LONG_WAY.isdisjoint(fields)
        )

    def submit(self, exchange: Exchange, url: bytes, headers: Headers, body: bytes, address: str) -> bool:
        """Submit an update, whose outcome answers the exchange. Returns False if the application has to handle it."""
        fields = dict(headers)
        try:
            host = fields.get(b"host")
            if self._proxies:
                address, host = self._origin(address, host, headers)
            if host not in self._visitors.let_in:
                return False
            shown = fields.get(b"authorization")
            asker = self._guard.recall(None if shown is None else shown.decode("latin-1"))
            if asker is None:
                return False
            request = read_post(fields.get(b"content-type", b"").decode("latin-1"), b"", body, self._base)
            if not isinstance(request, UpdateRequest):
                return False
            publisher = asker.publisher(publisher_of(fields))
            work = _Work(exchange, self._guard, self._quotas, asker, address, self._deeds[url])
        except TidingsError:
            return False
        except Exception:
            log.exception("internal error while reading an update over HTTP; it is read again without the short path")
            return False
        self._broker.submit(request.text, request.dataset, work.reply, publisher, asker.rights)
        return True

    def _origin(self, address: str, host: bytes | None, headers: Headers) -> tuple[str, bytes | None]:
        """The address of the client, and the Host header that it sent. Raises BadForwarding."""
        read = ((name.decode("latin-1"), value.decode("latin-1")) for name, value in headers)
        hop = self._proxies.origin(address, read)
        if hop is None:
            return address, host
        return hop.client, host if hop.host is None else hop.host.encode("latin-1")


class _Work:
    """An update that counts against its client's quota until it is answered. Raises LimitExceeded."""

    __slots__ = ("_address", "_asker", "_client", "_exchange", "_guard", "_quotas", "_what")

    def __init__(self, exchange: Exchange, guard: Guard, quotas: Quotas, asker: Asker, address: str, what: str) -> None:
        self._client = client_of(asker, address)
        quotas.updates.enter(self._client)
        try:
            quotas.take(self._client)
        except TidingsError:
            quotas.updates.leave(self._client)
            raise
        self._exchange = exchange
        self._guard = guard
        self._quotas = quotas
        self._asker = asker
        self._address = address
        self._what = what

    def reply(self, outcome: Outcome) -> None:
        self._quotas.updates.leave(self._client)
        if isinstance(outcome, Done):
            if self._guard.asks:
                self._guard.judge(self._asker, self._deed(outcome.commit))
            self._exchange.answer(200, b"", encode(update_answer(outcome)))
            return
        self._quotas.note(outcome)
        error = self._guard.judge(self._asker, self._deed(), outcome) or outcome
        refuse(self._exchange, error)

    def _deed(self, commit: int | None = None) -> Deed:
        return Deed(self._what, self._address, commit=commit)


def refuse(exchange: Exchange, error: TidingsError) -> None:
    exchange.answer(error.status, _lines(advice(error).items()), orjson.dumps(error.to_json()))


def _lines(headers: Iterable[tuple[str, str]]) -> bytes:
    return "".join(f"{name}: {value}\r\n" for name, value in headers).encode("latin-1")
