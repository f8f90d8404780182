"""The seam to whoever has something done while the loop goes on."""

from collections.abc import Coroutine
from typing import Any, Protocol


class Spawn(Protocol):
    """Has something done that has to end before the broker does."""

    def __call__(self, work: Coroutine[Any, Any, None], /) -> object: ...
