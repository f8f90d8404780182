"""The conversation of the MQTT gate without an MQTT broker: messages go in, publications come out."""

import asyncio
import json
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from gates.client import Message as Answer
from gates.doors import built
from tidings.broker.broker import Broker
from tidings.gates.gate import Counts
from tidings.gates.mqtt.channels import Channels
from tidings.gates.mqtt.conversation import Conversation
from tidings.gates.mqtt.line import Line
from tidings.gates.mqtt.mapping import Mapped
from tidings.gates.mqtt.messages import Message, Publication
from tidings.gates.mqtt.subscriptions import Subscriptions
from tidings.gates.premises import Premises
from tidings.server import gates
from waiting import until

PREFIX = "tidings"
REPLY = "answers/me"


class Talk:
    """All that is said, and all that was acknowledged."""

    def __init__(self, premises: Premises, mapped: Mapped, lease: float) -> None:
        self.broker: Broker = premises.broker
        self.counts = Counts()
        self.sent: list[Publication] = []
        self.acknowledged: list[int] = []
        self.tasks: set[asyncio.Task[None]] = set()
        self.channels = Channels(premises.broker.facts)
        premises.broker.facts.keep(Channels.KINDS, self.channels)
        topic = f"{PREFIX}/subscriptions/"
        self.subscriptions = Subscriptions(
            premises, self.counts, self.channels, self.sent.append, topic=topic, shown=None, lease=lease
        )
        self.conversation = Conversation(
            premises, self.subscriptions, mapped, self.sent.append, self._spawn, prefix=PREFIX
        )
        self.line = Line(self.conversation.serve, self.acknowledged.append, asyncio.get_running_loop().call_later)
        self._token = 0

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        self.tasks.add(task := asyncio.get_running_loop().create_task(work))
        task.add_done_callback(self.tasks.discard)

    def put(self, topic: str, payload: bytes | str, reply: str | None = REPLY, correlation: bytes | None = None) -> int:
        """A message comes; its token."""
        self._token += 1
        content = payload.encode() if isinstance(payload, str) else payload
        self.line.put(Message(topic, content, reply, correlation, self._token))
        return self._token

    async def done(self, token: int | None = None) -> None:
        """Until a message, or everything, was acknowledged and is done with."""
        last = self._token if token is None else token
        await until(lambda: last in self.acknowledged and not self.tasks and not len(self.line))

    async def ask(self, kind: str, content: str | dict[str, Any]) -> Answer:
        before = len(self.sent)
        payload = content if isinstance(content, str) else json.dumps(content)
        await self.done(self.put(f"{PREFIX}/{kind}", payload, correlation=b"7"))
        answers = [each for each in self.sent[before:] if each.topic == REPLY]
        assert [each.correlation for each in answers] == [b"7"]
        document = json.loads(answers[0].payload)
        assert isinstance(document, dict)
        return document

    def told(self, channel: str) -> list[Answer]:
        """What was said on the topic of a subscription."""
        topic = f"{PREFIX}/subscriptions/{channel}"
        return [json.loads(each.payload) for each in self.sent if each.topic == topic and each.payload]


@asynccontextmanager
async def talking(mapped: Mapped | None = None, lease: float = 0.0, **changes: Any) -> AsyncIterator[Talk]:
    async with built(**changes) as (broker, _, settings):
        premises = gates.premises(broker, settings, None, gates.client_quotas(settings))
        talk = Talk(premises, mapped or Mapped(), lease)
        yield talk
        talk.subscriptions.caller.leave()
