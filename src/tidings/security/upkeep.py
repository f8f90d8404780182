"""Periodic work while a broker runs: writing the audit log, and rotating keys."""

import asyncio
import logging
from typing import Protocol

from tidings.model.errors import TidingsError

PAUSE = 1.0
"""Seconds between two looks; what is in the audit log is at most so much behind."""
_ROUNDS = 60
"""Looks between two at the keys."""

log = logging.getLogger("tidings")


class Tidy(Protocol):
    async def tidy(self) -> None:
        """Change what is due. Raises TidingsError."""


class Written(Protocol):
    def write(self) -> None:
        """Write what waits; may take its time."""


async def upkeep(authority: Tidy, audit: Written, pause: float = PAUSE) -> None:
    """Work until cancelled; then write the events that wait. If rotating a key fails, try it again."""
    rounds = 0
    try:
        while True:
            await asyncio.sleep(pause)
            await asyncio.to_thread(audit.write)
            rounds += 1
            if rounds % _ROUNDS == 0:
                try:
                    await authority.tidy()
                except TidingsError as error:
                    log.error("the broker cannot rotate its signing keys: %s", error)  # noqa: TRY400
    finally:
        audit.write()
