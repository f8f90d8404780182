"""Channels: the subscriptions of MQTT clients as facts of the log. Each has a lease, because the gate cannot see
whether a client is still there.

    channel   the last level of its topic, <prefix>/subscriptions/<channel>: the first spuid of the subscription

After a restart of the broker, the gate goes on with all channels.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from msgspec import Struct, structs

from tidings.broker.durability.facts import Facts
from tidings.log.entry import Note
from tidings.protocol.echo import Alias, Echo
from tidings.protocol.messages import Graphs, Subscribe

_KEPT = "mqtt_subscription"
_GONE = "mqtt_unsubscribed"


class Channel(Struct, frozen=True):
    """One of them."""

    name: str
    spuid: str
    sparql: str
    default: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    alias: Alias = None
    lease: float = 0.0
    """Seconds; 0 is for ever."""
    expires: int | None = None
    """In microseconds since 1970."""
    retained: bool = False
    """Whether its first answer was."""

    def asked(self) -> Subscribe:
        """What began it, to begin it anew."""
        return Subscribe(self.sparql, Graphs(self.default, self.named), Echo(self.alias))

    def renewed(self, now: int) -> "Channel":
        return structs.replace(self, expires=None if not self.lease else now + round(self.lease * 1_000_000))


class Channels:
    """All of them; a keeper of facts."""

    KINDS = (_KEPT, _GONE)

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._by_name: dict[str, Channel] = {}
        self._by_spuid: dict[str, str] = {}

    def __len__(self) -> int:
        return len(self._by_name)

    def __iter__(self) -> Iterator[Channel]:
        return iter(list(self._by_name.values()))

    def of(self, spuid: str) -> Channel | None:
        """By the name that its subscription has now, or had at first."""
        return self._by_name.get(self._by_spuid.get(spuid, spuid))

    def expired(self, now: int) -> list[Channel]:
        return [each for each in self._by_name.values() if each.expires is not None and each.expires <= now]

    async def keep(self, channel: Channel) -> None:
        """Until it is durable. Raises what keeps it from being so."""
        await self._facts.write(Note(_KEPT, msgspec.to_builtins(channel)))

    async def end(self, channel: Channel) -> None:
        await self._facts.write(Note(_GONE, {"name": channel.name}))

    # -- for the facts ------------------------------------------------------------------------------------------

    def restore(self, note: Note) -> None:
        if note.kind == _GONE:
            self._forget(note.content["name"])
            return
        channel = msgspec.convert(note.content, Channel)
        self._forget(channel.name)
        self._by_name[channel.name] = channel
        self._by_spuid[channel.spuid] = channel.name

    def notes(self) -> Iterable[Note]:
        return [Note(_KEPT, _plain(each)) for each in self._by_name.values()]

    def _forget(self, name: str) -> None:
        former = self._by_name.pop(name, None)
        if former is not None:
            self._by_spuid.pop(former.spuid, None)


def _plain(channel: Channel) -> dict[str, Any]:
    content: dict[str, Any] = msgspec.to_builtins(channel)
    return content
