"""The broker that proxies stand before and Prometheus asks."""

from collections.abc import Iterator

import pytest

from gates.wire import Broker, serving


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    with serving(tmp_path_factory.mktemp("broker"), "--trusted-proxies", "127.0.0.1") as running:
        yield running
