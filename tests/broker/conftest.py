"""No power is cut in these tests, so nobody waits for the disk."""

import os
from collections.abc import Iterator

import pytest

from broker.making import Clock


@pytest.fixture(autouse=True, scope="session")
def _no_waiting_for_the_disk() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda file: None)
        yield


@pytest.fixture
def clock() -> Clock:
    return Clock()
