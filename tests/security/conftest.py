"""Time that passes by hand."""

import pytest

from broker.making import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock()
