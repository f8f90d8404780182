"""A broker with an authority in a process of its own: registers one client after the other, and says so on stdout.

python registrar.py FOLDER FIRST
"""

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tidings.broker.broker import Broker
from tidings.log.folder import Folder
from tidings.security.authority import Authority, vault_of
from tidings.security.settings import read_settings
from tidings.server import brokers
from tidings.server.config import Settings

SECURITY = """
issuer = "https://broker.example.org"
tokens = {algorithm = "Ed25519"}
hashes = {passes = 1, kibibytes = 8, lanes = 1}
identity = [{identity = "*"}]
"""


async def _nowhere(url: str) -> Any:
    raise AssertionError(f"nobody asked for {url}")


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[tuple[Broker, Authority]]:
    """What a folder holds."""
    with Folder(folder) as locked:
        settings = Settings(segment_size=4_000, snapshot_every=20_000)
        broker = brokers.open_broker(settings, locked.path, print)
        authority = Authority(
            read_settings(SECURITY),
            broker.facts,
            vault_of(locked.path),
            _nowhere,
            clock=brokers.clock,
            monotonic=time.monotonic,
        )
        for kinds, keeper in authority.keepers():
            broker.facts.keep(kinds, keeper)
        try:
            async with broker:
                await authority.begin()
                yield broker, authority
        finally:
            authority.close()


async def main(folder: Path, number: int) -> None:
    async with opened(folder) as (broker, authority):
        while True:
            registered = await authority.credentials.register(f"client-{number}")
            acknowledged = {"client": registered.client.id, "secret": registered.secret}
            sys.stdout.write(json.dumps(acknowledged) + "\n")
            sys.stdout.flush()
            await broker.update(f"INSERT DATA {{ <client-{number}> <is> {number} }}")
            number += 1


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
