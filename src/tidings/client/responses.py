"""Headers of HTTP requests, and their responses: documents and errors."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import msgspec

from tidings.client.errors import CannotConnect, ConnectionLost, NoAnswer, NotUnderstood, Refused, unreachable
from tidings.model.publishers import HEADER, publisher_name
from tidings.protocol.errors import UNNAMED, Refusal, decode_error

NO_BROKER = "; it may be no broker"
"""Follows a status without a reason in the message."""


def headers_of(accept: str, publisher: str | None = None) -> httpx.Headers:
    headers = httpx.Headers({"accept": accept}, encoding="utf-8")
    if publisher is not None:
        headers[HEADER] = publisher_name(publisher)
    return headers


def decoded(document: bytes, url: str) -> Any:
    try:
        return msgspec.json.decode(document)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise NotUnderstood(f"what answers at {url} is no broker") from error


@contextmanager
def translated(url: str) -> Iterator[None]:
    """Within this context, errors of httpx become errors of the client."""
    try:
        yield
    except httpx.ConnectTimeout as error:
        raise CannotConnect(f"nobody answers at {url} in time") from error
    except httpx.TimeoutException as error:
        raise NoAnswer(f"{url} did not answer in time") from error
    except (httpx.ConnectError, httpx.UnsupportedProtocol, httpx.InvalidURL) as error:
        raise unreachable("nobody", url, error) from error
    except httpx.HTTPError as error:
        raise ConnectionLost(f"the connection to {url} was lost: {error or type(error).__name__}") from error


def refused(answer: httpx.Response) -> Refused:
    """The error of a response: from the JSON of a broker, otherwise with the first line of the text."""
    found = decode_error(answer.content, answer.status_code)
    if found is not None:
        return Refused(found)
    is_page = "html" in answer.headers.get("content-type", "")
    line = "" if is_page else answer.text.strip().partition("\n")[0][:500]
    text = f"{answer.url} answers with status {answer.status_code}{f': {line}' if line else NO_BROKER}"
    return Refused(Refusal(UNNAMED, answer.status_code, text))
