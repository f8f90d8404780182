"""The broker that the clients of other people talk to."""

from collections.abc import Iterator

import pytest

from gates.wire import Broker, serving


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    with serving(tmp_path_factory.mktemp("broker"), "--memory") as broker:
        yield broker


@pytest.fixture
def broker(running: Broker) -> Broker:
    running.update("CLEAR ALL")
    return running
