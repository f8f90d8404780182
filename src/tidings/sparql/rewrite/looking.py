"""Checks the time limit while a plan is made: planning counts towards the limit, as parsing and evaluating do."""

from collections.abc import Callable
from typing import TypeAlias

Look: TypeAlias = Callable[[], None]
"""Called now and then; raises TimeLimitExceeded."""


def unhurried() -> None:
    """For plans without a time limit."""
