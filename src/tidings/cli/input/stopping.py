"""Ctrl+C and SIGTERM for what is to end at a good moment, and not at once."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def stopping(stop: threading.Event) -> Iterator[None]:
    """Ctrl+C and SIGTERM end it between two batches."""

    def handle(_: int, __: FrameType | None) -> None:
        stop.set()

    former = {kind: signal.signal(kind, handle) for kind in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for kind, handler in former.items():
            signal.signal(kind, handler)
