"""Calls to a broker over HTTP: what it answers, as JSON or as it comes, and its refusals as errors."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import Any

import httpx

from tidings.client.credentials import without_credentials
from tidings.client.errors import CannotConnect, ConnectionLost, NoAnswer, NotUnderstood, Refused
from tidings.model.publishers import HEADER, publisher_name

PATIENCE = 60.0
"""Seconds that an answer may take, unless the call says otherwise."""
_CONNECT = 10.0


class Calls:
    """The HTTP side of one broker, for `with`."""

    def __init__(self, url: str, *, seconds: float | None = None, endless: bool = False) -> None:
        self.url, headers = without_credentials(url)
        self._seconds = seconds or PATIENCE
        limits = httpx.Timeout(None if endless else self._seconds, connect=min(_CONNECT, self._seconds))
        self._client = httpx.Client(timeout=limits, headers=headers)

    def __enter__(self) -> "Calls":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()

    def json(self, path: str, method: str = "GET", **sent: Any) -> Any:
        """The document at a path."""
        with self.streamed(path, method, **sent) as chunks:
            document = b"".join(chunks)
        try:
            return httpx.Response(200, content=document).json()
        except ValueError as error:
            raise NotUnderstood(f"what answers at {self.url} is no broker") from error

    def pages(self, path: str, member: str) -> Iterator[dict[str, Any]]:
        """The items of a list that comes in pages; the first has been asked for when this returns."""
        return self._items(path, member, self._page(path, member))

    def _items(self, path: str, member: str, page: dict[str, Any]) -> Iterator[dict[str, Any]]:
        yield from page[member]
        while "after" in page:
            page = self._page(path, member, after=page["after"])
            yield from page[member]

    def _page(self, path: str, member: str, **more: str) -> dict[str, Any]:
        page = self.json(path, params={"limit": "1000", **more})
        if not isinstance(page, dict) or not isinstance(page.get(member), list):
            raise NotUnderstood(f"what answers at {self.url} is no broker")
        return page

    @contextmanager
    def streamed(
        self,
        path: str,
        method: str = "GET",
        *,
        params: Mapping[str, Any] | None = None,
        form: Mapping[str, Any] | None = None,
        accept: str = "application/json",
        publisher: str | None = None,
    ) -> Iterator[Iterator[bytes]]:
        """The bytes of an answer, as they come. Raises Refused, CannotConnect, NoAnswer, ConnectionLost."""
        begun = False
        headers = httpx.Headers({"accept": accept}, encoding="utf-8")
        if publisher is not None:
            headers[HEADER] = publisher_name(publisher)
        try:
            with self._client.stream(method, f"{self.url}{path}", params=params, data=form, headers=headers) as answer:
                begun = True
                if not answer.is_success:
                    answer.read()
                    raise Refused(_said(answer))
                yield answer.iter_bytes()
        except httpx.TimeoutException as error:
            what = "takes too long" if begun else f"does not answer within {self._seconds:g} s"
            raise NoAnswer(f"the broker at {self.url} {what}") from error
        except (httpx.TransportError, httpx.InvalidURL) as error:
            if begun:
                raise ConnectionLost(f"the broker at {self.url} ended its answer in the middle") from error
            raise CannotConnect(f"no broker answers at {self.url}: {error}") from error


def _said(answer: httpx.Response) -> dict[str, Any]:
    """What the broker, or whoever answers there, says about an error."""
    try:
        details = answer.json()
    except ValueError:
        details = None
    if isinstance(details, dict) and isinstance(details.get("error"), str):
        return details
    text = f"{answer.url} answers with status {answer.status_code}; it may not be a broker"
    return {"error": "refused", "status_code": answer.status_code, "error_description": text}
