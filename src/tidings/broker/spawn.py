"""The interface for starting a task in the broker's task group."""

from collections.abc import Coroutine
from typing import Any, Protocol


class Spawn(Protocol):
    """Starts a task that must end before the broker does."""

    def __call__(self, work: Coroutine[Any, Any, None], /) -> object: ...
