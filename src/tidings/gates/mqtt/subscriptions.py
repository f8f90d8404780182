"""The subscriptions of MQTT clients: begins, resumes, notifies and ends them, all over the one session of the gate.

Notifications go to `<prefix>/subscriptions/<channel>` in the form of the Subscribe language. By sequence and commit, a
client recognises a repetition, or a gap, after which it resumes. The gate sends the first answer once the channel is
durable, and holds back changes until then.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import islice
from typing import TypeAlias

from msgspec import structs

from tidings.broker.broker import Broker
from tidings.broker.errors import UnknownSubscription
from tidings.broker.subscriptions.subscriber import UNKNOWN, Origin, Parcel, Subscriber
from tidings.gates.answers import body_of, encode_body, first_answer, head_of
from tidings.gates.asking import Shown
from tidings.gates.caller import Caller
from tidings.gates.gate import Counts
from tidings.gates.mqtt.channels import Channel, Channels
from tidings.gates.mqtt.messages import Extras, Publication
from tidings.gates.premises import Premises
from tidings.model.errors import NotFound, TidingsError
from tidings.protocol.answers import Unsubscribed, encode
from tidings.protocol.messages import Resume, Subscribe
from tidings.protocol.notifications import SPLICE

AT_ONCE = 100
"""Subscriptions that are taken up at a time."""

Reply: TypeAlias = Callable[[bytes], None]

log = logging.getLogger("tidings")


class Subscriptions:
    """`send` takes a publication, and does not wait; `topic` is what channels are below."""

    def __init__(
        self,
        premises: Premises,
        counts: Counts,
        channels: Channels,
        send: Callable[[Publication], None],
        *,
        topic: str,
        shown: Shown,
        lease: float,
    ) -> None:
        self._premises = premises
        self._broker: Broker = premises.broker
        self._counts = counts
        self._channels = channels
        self._send = send
        self._topic = topic
        self._shown = shown
        self._lease = lease
        self._held: dict[str, list[Publication]] = {}
        """Notifications that wait until their channel is durable, by spuid."""
        self.lost = asyncio.Event()
        """The broker has closed the session of the gate: all channels have to be resumed over another one."""
        self.caller = self._new_caller()

    def _new_caller(self) -> Caller:
        return Caller(self._premises, self, self._counts, shown=self._shown, where="mqtt", origin=Origin("mqtt"))

    # -- for clients --------------------------------------------------------------------------------------------

    async def subscribe(self, request: Subscribe, extras: Extras, reply: Reply) -> None:
        """Begin a subscription. Raises the error if the broker refuses it."""
        lease = self._lease if extras.lease is None else min(extras.lease, self._lease or extras.lease)

        def channel_of(spuid: str) -> Channel:
            graphs = request.graphs
            channel = Channel(
                spuid, spuid, request.sparql, graphs.default, graphs.named, request.echo.alias, lease,
                retained=extras.retain,
            )  # fmt: skip
            return channel.renewed(self._broker.now())

        firsts: list[bytes] = []

        def begun(subscriber: Subscriber, parcel: Parcel, resumed: bool | None) -> None:
            firsts.append(first_answer(subscriber, parcel, resumed))
            self._held[subscriber.spuid] = []

        dataset = request.graphs.dataset(self._premises.base)
        subscriber = await self.caller.subscribe(request.sparql, dataset, begun, request.echo.alias, encode_body)
        await self._keep(channel_of(subscriber.spuid))
        if extras.retain:
            self._send(Publication(self._topic + subscriber.spuid, firsts[0], retain=True))
        reply(firsts[0])
        self._release(subscriber.spuid)

    async def resume(self, request: Resume, extras: Extras, reply: Reply) -> None:
        """Go on with one; its lease begins anew. Raises what speaks against it."""
        channel = self._channels.of(request.spuid)
        if channel is None:
            if request.otherwise is None:
                raise UnknownSubscription(f"there is no subscription {request.spuid} over MQTT")
            await self.subscribe(request.otherwise, extras, reply)
            return
        await self._take_up(channel, request.spuid, request.sequence, reply)

    async def unsubscribe(self, spuid: str) -> None:
        """End one for good. Raises UnknownSubscription, NotYours."""
        channel = self._channels.of(spuid)
        if channel is None:
            raise UnknownSubscription(f"there is no subscription {spuid} over MQTT")
        await self._end(channel)

    async def _end(self, channel: Channel) -> None:
        with suppress(NotFound):  # which is what was wanted
            await self.caller.unsubscribe(channel.spuid)
        await self._channels.end(channel)
        if channel.retained:
            self._send(Publication(self._topic + channel.name, b"", retain=True))

    async def _take_up(self, channel: Channel, spuid: str, sequence: int, reply: Reply) -> None:
        firsts: list[bytes] = []

        def begun(subscriber: Subscriber, parcel: Parcel, resumed: bool | None) -> None:
            firsts.append(first_answer(subscriber, parcel, bool(resumed)))
            self._held[subscriber.spuid] = []

        subscriber = await self.caller.resume(spuid, sequence, begun, channel.alias, channel.asked(), encode_body)
        await self._keep(structs.replace(channel, spuid=subscriber.spuid).renewed(self._broker.now()))
        reply(firsts[0])
        self._release(subscriber.spuid)

    async def _keep(self, channel: Channel) -> None:
        try:
            await self._channels.keep(channel)
        except TidingsError:
            self._held.pop(channel.spuid, None)
            raise

    def _release(self, spuid: str) -> None:
        for publication in self._held.pop(spuid, ()):
            self._send(publication)

    # -- for the gate -------------------------------------------------------------------------------------------

    async def take_up(self, channels: Iterable[Channel]) -> None:
        """Resume subscriptions after a restart, each after its last sequence. A client that has not seen this sequence
        notices a gap, and resumes itself."""
        rest = iter(channels)
        while some := tuple(islice(rest, AT_ONCE)):
            await asyncio.gather(*(self._take_up_again(channel) for channel in some))

    async def _take_up_again(self, channel: Channel) -> None:
        topic = self._topic + channel.name
        try:
            asker = await self.caller.identify()
            sequence = self._broker.find(channel.spuid, asker.subject, asker.rights).sequence
        except TidingsError:
            sequence = UNKNOWN
        try:
            await self._take_up(channel, channel.spuid, sequence, lambda first: self._send(Publication(topic, first)))
        except TidingsError as error:
            log.warning("the MQTT subscription %s cannot go on: %s", channel.name, error)
            self._send(Publication(topic, encode(Unsubscribed(channel.spuid, channel.alias, str(error)))))
            await self._channels.end(channel)

    async def reopen(self) -> None:
        """Over another session: the broker has let the former one go."""
        self.lost.clear()
        self._held.clear()
        self.caller.leave()
        self.caller = self._new_caller()
        await self.take_up(self._channels)

    async def end_expired(self) -> None:
        for channel in self._channels.expired(self._broker.now()):
            gone = Unsubscribed(channel.spuid, channel.alias, "its lease is over; resume it now and then")
            await self._end(channel)
            self._send(Publication(self._topic + channel.name, encode(gone)))

    # -- for the broker -----------------------------------------------------------------------------------------

    def deliver(self, subscriber: Subscriber, sequence: int, parcel: Parcel) -> None:
        self._counts.notifications += 1
        self._put(subscriber, SPLICE % (head_of(subscriber), sequence, body_of(parcel)))

    def dismiss(self, subscriber: Subscriber, reason: str, code: int) -> None:
        channel = self._channels.of(subscriber.spuid)
        self._put(subscriber, encode(Unsubscribed(subscriber.spuid, subscriber.alias, reason)))
        if channel is not None:
            self._broker.spawn(self._channels.end(channel))

    def close(self, code: int, reason: str) -> None:
        log.warning("the broker has closed the session of the MQTT gate, which resumes its subscriptions: %s", reason)
        self.lost.set()

    def _put(self, subscriber: Subscriber, document: bytes) -> None:
        held = self._held.get(subscriber.spuid)
        channel = self._channels.of(subscriber.spuid)
        publication = Publication(self._topic + (subscriber.spuid if channel is None else channel.name), document)
        if held is None:
            self._send(publication)
        else:
            held.append(publication)
