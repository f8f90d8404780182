"""Tests for which equal terms have to be one object."""

import pytest

from tidings.model import terms

interning = pytest.mark.skipif(
    terms.intern is str, reason="CPython 3.12 interns for ever, so nothing is interned there"
)
