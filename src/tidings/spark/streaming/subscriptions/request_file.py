"""Writes the file of requests: a line for each subscription that begins, and one for each that ends.

When most of its lines are obsolete, the file is rewritten, atomically.
"""

import sys
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

import msgspec

from tidings.log.layout import write_whole
from tidings.spark.streaming.errors import StreamUnusable
from tidings.spark.streaming.subscriptions.requests import FileRequests, SubscriptionRequest

NAME = "wanted.jsonl"
LINES = 1_000
"""A file with up to this many lines is not rewritten."""


class RequestFile:
    """Tells the job that writes to a folder which subscriptions it has. One process writes the file; methods block."""

    def __init__(self, out: Path) -> None:
        self._path = out / NAME
        self._requests: dict[str, SubscriptionRequest] = {}
        self._lines = sys.maxsize
        """How many lines the file has; a very large number if that is unknown, so that the file is rewritten."""

    def read(self) -> Collection[str]:
        """The spuids of the subscriptions in the file. Raises StreamUnusable."""
        return FileRequests(self._path).read() or () if self._path.exists() else ()

    def begin(self, requests: Iterable[SubscriptionRequest]) -> None:
        """Replace the content of the file with these requests. Raises StreamUnusable."""
        self._requests = {request.spuid: request for request in requests}
        self.add(())

    def add(self, changes: Sequence[SubscriptionRequest]) -> None:
        """Add requests that begin or end subscriptions. Repeating a call changes nothing. Raises StreamUnusable."""
        for request in changes:
            if request.ended:
                self._requests.pop(request.spuid, None)
            else:
                self._requests[request.spuid] = request
        whole = self._lines + len(changes) > max(LINES, 2 * len(self._requests))
        try:
            if whole:
                write_whole(self._path, _lines(self._requests.values()))
            else:
                with self._path.open("ab") as file:
                    file.write(_lines(changes))
        except OSError as error:
            self._lines = sys.maxsize  # the file may have an incomplete line now
            raise StreamUnusable(f"{self._path} cannot be written: {error.strerror}") from error
        self._lines = len(self._requests) if whole else self._lines + len(changes)


def _lines(requests: Iterable[SubscriptionRequest]) -> bytes:
    return b"".join(msgspec.json.encode(request) + b"\n" for request in requests)
