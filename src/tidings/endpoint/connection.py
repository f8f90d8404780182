"""Sends queries and updates to an endpoint over HTTP. Except for limits, a failure is EndpointAway or EndpointRefused.

A malformed answer (an HTML page, no content, half an answer) means EndpointAway: it was not the endpoint that answered.
"""

import asyncio
import base64
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Literal, TypeAlias, TypeVar
from urllib.parse import urlencode

import httpx

from tidings.client.errors import Refused
from tidings.client.http import AsyncHttpClient
from tidings.client.responses import NO_BROKER, refused
from tidings.endpoint.blanks import incoming
from tidings.endpoint.plain_http import Answer, PlainHttp, is_plain
from tidings.model.errors import (
    BadRequest,
    EndpointAway,
    EndpointRefused,
    LimitExceeded,
    RowLimitExceeded,
    TidingsError,
)
from tidings.model.formats.blanks import KEEP_LABELS
from tidings.model.formats.rdf import RdfFormat, parse_rdf
from tidings.model.formats.results.json import read_json
from tidings.model.publishers import HEADER, publisher_name
from tidings.model.results import Boolean, Row, Solutions
from tidings.model.terms import Triple, lexical_form

_PASSING = frozenset((408, 425, 429, 502, 503, 504))
"""Statuses of failures that may pass; they mean EndpointAway."""
_STRANGERS = frozenset((401, 403))
"""Statuses for missing or insufficient credentials."""
_JSON = "application/sparql-results+json"
_TRIPLES = "application/n-triples"
_ASKED = "__ASK"
_CUT = "x-sparql-maxrows"
"""The header of Virtuoso in answers that may be cut off, with its maximum number of rows."""
_LONG = 1 << 18
"""Documents of at least this many bytes are parsed in a thread."""
T = TypeVar("T")

_FORM = "application/x-www-form-urlencoded"
_QUERY = "application/sparql-query"
_UPDATE = "application/sparql-update"

Scheme: TypeAlias = Literal["none", "basic", "digest", "bearer"]


@dataclass(frozen=True, slots=True)
class Address:
    """The URLs of an endpoint for queries and updates, and the credentials of the broker. `repr` omits the secret."""

    query: str
    update: str
    scheme: Scheme = "none"
    secret: str = field(default="", repr=False)
    """`user:password`, or a token."""

    def shown(self) -> dict[str, str]:
        """The header with the credentials; empty for digest, which sends them after a challenge."""
        match self.scheme:
            case "none" | "digest":
                return {}
            case "basic":
                return {"authorization": f"Basic {base64.b64encode(self.secret.encode()).decode()}"}
            case "bearer":
                return {"authorization": f"Bearer {self.secret}"}

    def auth(self) -> httpx.Auth | None:
        """What answers a challenge, if the scheme is digest."""
        user, _, password = self.secret.partition(":")
        return httpx.DigestAuth(user, password) if self.scheme == "digest" else None


def read_secret(path: Path) -> str:
    """The secret in a file of one line. Raises BadRequest."""
    try:
        secret = path.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise BadRequest(f"the secret of the endpoint cannot be read from {path}: {error}") from error
    if not secret.isprintable():
        raise BadRequest(f"the secret of the endpoint in {path} must be one line of printable characters")
    return secret


class AnswerCut(RowLimitExceeded):
    """An answer that the endpoint may have cut off at its limit of rows. Answers of up to `rows` are complete."""

    status = 502  # the limit is the endpoint's, and not this broker's

    def __init__(self, url: str, most: int) -> None:
        super().__init__(most - 1)  # an answer with exactly `most` rows has the header of a cut one
        self.args = (f"{url} gives at most {most:,} rows of an answer, and there may be more; ask for less",)


