"""Tells agents that listen that a watched answer has changed, by one subscription for each watch.

It does not tell the changes; the agent asks for them when it has time.
"""

import logging
from collections.abc import Callable
from contextlib import suppress
from hashlib import blake2b
from urllib.parse import quote

from tidings.broker.subscriptions.subscriber import Origin, Parcel, Subscriber
from tidings.gates.asking import Resident
from tidings.gates.caller import Caller
from tidings.gates.gate import Counts
from tidings.gates.mcp.watches import Key, Watch
from tidings.gates.premises import Premises
from tidings.model.errors import NotFound, TidingsError

log = logging.getLogger("tidings")


def address_of(owner: str | None, name: str) -> str:
    """The address of a watch as a resource; those of others cannot be told from it."""
    whose = "" if owner is None else blake2b(owner.encode(), digest_size=6).hexdigest() + "/"
    return f"tidings://watches/{whose}{quote(name, safe='')}"


class Watching:
    """All subscriptions, while the broker runs. `tell` is called with the address of what has changed."""

    def __init__(self, premises: Premises, tell: Callable[[str], None]) -> None:
        self._premises = premises
        self._tell = tell
        self._live: dict[Key, Live] = {}
        self.counts = Counts()

    def __len__(self) -> int:
        return len(self._live)

    async def begin(self, watch: Watch) -> None:
        """Raises what speaks against the subscription."""
        key = (watch.owner, watch.name)
        await self.end(key)
        live = self._live[key] = Live(self._premises, watch, self._tell, self.counts)
        try:
            await live.begin(watch.text)
        except BaseException:
            await self.end(key)
            raise

    async def end(self, key: Key) -> None:
        live = self._live.pop(key, None)
        if live is not None:
            await live.end()

    async def resume(self, watches: list[Watch]) -> None:
        """At the start: whatever was watched is watched again."""
        for watch in watches:
            try:
                await self.begin(watch)
            except TidingsError as error:
                log.warning("the watch %s of an agent cannot be followed: %s", watch.name, error)

    def leave(self) -> None:
        """At the end; nothing is forgotten."""
        for live in self._live.values():
            live.caller.leave()
        self._live.clear()


class Live:
    """The subscription of one watch."""

    def __init__(self, premises: Premises, watch: Watch, tell: Callable[[str], None], counts: Counts) -> None:
        self._address = address_of(watch.owner, watch.name)
        self._tell = tell
        self._counts = counts
        self.spuid: str | None = None
        shown = None if watch.owner is None else Resident(watch.owner)
        self.caller = Caller(premises, self, counts, shown=shown, origin=Origin("mcp"))

    async def begin(self, text: str) -> None:
        self.spuid = (await self.caller.subscribe(text, None, _nothing)).spuid

    async def end(self) -> None:
        if self.spuid is not None:
            with suppress(NotFound):  # it may have ended already
                await self.caller.unsubscribe(self.spuid)
        self.caller.leave()

    def deliver(self, subscriber: Subscriber, sequence: int, parcel: Parcel) -> None:
        self._counts.notifications += 1
        self._tell(self._address)

    def dismiss(self, subscriber: Subscriber, reason: str, code: int) -> None:
        self.spuid = None
        self._tell(self._address)

    def close(self, code: int, reason: str) -> None:
        self._tell(self._address)


def _nothing(subscriber: Subscriber, parcel: Parcel, resumed: bool | None) -> None:
    """Ignores the first answer of a subscription: the request that began the watch has returned it."""
