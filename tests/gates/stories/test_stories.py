"""The same stories over every gate: whatever its protocol, a subscriber ends up with the right answer."""

import asyncio
import functools
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack

import pytest

from gates.stories.conftest import Place
from gates.stories.driver import World, rows, told
from gates.stories.drivers import DRIVERS
from waiting import PATIENCE

pytestmark = pytest.mark.server

each_gate = pytest.mark.parametrize("gate", DRIVERS)
MANY = 60
"""States, each so long that all of them are more than any gate has on its way to a client that takes nothing."""


def story(test: Callable[..., Coroutine[None, None, None]]) -> Callable[..., None]:
    """A story, on the loop that everybody around the broker is on."""

    @functools.wraps(test)
    def run(place: Place, **named: str) -> None:
        async def limited() -> None:
            async with asyncio.timeout(2 * PATIENCE):
                await test(place, **named)

        place.runner.run(limited())

    return run


@each_gate
@story
async def test_a_subscriber_is_told_of_all_that_is_there_and_then_of_what_is_added_and_removed(
    place: Place, gate: str
) -> None:
    world = World()
    async with place.drivers[gate].client(place.broker, world) as client:
        await client.publish("lamp", "on")
        subscription = await client.subscribe()
        assert subscription.answer == rows(("lamp", "on"))
        await client.publish("door", "open")
        await told(subscription, rows(("lamp", "on"), ("door", "open")))
        await client.retract("lamp", "on")
        await told(subscription, rows(("door", "open")))
        await subscription.end()


@each_gate
@story
async def test_nothing_is_told_after_the_end_of_a_subscription(place: Place, gate: str) -> None:
    world = World()
    async with place.drivers[gate].client(place.broker, world) as client:
        ended, other = await client.subscribe(), await client.subscribe()
        await ended.end()
        await client.publish("lamp", "on")
        await told(other, rows(("lamp", "on")))
        assert ended.answer == rows()
        await other.end()


@each_gate
@story
async def test_what_cannot_be_read_is_refused_with_its_code_and_the_client_goes_on(place: Place, gate: str) -> None:
    async with place.drivers[gate].client(place.broker, World()) as client:
        assert await client.refusal() == "sparql_syntax_error"
        await client.publish("lamp", "on")


@each_gate
@story
async def test_a_client_that_comes_back_is_told_what_it_missed(place: Place, gate: str) -> None:
    world = World()
    driver = place.drivers[gate]
    async with driver.client(place.broker, world) as lost:
        await lost.publish("lamp", "on")
        subscription = await lost.subscribe()
    async with driver.client(place.broker, world) as client:
        await client.publish("door", "open")
        await client.retract("lamp", "on")
        resumed = await client.resume(subscription)
        await told(resumed, rows(("door", "open")))
        await resumed.end()


@each_gate
@story
async def test_a_slow_reader_holds_nobody_up_and_has_the_right_answer_in_the_end(place: Place, gate: str) -> None:
    world = World()
    driver = place.drivers[gate]
    async with driver.client(place.broker, world) as slow, driver.client(place.broker, world) as other:
        subscription, state = await slow.subscribe(), "x" * driver.bulk
        await slow.pause()
        for number in range(MANY):
            await other.publish(f"lamp-{number}", state)
        await slow.go_on()
        await told(subscription, rows(*((f"lamp-{number}", state) for number in range(MANY))))


@story
async def test_a_subscriber_of_each_gate_is_told_what_comes_by_each_other_gate(place: Place) -> None:
    world = World()
    states = []
    async with AsyncExitStack() as stack:
        clients = {
            name: await stack.enter_async_context(driver.client(place.broker, world))
            for name, driver in place.drivers.items()
        }
        subscriptions = {name: await client.subscribe() for name, client in clients.items()}
        for name, client in clients.items():
            await client.publish(name, "here")
            states.append((name, "here"))
        for subscription in subscriptions.values():
            await told(subscription, rows(*states))
