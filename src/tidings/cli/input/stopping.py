"""Handles Ctrl+C and SIGTERM in commands that should end between two batches, not at once."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def stopping(stop: threading.Event) -> Iterator[None]:
    """While the context lasts, the two signals set the event `stop`."""

    def handle(_: int, __: FrameType | None) -> None:
        stop.set()

    former = {kind: signal.signal(kind, handle) for kind in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for kind, handler in former.items():
            signal.signal(kind, handler)
