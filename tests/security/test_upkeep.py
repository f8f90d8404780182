"""While a broker runs, its audit log is written and its keys are looked after, whatever goes wrong meanwhile."""

import asyncio
import contextlib

import pytest

from tidings.security.errors import KeysUnusable
from tidings.security.upkeep import upkeep
from waiting import asynchronous, until


class Chores:
    def __init__(self) -> None:
        self.tidied = 0
        self.written = 0

    async def tidy(self) -> None:
        self.tidied += 1
        raise KeysUnusable("the disk is full")

    def write(self) -> None:
        self.written += 1


@asynchronous
async def test_chores_are_done_again_and_again_and_once_more_at_the_end(caplog: pytest.LogCaptureFixture) -> None:
    chores = Chores()
    task = asyncio.create_task(upkeep(chores, chores, pause=0.0))
    await until(lambda: chores.tidied >= 2)
    before = chores.written
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
    assert chores.written > before
    assert "the disk is full" in caplog.text
