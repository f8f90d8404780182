"""A producer that waits for a broker that is not reachable, as aggregators do."""

import asyncio
from typing import Any

from tidings.client import CannotConnect, Committed, ConnectionLost, NoAnswer, Producer, Refused

_FIRST_PAUSE = 0.05
_LONGEST_PAUSE = 2.0
_BUSY = {429, 503}


class Patient(Producer):
    """Repeats an update until it succeeds. It is executed at least once, because the answer to an attempt may get
    lost."""

    waits = 0

    async def __call__(self, **values: Any) -> Committed | None:
        pause = _FIRST_PAUSE
        while True:
            try:
                return await super().__call__(**values)
            except (CannotConnect, ConnectionLost, NoAnswer):
                pass
            except Refused as error:
                if error.status not in _BUSY:
                    raise
            self.waits += 1
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
