"""Queries and updates at an endpoint over HTTP, and what can go wrong with them, in two words: it is away, or refuses.

An answer that is none (a page, no content, half of one) counts as away: it was not the endpoint that answered.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, TypeAlias, TypeVar

import httpx

from tidings.client.errors import Refused
from tidings.client.http import AsyncHttpClient
from tidings.client.responses import headers_of
from tidings.endpoint.blanks import incoming
from tidings.endpoint.dialects import Dialect
from tidings.model.errors import BadRequest, EndpointAway, EndpointRefused, LimitExceeded, TidingsError
from tidings.model.formats.blanks import KEEP_LABELS
from tidings.model.formats.rdf import RdfFormat, parse_rdf
from tidings.model.formats.results.json import read_json
from tidings.model.results import Boolean, Row, Solutions
from tidings.model.terms import Triple

_PASSING = frozenset((408, 425, 429, 502, 503, 504))
"""What a server says that may be well later."""
_JSON = "application/sparql-results+json"
_TRIPLES = "application/n-triples"
_LONG = 1 << 18
"""Bytes of a document that is not read at once."""
T = TypeVar("T")

Scheme: TypeAlias = Literal["none", "basic", "digest", "bearer"]


class _Bearer(httpx.Auth):
    def __init__(self, token: str) -> None:
        self._token = token

    def auth_flow(self, request: httpx.Request) -> Iterator[httpx.Request]:  # type: ignore[override]
        request.headers["Authorization"] = f"Bearer {self._token}"
        yield request


@dataclass(frozen=True, slots=True)
class Address:
    """Where an endpoint takes queries and updates, and how it is shown who asks. No secret is in a `repr`."""

    query: str
    update: str
    scheme: Scheme = "none"
    secret: str = field(default="", repr=False)
    """`user:password`, or a token."""

    def auth(self) -> httpx.Auth | None:
        user, _, password = self.secret.partition(":")
        match self.scheme:
            case "none":
                return None
            case "basic":
                return httpx.BasicAuth(user, password)
            case "digest":
                return httpx.DigestAuth(user, password)
            case "bearer":
                return _Bearer(self.secret)


def read_secret(path: Path) -> str:
    """What a file of one line says. Raises BadRequest."""
    try:
        return path.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise BadRequest(f"the secret of the endpoint cannot be read from {path}: {error}") from error


class Connection:
    """An endpoint by its address, for `async with`. `publisher` is the name by which other brokers know this one."""

    def __init__(self, address: Address, *, seconds: float, connections: int = 8, publisher: str | None = None) -> None:
        self._address = address
        self._client = AsyncHttpClient(seconds=seconds, connections=connections, auth=address.auth())
        self._publisher = publisher
        self._closed = False

    async def __aenter__(self) -> "Connection":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closed = True
        await self._client.close()

    async def server(self) -> str:
        """What it says of itself: its header `Server`, and the names of others. Raises EndpointAway."""
        answer = await self._send(self._address.query, _JSON, data={"query": "ASK {}"})
        with _understood(self._address.query):
            read_json(answer.content)
        return " ".join((answer.headers.get("server", ""), *answer.headers))

    async def rows(self, text: str, most: int | None = None) -> list[Row]:
        """The answer to SELECT. Raises AnswerTooLarge beyond `most` bytes."""
        answer = await self._send(self._address.query, _JSON, most=most, data={"query": text})
        with _understood(self._address.query):
            return await _aside(_rows, answer.content)

    async def boolean(self, text: str) -> bool:
        """The answer to ASK."""
        answer = await self._send(self._address.query, _JSON, data={"query": text})
        with _understood(self._address.query):
            result = read_json(answer.content)
            if not isinstance(result, Boolean):
                raise BadRequest("this is no answer to ASK")
            return result.value

    async def triples(self, text: str, most: int | None = None) -> list[Triple]:
        """The answer to CONSTRUCT. Raises AnswerTooLarge beyond `most` bytes."""
        answer = await self._send(self._address.query, _TRIPLES, most=most, data={"query": text})
        with _understood(self._address.query):
            if not answer.headers.get("content-type", "").startswith((_TRIPLES, "text/plain", "text/ntriples")):
                raise BadRequest(f"this is {answer.headers.get('content-type')}, and not N-Triples")
            return await _aside(_triples, answer.content)

    async def update(self, text: str, dialect: Dialect) -> None:
        """Until it was carried out."""
        url = self._address.update
        if dialect.bare:
            await self._send(url, "*/*", content=text.encode(), kind="application/sparql-update")
        else:
            await self._send(url, "*/*", data={"update": text})

    async def _send(
        self, url: str, accept: str, *, kind: str | None = None, most: int | None = None, **sent: Any
    ) -> httpx.Response:
        if self._closed:  # whoever still waits for the endpoint is told so, and ends
            raise EndpointAway("the broker is stopping")
        headers = headers_of(accept, self._publisher)
        if kind is not None:
            headers["content-type"] = kind
        try:
            if most is None:
                return await self._client.send("POST", url, headers=headers, **sent)
            return await self._client.send_within(most, "POST", url, headers=headers, **sent)
        except LimitExceeded:
            raise
        except Refused as error:
            if error.status in _PASSING:
                raise EndpointAway(str(error)) from error
            raise EndpointRefused(str(error)) from error
        except TidingsError as error:
            raise EndpointAway(str(error)) from error


async def _aside(read: Callable[[bytes], T], document: bytes) -> T:
    """What a document says; one that takes long to read is read in a thread."""
    return read(document) if len(document) < _LONG else await asyncio.to_thread(read, document)


def _rows(document: bytes) -> list[Row]:
    result = read_json(document)
    if not isinstance(result, Solutions):
        raise BadRequest("this is no answer to SELECT")
    return [tuple(None if term is None else incoming(term) for term in row) for row in result.rows]


def _triples(document: bytes) -> list[Triple]:
    quads = parse_rdf(document, RdfFormat.N_TRIPLES, blanks=KEEP_LABELS)
    return [(incoming(s), p, incoming(o)) for s, p, o, _ in quads]


@contextmanager
def _understood(url: str) -> Iterator[None]:
    try:
        yield
    except BadRequest as error:
        raise EndpointAway(f"{url} answers with something else than it was asked for: {error}") from error
