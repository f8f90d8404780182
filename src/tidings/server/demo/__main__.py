"""`python -m tidings.server.demo --http URL --ws URL`: the city, until stdin ends. Started by `companion`."""

import asyncio
import signal
import sys
from argparse import ArgumentParser
from contextlib import suppress

from tidings.client import Jsap
from tidings.server.demo.life import live_on
from tidings.server.demo.lighting import profile_at


async def _until_told(profile: Jsap) -> None:
    loop = asyncio.get_running_loop()
    life = loop.create_task(live_on(profile))

    def end() -> None:
        loop.remove_reader(sys.stdin)
        life.cancel()

    loop.add_reader(sys.stdin, end)  # the broker writes nothing to this pipe, so it becomes readable when the pipe ends
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, end)
    with suppress(asyncio.CancelledError):
        await life


def main() -> None:
    parser = ArgumentParser("tidings.server.demo", description=__doc__)
    parser.add_argument("--http", required=True)
    parser.add_argument("--ws", required=True)
    arguments = parser.parse_args()
    asyncio.run(_until_told(profile_at(arguments.http, arguments.ws)))


if __name__ == "__main__":
    main()
