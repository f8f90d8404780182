"""A connection to an MQTT broker that ends cleanly, even if its task is cancelled at any moment."""

import asyncio
import errno
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import aiomqtt

MOST_WAITING = 10_000
"""The most messages that wait to be processed; further ones are dropped."""


async def end(*tasks: asyncio.Task[None]) -> None:
    """Cancel tasks until they have ended: `asyncio.wait_for`, which the MQTT client uses, may lose a cancellation."""
    waiting = set(tasks)
    while waiting:
        for task in waiting:
            task.cancel()
        _, waiting = await asyncio.wait(waiting, timeout=1.0)
    await asyncio.gather(*tasks, return_exceptions=True)


def forgive_closed_sockets(loop: asyncio.AbstractEventLoop) -> None:
    """Ignore the error when the MQTT client lets the loop watch a socket that is closed already: it connects again."""

    def handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if not (isinstance(error, OSError) and error.errno == errno.EBADF):
            loop.default_exception_handler(context)

    loop.set_exception_handler(handle)


@asynccontextmanager
async def mqtt_connected(host: str, port: int) -> AsyncIterator[aiomqtt.Client]:
    """A connected client. Raises MqttError if the broker is not reachable, or the connection breaks.

    The client's own context manager leaks the socket if it is cancelled while it connects, and loses a cancellation if
    it cannot disconnect from the broker.
    """
    client = aiomqtt.Client(host, port, max_queued_incoming_messages=MOST_WAITING)
    opening = asyncio.ensure_future(client.__aenter__())
    try:
        await asyncio.shield(opening)
        yield client
    finally:
        with suppress(aiomqtt.MqttError):
            await opening
            await client.__aexit__(None, None, None)
            await anext(client.messages)  # raises the error of the connection; asyncio warns if it is never retrieved
