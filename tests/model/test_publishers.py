"""Names of publishers: anything that can be read, within a line, and not for ever."""

import pytest

from tidings.model.errors import BadRequest
from tidings.model.publishers import LONGEST, publisher_name


@pytest.mark.parametrize("name", ["x", "a b", "été 🌞", "http://example.org/sensor/1", "x" * LONGEST, "🌞" * LONGEST])
def test_whatever_can_be_read_is_a_name(name: str) -> None:
    assert publisher_name(name) == name


@pytest.mark.parametrize("name", ["", "  ", "x" * (LONGEST + 1), "a\nb", "a\tb", "\x00", "\x7f", "\u202e", "\ud800"])
def test_what_is_empty_too_long_or_unprintable_is_none(name: str) -> None:
    with pytest.raises(BadRequest, match="1 to 200 characters"):
        publisher_name(name)