class Connection:
    """A context manager for requests to an endpoint. Other brokers know this one by the name `publisher`."""

    def __init__(self, address: Address, *, seconds: float, connections: int = 8, publisher: str | None = None) -> None:
        self._address = address
        self._client = AsyncHttpClient(seconds=seconds, connections=connections, auth=address.auth())
        self._plain = PlainHttp(seconds=seconds, connections=connections)
        self._is_plain = address.scheme != "digest" and all(map(is_plain, {address.query, address.update}))
        self._headers = address.shown()
        if publisher is not None:
            self._headers[HEADER] = publisher_name(publisher)
        self._closed = False
        self.bare = False
        """Whether the endpoint is known to accept the bare text of a request; forms take longer to write."""

    async def __aenter__(self) -> "Connection":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closed = True
        self._plain.close()
        await self._client.close()

    async def server(self) -> str:
        """A text that identifies the store: its `Server` header, and the names of all headers. Raises EndpointAway."""
        answer = await self._ask("ASK {}", _JSON)
        with _understood(self._address.query):
            read_json(answer.content)
        return " ".join((answer.headers.get("server", ""), *answer.headers))

    async def rows(self, text: str, most: int | None = None) -> list[Row]:
        """The answer to SELECT. Raises AnswerTooLarge beyond `most` bytes, and AnswerCut if it may be cut off."""
        answer = await self._ask(text, _JSON, most)
        if (given := _header(answer, _CUT)).isdecimal():
            raise AnswerCut(self._address.query, int(given))
        with _understood(self._address.query):
            return await _aside(_rows, answer.content)

    async def boolean(self, text: str) -> bool:
        """The answer to ASK."""
        answer = await self._ask(text, _JSON)
        with _understood(self._address.query):
            return _boolean(answer.content)

    async def triples(self, text: str, most: int | None = None) -> list[Triple]:
        """The answer to CONSTRUCT. Raises AnswerTooLarge beyond `most` bytes."""
        answer = await self._ask(text, _TRIPLES, most)
        with _understood(self._address.query):
            if not answer.headers.get("content-type", "").startswith((_TRIPLES, "text/plain", "text/ntriples")):
                raise BadRequest(f"this is {answer.headers.get('content-type')}, and not N-Triples")
            return await _aside(_triples, answer.content)

    async def update(self, text: str) -> None:
        """Send an update, and wait until it is executed."""
        if self.bare:
            await self._send(self._address.update, text.encode(), _UPDATE, "*/*")
        else:
            await self._send(self._address.update, urlencode({"update": text}).encode(), _FORM, "*/*")

    async def _ask(self, text: str, accept: str, most: int | None = None) -> httpx.Response | Answer:
        if self.bare:
            return await self._send(self._address.query, text.encode(), _QUERY, accept, most)
        return await self._send(self._address.query, urlencode({"query": text}).encode(), _FORM, accept, most)

    async def _send(
        self, url: str, body: bytes, kind: str, accept: str, most: int | None = None
    ) -> httpx.Response | Answer:
        if self._closed:  # ends tasks that still wait for the endpoint
            raise EndpointAway("the broker is stopping")
        headers = {**self._headers, "accept": accept, "content-type": kind}
        try:
            if self._is_plain:
                answer = await self._plain.post(url, headers, body, most)
                if not answer.is_success:
                    raise refused(answer.response(url))
                return answer
            if most is None:
                return await self._client.send("POST", url, headers=_utf8(headers), content=body)
            return await self._client.send_within(most, "POST", url, headers=_utf8(headers), content=body)
        except LimitExceeded:
            raise
        except Refused as error:
            if error.status in _PASSING:
                raise EndpointAway(_reason(error)) from error
            raise EndpointRefused(_reason(error)) from error
        except TidingsError as error:
            raise EndpointAway(str(error)) from error


def _reason(error: Refused) -> str:
    """The reason of a refusal, with advice if it is about credentials."""
    said = str(error).removesuffix(NO_BROKER)
    if error.status in _STRANGERS:
        return f"{said}: say with endpoint_auth and endpoint_secret who the broker is, and that it may write there"
    return said


def _header(answer: httpx.Response | Answer, name: str) -> str:
    return answer.headers.get(name, "") if isinstance(answer, httpx.Response) else answer.header(name)


def _utf8(headers: dict[str, str]) -> httpx.Headers:
    return httpx.Headers(headers, encoding="utf-8")


async def _aside(read: Callable[[bytes], T], document: bytes) -> T:
    """Parse a document, in a thread if it is long."""
    return read(document) if len(document) < _LONG else await asyncio.to_thread(read, document)


def _boolean(document: bytes) -> bool:
    match read_json(document):
        case Boolean(value):
            return value
        case Solutions((name,), rows) if name.startswith(_ASKED):  # how Virtuoso answers some ASK queries
            return any(row[0] is not None and lexical_form(row[0]) not in {"0", "false"} for row in rows)
        case _:
            raise BadRequest("this is no answer to ASK")


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
