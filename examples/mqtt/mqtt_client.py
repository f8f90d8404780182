"""A connection to an MQTT broker that ends cleanly, at whatever moment its task is cancelled."""

import asyncio
import errno
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import aiomqtt

MOST_WAITING = 10_000
"""Messages that have come and are not yet taken; when there are more, they are dropped."""


async def end(*tasks: asyncio.Task[None]) -> None:
    """Cancel tasks until they have ended: `asyncio.wait_for`, which the MQTT client uses, may lose a cancellation."""
    waiting = set(tasks)
    while waiting:
        for task in waiting:
            task.cancel()
        _, waiting = await asyncio.wait(waiting, timeout=1.0)
    await asyncio.gather(*tasks, return_exceptions=True)


def forgive_closed_sockets(loop: asyncio.AbstractEventLoop) -> None:
    """Say nothing when the MQTT client has the loop watch a socket that was closed in between: it connects anew."""

    def handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if not (isinstance(error, OSError) and error.errno == errno.EBADF):
            loop.default_exception_handler(context)

    loop.set_exception_handler(handle)


@asynccontextmanager
async def mqtt_connected(host: str, port: int) -> AsyncIterator[aiomqtt.Client]:
    """Raises MqttError when the broker goes away, or is not there.

    The client's own context manager leaves the socket behind if it is cancelled while it connects, and forgets about a
    cancellation if it cannot say goodbye to the broker.
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
            await anext(
                client.messages
            )  # raises how the connection ended; asyncio complains if nobody has looked at it
