"""A first answer that a fork finds, because it takes longer than the loop may be held, is whole over every gate."""

from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from gates.stories.conftest import OPTIONS
from gates.stories.driver import World, rows, told
from gates.stories.drivers import DRIVERS
from gates.wire import serving
from waiting import asynchronous

pytestmark = pytest.mark.server


@asynchronous
async def test_a_first_answer_that_takes_long_is_whole_over_every_gate(tmp_path: Path) -> None:
    drivers = {name: make() for name, make in DRIVERS.items()}
    async with AsyncExitStack() as around:
        flags = [flag for each in drivers.values() for flag in await around.enter_async_context(each.around())]
        with serving(tmp_path, *OPTIONS, *flags, "--slice", "0.000001") as broker:
            for name, driver in drivers.items():
                world = World()
                async with driver.client(broker, world) as client:
                    await client.publish("lamp", "on")
                    subscription = await client.subscribe()
                    assert subscription.answer == rows(("lamp", "on")), name
                    await client.publish("door", "open")
                    await told(subscription, rows(("lamp", "on"), ("door", "open")))
