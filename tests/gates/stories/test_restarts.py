"""What every gate survives: a broker that is killed, and whoever is between the gate and its clients."""

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from gates.stories.conftest import OPTIONS
from gates.stories.driver import Client, Driver, Subscription, World, rows, told
from gates.stories.drivers import DRIVERS
from gates.wire import Broker, serving
from waiting import PATIENCE, asynchronous

pytestmark = pytest.mark.server


@asynccontextmanager
async def with_drivers() -> AsyncIterator[tuple[dict[str, Driver], list[str]]]:
    """All drivers, and the flags of a broker that is found again where it was."""
    drivers = {name: make() for name, make in DRIVERS.items()}
    async with AsyncExitStack() as stack:
        flags = [flag for each in drivers.values() for flag in await stack.enter_async_context(each.around())]
        yield drivers, [*OPTIONS, *flags]


async def clients_of(
    drivers: dict[str, Driver], broker: Broker, world: World, stack: AsyncExitStack
) -> dict[str, Client]:
    return {name: await stack.enter_async_context(each.client(broker, world)) for name, each in drivers.items()}


@asynchronous
async def test_a_broker_that_is_killed_and_started_again_goes_on_with_all_subscriptions(tmp_path: Path) -> None:
    world = World()
    subscriptions: dict[str, Subscription] = {}
    async with with_drivers() as (drivers, flags):
        async with AsyncExitStack() as stack:
            with serving(tmp_path, *flags) as broker:
                for name, client in (await clients_of(drivers, broker, world, stack)).items():
                    await client.publish(name, "before")
                    subscriptions[name] = await client.subscribe()
                broker.stop(signal.SIGKILL)
        with serving(tmp_path, *flags) as broker:
            broker.update(world.insert("lamp", "on"))
            async with AsyncExitStack() as stack:
                clients = await clients_of(drivers, broker, world, stack)
                states = [("lamp", "on"), *((name, "before") for name in drivers)]
                for name, client in clients.items():
                    subscription = await client.resume(subscriptions[name])
                    await told(subscription, rows(*states))
                    await client.publish(name, "after")
                    states.append((name, "after"))
                    await told(subscription, rows(*states))


@asynchronous
async def test_whoever_is_between_a_gate_and_its_clients_may_be_started_again(tmp_path: Path) -> None:
    world = World()
    async with with_drivers() as (every, flags):
        drivers = {name: driver for name, driver in every.items() if driver.has_peer}
        with serving(tmp_path, *flags) as broker:
            subscriptions: dict[str, Subscription] = {}
            async with AsyncExitStack() as stack:
                for name, client in (await clients_of(drivers, broker, world, stack)).items():
                    subscriptions[name] = await client.subscribe()
            for driver in drivers.values():
                await driver.restart_peer()
            broker.update(world.insert("lamp", "on"))
            async with AsyncExitStack() as stack, asyncio.timeout(4 * PATIENCE):
                for name, client in (await clients_of(drivers, broker, world, stack)).items():
                    subscription = await client.resume(subscriptions[name])
                    await told(subscription, rows(("lamp", "on")))
                    await client.publish("door", name)
                    await told(subscription, rows(("lamp", "on"), ("door", name)))
                    await client.retract("door", name)
