"""An HTTP connection that has to say what it wants within some seconds.

uvicorn waits for ever for the end of the headers; a client that sends them byte by byte would hold its connection for
as long as it likes.
"""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEADER_SECONDS = 15.0


class PatientProtocol(HttpToolsProtocol):
    """Closes a connection whose headers do not come."""

    patience: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._wait()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        if self.patience is None:
            self._wait()

    def on_headers_complete(self) -> None:
        self._stop()
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self.patience = self.loop.call_later(HEADER_SECONDS, self._give_up)

    def _stop(self) -> None:
        if self.patience is not None:
            self.patience.cancel()
            self.patience = None

    def _give_up(self) -> None:
        if not self.transport.is_closing():
            self.transport.close()
