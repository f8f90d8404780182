"""One broker with all gates for the stories of a module: starting it takes longer than telling them."""

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from gates.stories.driver import Driver
from gates.stories.drivers import DRIVERS
from gates.wire import Broker, serving

OPTIONS = ("--outbox", "16K")
"""So that a reader is slow soon."""


@dataclass(frozen=True)
class Place:
    """A broker with all gates, and the loop that its stories run on."""

    broker: Broker
    drivers: dict[str, Driver]
    runner: asyncio.Runner


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    drivers = {name: make() for name, make in DRIVERS.items()}
    folder: Path = tmp_path_factory.mktemp("broker")
    stack = AsyncExitStack()
    with asyncio.Runner() as runner:

        async def begin() -> list[str]:
            return [flag for each in drivers.values() for flag in await stack.enter_async_context(each.around())]

        try:
            flags = runner.run(begin())
            with serving(folder, *OPTIONS, *flags) as broker:
                yield Place(broker, drivers, runner)
        finally:
            runner.run(stack.aclose())
