"""Requests made up from the OpenAPI description, right and wrong ones: whatever comes, no 5xx, no hang, no leak."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.core.result import Ok

from gates.wire import Broker, serving
from tidings.gates.http.monitoring.openapi import openapi
from waiting import PATIENCE, wait_until

FEW = settings(
    max_examples=6,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
IDLE = {"sessions": 0, "subscriptions": 0}


@cache
def operations() -> list[Any]:
    """All that can be asked."""
    schema = schemathesis.openapi.from_dict(openapi())
    return [
        each
        for found in schema.get_all_operations()
        if isinstance(found, Ok) and (each := found.ok()).method not in {"head", "options"}
    ]


@contextmanager
def opened(folder: Path, kind: str) -> Iterator[tuple[Broker, dict[str, str]]]:
    """A broker, and what to show it."""
    options = ("--grace", "0", *(("--secure",) if kind != "open" else ()))
    with serving(folder, *options) as broker:
        headers: dict[str, str] = {}
        if kind == "administrator":
            secret = (folder / "tidings-data" / "admin.secret").read_text().strip()
            answer = requests.post(f"{broker.http}/oauth/token", auth=("admin", secret), timeout=PATIENCE)
            headers["Authorization"] = f"Bearer {answer.json()['access_token']}"
        yield broker, headers


def look(broker: Broker, headers: dict[str, str]) -> dict[str, int]:
    status = requests.get(f"{broker.http}/status", headers=headers, timeout=PATIENCE).json()
    return {"sessions": status["sessions"], "subscriptions": sum(map(status["subscriptions"].get, ("live", "absent")))}


@pytest.mark.server
@pytest.mark.parametrize("kind", ["open", "stranger", "administrator"])
def test_whatever_is_asked_there_is_an_answer_that_is_no_accident(tmp_path: Path, kind: str) -> None:
    with opened(tmp_path, kind) as (broker, headers), requests.Session() as session:
        for operation in operations():

            @FEW
            @given(case=operation.as_strategy())
            def ask(case: "schemathesis.Case[Any]") -> None:
                sent = case.as_transport_kwargs(base_url=broker.http)
                sent["headers"] = {**sent.get("headers", {}), **headers}
                with session.request(**sent, stream=True, timeout=PATIENCE) as answer:
                    assert answer.status_code < 500, (sent, answer.text)
                    if "event-stream" not in answer.headers.get("content-type", "") and "follow" not in answer.url:
                        assert answer.content is not None

            ask()
            assert requests.get(f"{broker.http}/healthz", timeout=PATIENCE).status_code == 200
        if kind != "stranger":
            wait_until(lambda: look(broker, headers) == IDLE)
        assert broker.stop() == 0
