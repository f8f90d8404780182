"""HTTP without TLS: to load the authorities of the system, as every client does, takes longer than most requests."""

from typing import Any

import httpx

from waiting import PATIENCE

calls = httpx.Client(verify=False, timeout=PATIENCE, limits=httpx.Limits(max_keepalive_connections=0))
"""For single requests, each over a connection of its own."""


def client(**options: Any) -> httpx.Client:
    return httpx.Client(**{"verify": False, "timeout": PATIENCE} | options)


def async_client(**options: Any) -> httpx.AsyncClient:
    return httpx.AsyncClient(**{"verify": False, "timeout": PATIENCE} | options)
