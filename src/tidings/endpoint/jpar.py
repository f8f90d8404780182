"""Reads SEPA's configuration of an endpoint (JPAR): a JSON document with a host, and paths for queries and updates.

    {"host": "localhost", "sparql11protocol": {"protocol": "http", "port": 8890,
     "query": {"path": "/sparql", "method": "URL_ENCODED_POST"}, "update": {"path": "/sparql", …}}}

Older files have `"ports": {"http": 8890}`, and the paths outside of `sparql11protocol`; these are read as well.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from tidings.model.errors import BadRequest


class BadEndpointFile(BadRequest):
    """A file that does not have the addresses of an endpoint, or cannot be read."""

    code = "bad_endpoint_file"


@dataclass(frozen=True, slots=True)
class Addresses:
    query: str
    update: str


def read_jpar(path: Path) -> Addresses:
    """The addresses in a file. Raises BadEndpointFile."""
    try:
        document = msgspec.json.decode(path.read_bytes())
    except OSError as error:
        raise BadEndpointFile(f"{path} cannot be read: {error.strerror}") from error
    except msgspec.DecodeError as error:
        raise BadEndpointFile(f"{path} is not JSON: {error}") from error
    try:
        return addresses_of(document)
    except BadEndpointFile as error:
        raise BadEndpointFile(f"{path}: {error}") from error


def addresses_of(document: object) -> Addresses:
    """The addresses in a JPAR document. Raises BadEndpointFile."""
    top = _object(document, "the document")
    parameters = top.get("parameters")
    outer = top if parameters is None else _object(parameters, "parameters")
    inner = _object(outer.get("sparql11protocol", outer), "sparql11protocol")
    host = inner.get("host", outer.get("host"))
    if not isinstance(host, str) or not host:
        raise BadEndpointFile("it does not say the host")
    scheme = str(inner.get("protocol", inner.get("scheme", "http"))).lower()
    if scheme not in {"http", "https"}:
        raise BadEndpointFile(f"endpoints are asked over http or https, and not over {scheme}")
    port = _port(inner, outer, scheme)
    base = f"{scheme}://{host}" + ("" if port is None else f":{port}")
    return Addresses(base + _path(inner, outer, "query"), base + _path(inner, outer, "update"))


def _port(inner: Mapping[str, Any], outer: Mapping[str, Any], scheme: str) -> int | None:
    ports = inner.get("ports", outer.get("ports"))
    port = inner.get("port", ports.get(scheme) if isinstance(ports, dict) else None)
    if port is None or port == -1:  # SEPA writes -1 for the default port
        return None
    if not isinstance(port, int) or not 0 < port < 65536:
        raise BadEndpointFile(f"{port} is no port")
    return port


def _path(inner: Mapping[str, Any], outer: Mapping[str, Any], kind: str) -> str:
    said = inner.get(kind)
    path = said.get("path") if isinstance(said, dict) else None
    if path is None:
        paths = outer.get("paths")
        path = paths.get(kind) if isinstance(paths, dict) else outer.get("path")
    if not isinstance(path, str):
        raise BadEndpointFile(f"it does not say the path of {kind}s")
    return path if path.startswith("/") else f"/{path}"


def _object(value: object, what: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise BadEndpointFile(f"{what} is no JSON object")
    return value
