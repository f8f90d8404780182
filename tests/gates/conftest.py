"""An HTTP gate before a few quads."""

import pytest

from gates.requests import Gate, gate


@pytest.fixture
def app() -> Gate:
    return gate()
