"""Looking at the clock while a plan is made: planning counts towards the time limit, as reading and evaluating do."""

from collections.abc import Callable
from typing import TypeAlias

Look: TypeAlias = Callable[[], None]
"""Called now and then; raises TimeLimitExceeded."""


def unhurried() -> None:
    """For whoever has no time limit."""
