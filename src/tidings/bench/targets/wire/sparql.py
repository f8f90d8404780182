"""Sends updates and queries to a target by the SPARQL 1.1 Protocol, on persistent HTTP connections."""

import re
from collections.abc import Mapping

import httpx

from tidings.bench.targets.errors import TargetFailed, translated
from tidings.bench.targets.wire.rows import Row, folded, read_rows
from tidings.client.http import AsyncHttpClient
from tidings.model.errors import RdfSyntaxError
from tidings.model.formats.blanks import KEEP_LABELS
from tidings.model.formats.ntriples import read_lines
from tidings.model.terms import DEFAULT_GRAPH

_RESULTS = "application/sparql-results+json"
_TRIPLES = "application/n-triples"
_NO_KEYWORDS = re.compile(r"<[^<>\s]*>|#[^\r\n]*")
_FORM = re.compile(r"(?<![\w:?$-])(SELECT|ASK|CONSTRUCT|DESCRIBE)(?![\w:-])", re.IGNORECASE)


class OverHttp:
    """Queries go to one address, updates to another. `form` sends them as forms, else their bare text is the body;
    the parameters are sent with every one of them."""

    def __init__(
        self,
        query_url: str,
        update_url: str,
        *,
        timeout: float,
        connections: int = 100,
        form: bool = False,
        query_parameters: Mapping[str, str] | None = None,
        update_parameters: Mapping[str, str] | None = None,
    ) -> None:
        self._query_url = query_url
        self._update_url = update_url
        self._timeout = timeout
        self._connections = connections
        self._form = form
        self._query_parameters = dict(query_parameters or {})
        self._update_parameters = dict(update_parameters or {})
        self._client: AsyncHttpClient | None = None
        self.server = ""
        """The Server header of its answers, once there is one."""

    async def open(self) -> None:
        """Connect, and check that the target answers queries."""
        self._client = AsyncHttpClient(seconds=self._timeout, connections=self._connections)
        await self.query("ASK {}")

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()
            self._client = None

    async def update(self, text: str) -> None:
        await self._send("update", self._update_url, text, "*/*", self._update_parameters)

    async def query(self, text: str) -> list[Row]:
        """The solutions, the boolean, or the triples of CONSTRUCT and DESCRIBE."""
        answer = await self._send("query", self._query_url, text, _accept(text), self._query_parameters)
        if answer.headers.get("content-type", "").startswith(_TRIPLES):
            return _triples(answer.content)
        return read_rows(answer.content)

    async def _send(self, kind: str, url: str, text: str, accept: str, more: Mapping[str, str]) -> httpx.Response:
        client = self._client
        if client is None:
            raise TargetFailed(f"{url} was asked before it was opened, or after it was closed")
        with translated(url):
            if self._form:
                answer = await client.send("POST", url, data={kind: text, **more}, headers={"accept": accept})
            else:
                headers = {"accept": accept, "content-type": f"application/sparql-{kind}"}
                content = text.encode()
                answer = await client.send("POST", url, params=more or None, content=content, headers=headers)
        self.server = answer.headers.get("server", "")
        return answer


def _accept(query: str) -> str:
    """The Accept header for a query, with formats only of its form: Virtuoso would answer CONSTRUCT with a table."""
    form = _FORM.search(_NO_KEYWORDS.sub(" ", query))
    return _TRIPLES if form is not None and form[1].upper() in {"CONSTRUCT", "DESCRIBE"} else _RESULTS


def _triples(document: bytes) -> list[Row]:
    try:
        quads = read_lines([document], quads=False, graph=DEFAULT_GRAPH, blanks=KEEP_LABELS)
        return [(s, p, folded(o)) for s, p, o, _ in quads]
    except RdfSyntaxError as error:
        raise TargetFailed(f"the target answers with what are no triples: {error}") from error
