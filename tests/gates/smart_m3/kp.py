"""Knowledge processors without a socket: messages in, messages out, a broker in memory."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from xml.etree import ElementTree

from broker.making import BASE, Clock, in_memory
from tidings.broker.broker import Broker
from tidings.broker.subscriptions.subscriber import Parcel, Subscriber
from tidings.gates.asking import OPEN, Guard
from tidings.gates.caller import Caller
from tidings.gates.gate import Counts
from tidings.gates.premises import Premises
from tidings.gates.quotas import Quota, Quotas
from tidings.gates.smart_m3.connection import SSAP
from tidings.gates.smart_m3.conversation import Conversation, Holders
from tidings.gates.smart_m3.dialects import Dialect
from tidings.gates.smart_m3.memberships import Memberships
from waiting import PATIENCE

NODE = "kp-00000000-0000-4000-8000-000000000000"
ANY = "http://www.nokia.com/NRC/M3/sib#any"


class Space:
    """What all connections to a broker share."""

    def __init__(self, broker: Broker, guard: Guard = OPEN, *, read_only: bool = False) -> None:
        self.premises = Premises(broker, Quotas(Quota(), lambda: 0.0), BASE, guard, read_only)
        self.counts = Counts()
        self.memberships = Memberships()
        self.holders: Holders = {}

    def kp(self, dialect: Dialect = SSAP, where: str = "192.0.2.1") -> "Kp":
        return Kp(self, dialect, where)


class Kp:
    """One connection."""

    def __init__(self, space: Space, dialect: Dialect, where: str) -> None:
        self.heard: asyncio.Queue[bytes] = asyncio.Queue()
        self.caller = Caller(space.premises, self, space.counts, where=where)
        self.conversation = Conversation(
            self.caller, dialect, self.heard.put_nowait, space.memberships, space.holders, base=BASE, where=where
        )

    def deliver(self, subscriber: Subscriber, sequence: int, parcel: Parcel) -> None:
        self.conversation.indicate(subscriber, sequence, parcel)

    def dismiss(self, subscriber: Subscriber, reason: str, code: int) -> None:
        self.conversation.dismiss(subscriber, reason)

    def close(self, code: int, reason: str) -> None:
        raise AssertionError(f"nobody is to be let go here: {code} {reason}")

    async def next(self) -> "Message":
        async with asyncio.timeout(PATIENCE):
            return Message(ElementTree.fromstring(await self.heard.get()))

    async def ask(self, kind: str, *parameters: str, node: str = NODE) -> "Message":
        await self.conversation.hear(request(kind, *parameters, node=node))
        return await self.next()

    async def say(self, kind: str, *parameters: str, transaction: str = "7") -> None:
        await self.conversation.hear(request(kind, *parameters, transaction=transaction))

    async def line(self, **members: Any) -> dict[str, Any]:
        """In JSSAP."""
        await self.conversation.hear(
            json.dumps({"mt": "REQUEST", "tid": 1, "sid": "X", "nid": NODE} | members).encode()
        )
        return await self.next_line()

    async def next_line(self) -> dict[str, Any]:
        async with asyncio.timeout(PATIENCE):
            answer = json.loads(await self.heard.get())
        assert isinstance(answer, dict)
        return answer


class Message:
    """What a KP can read of a message."""

    def __init__(self, root: ElementTree.Element) -> None:
        self.header = {each.tag: each.text or "" for each in root if each.tag != "parameter"}
        self.parameters = {each.get("name", ""): each for each in root.iter("parameter")}

    def text(self, name: str) -> str:
        return self.parameters[name].text or ""

    @property
    def status(self) -> str:
        return self.text("status")

    def triples(self, name: str = "results") -> list[tuple[str, ...]]:
        """Sorted; a literal in quotes, with what is known of it."""
        return sorted(tuple(map(_shown, triple)) for triple in self.parameters[name].iter("triple"))


def _shown(element: ElementTree.Element) -> str:
    text = element.text or ""
    if element.get("type") != "literal":
        return text
    return f'"{text}"' + "".join(value for name, value in element.attrib.items() if name != "type")


def request(kind: str, *parameters: str, node: str = NODE, transaction: str = "7") -> bytes:
    return (
        f"<SSAP_message><node_id>{node}</node_id><space_id>X</space_id><transaction_type>{kind}</transaction_type>"
        f"<message_type>REQUEST</message_type><transaction_id>{transaction}</transaction_id>"
        f"{''.join(parameters)}</SSAP_message>"
    ).encode()


def parameter(name: str, content: str, **attributes: str) -> str:
    said = "".join(f' {key} = "{value}"' for key, value in attributes.items())
    return f'<parameter name = "{name}"{said}>{content}</parameter>'


def triple(s: str, p: str, o: str, kind: str = "URI", subject: str = "URI") -> str:
    return (
        f'<triple><subject type = "{subject}">{s}</subject><predicate>{p}</predicate>'
        f'<object type = "{kind}">{o}</object></triple>'
    )


def triples(*each: str) -> str:
    return f"<triple_list>{''.join(each)}</triple_list>"


def patterns(*each: str) -> str:
    return parameter("type", "RDF-M3") + parameter("query", triples(*each))


def sparql(text: str) -> str:
    return parameter("type", "sparql") + parameter("query", f"<![CDATA[{text}]]>")


def insert(*each: str) -> str:
    return parameter("insert_graph", triples(*each), encoding="RDF-M3")


def remove(*each: str) -> str:
    return parameter("remove_graph", triples(*each), encoding="RDF-M3")


@asynccontextmanager
async def space(*, guard: Guard = OPEN, read_only: bool = False) -> AsyncIterator[Space]:
    async with in_memory(Clock()) as broker:
        yield Space(broker, guard, read_only=read_only)
