"""A lock for threads and for tasks of any event loop.

An identity must not be registered twice at the same time, and a lock of asyncio works within one event loop only.
"""

import asyncio
import threading
from types import TracebackType

from tidings.client.errors import NoAnswer

_PAUSE = 0.01
_PATIENCE = 120.0


class Turn:
    """A lock for `with` and `async with`. Raises NoAnswer after a time limit."""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        if not self._lock.acquire(timeout=_PATIENCE):
            raise NoAnswer("somebody else of this process has been logging in for too long")

    async def __aenter__(self) -> None:
        try:
            async with asyncio.timeout(_PATIENCE):
                while not self._lock.acquire(blocking=False):
                    await asyncio.sleep(_PAUSE)
        except TimeoutError as error:
            raise NoAnswer("somebody else of this process has been logging in for too long") from error

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.release()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.release()
