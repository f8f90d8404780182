"""A client for any SPARQL 1.1 endpoint over HTTP: queries and updates, without subscriptions.

async with Endpoint("http://localhost:8000/query", "http://localhost:8000/update") as store:
    answer = await store.query("SELECT * WHERE { ?s ?p ?o } LIMIT 5")
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from types import TracebackType
from typing import Any

import msgspec

from tidings.client.answers import Answer, Committed, Scheduled, when
from tidings.client.discovery import is_absent, persist, say_waiting
from tidings.client.errors import NotUnderstood
from tidings.client.http import AsyncHttpClient
from tidings.client.login.credentials import Shown
from tidings.client.responses import headers_of
from tidings.client.terms import bound
from tidings.client.trust import SYSTEM, Trust
from tidings.model.errors import ResultsSyntaxError
from tidings.model.formats.results.json import read_json
from tidings.model.publishers import publisher_name

_JSON = "application/sparql-results+json"


class Endpoint:
    """An endpoint with an address for queries and one for updates. `method` is GET (for queries), POST of the plain
    text, or URLENCODED_POST of a form. `wait` is how many seconds the client waits for a store that is not up yet; None
    is without a limit. `publisher` is the name that the log of a broker records for updates. `credentials` are shown at
    the address for queries; at that for updates only if scheme, host and port are the same."""

    def __init__(
        self,
        query_url: str,
        update_url: str | None = None,
        *,
        timeout: float = 30.0,
        wait: float | None = 0.0,
        method: str = "URLENCODED_POST",
        publisher: str | None = None,
        trust: Trust = SYSTEM,
        credentials: Shown | None = None,
    ) -> None:
        self.query_url = query_url
        self.update_url = update_url or query_url
        self._wait = wait
        self._method = method
        self._publisher = None if publisher is None else publisher_name(publisher)
        self._client = AsyncHttpClient(seconds=timeout, trust=trust, broker=query_url, credentials=credentials)

    async def __aenter__(self) -> "Endpoint":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        await self._client.close()

    async def query(
        self,
        text: str,
        *,
        bindings: Mapping[str, Any] | None = None,
        default_graphs: Iterable[str] = (),
        named_graphs: Iterable[str] = (),
    ) -> Answer:
        """The answer to a SELECT or an ASK."""
        form = {
            "query": bound(text, bindings) if bindings else text,
            "default-graph-uri": list(default_graphs),
            "named-graph-uri": list(named_graphs),
        }
        answer = await self._send(self.query_url, form, _JSON)
        try:
            return Answer.of(read_json(answer))
        except ResultsSyntaxError as error:
            raise NotUnderstood(f"{self.query_url} did not answer with SPARQL results in JSON") from error

    async def update(
        self,
        text: str,
        *,
        bindings: Mapping[str, Any] | None = None,
        using_graphs: Iterable[str] = (),
        using_named_graphs: Iterable[str] = (),
    ) -> Committed | None:
        """Execute an update. A broker returns what it did; for a plain store, None means that it succeeded."""
        form = {
            "update": bound(text, bindings) if bindings else text,
            "using-graph-uri": list(using_graphs),
            "using-named-graph-uri": list(using_named_graphs),
        }
        answer = await self._send(self.update_url, form, "application/json, */*;q=0.1")
        try:
            response = msgspec.json.decode(answer)["response"]
            return Committed(response["sequence"], response["time"], response["added"], response["removed"])
        except (msgspec.DecodeError, KeyError, TypeError):
            return None  # not a broker; the status says that the update succeeded

    async def schedule(
        self,
        text: str,
        *,
        at: datetime | int | None = None,
        delay: timedelta | float | None = None,
        bindings: Mapping[str, Any] | None = None,
        using_graphs: Iterable[str] = (),
        using_named_graphs: Iterable[str] = (),
    ) -> Scheduled:
        """Schedule an update at a broker. Raises NotUnderstood for a plain store, which cannot do that."""
        form: dict[str, Any] = {
            "update": bound(text, bindings) if bindings else text,
            "using-graph-uri": list(using_graphs),
            "using-named-graph-uri": list(using_named_graphs),
            **when(at, delay),
        }
        answer = await self._send(self.update_url, form, "application/json")
        try:
            response = msgspec.json.decode(answer)["response"]
            return Scheduled(str(response["delayed"]), int(response["time"]))
        except (msgspec.DecodeError, KeyError, TypeError) as error:
            raise NotUnderstood(f"{self.update_url} does not know how to delay an update") from error

    async def _send(self, url: str, form: dict[str, Any], accept: str) -> bytes:
        """Send a request by one of the three methods of the SPARQL Protocol."""
        kind = "query" if "query" in form else "update"
        headers = headers_of(accept, self._publisher if kind == "update" else None)
        if self._method == "GET" and kind == "query":
            sent: dict[str, Any] = {"method": "GET", "params": form}
        elif self._method == "POST":
            text = form.pop(kind)
            headers["content-type"] = f"application/sparql-{kind}"
            sent = {"method": "POST", "params": form, "content": text}
        else:
            sent = {"method": "POST", "data": form}
        answer = await persist(
            lambda: self._client.send(url=url, headers=headers, **sent), self._wait, is_absent, say_waiting
        )
        return answer.content
