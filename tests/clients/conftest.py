"""The brokers that the clients of other people talk to."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from clients import sepa_js
from clients.secured import SecuredBroker, secured
from gates.wire import Broker, serving
from tls.house import Certificates


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    with serving(tmp_path_factory.mktemp("broker"), "--memory") as broker:
        yield broker


@pytest.fixture
def broker(running: Broker) -> Broker:
    running.update("CLEAR ALL")
    return running


@pytest.fixture(scope="session")
def secure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredBroker]:
    certificates = Certificates.made(tmp_path_factory.mktemp("certificates") / "made")
    with secured(tmp_path_factory.mktemp("secured"), certificates) as broker:
        yield broker


@pytest.fixture(scope="session")
def node() -> str:
    return sepa_js.node()


@pytest.fixture(scope="session")
def modules(node: str) -> Path:
    return sepa_js.install(node)
