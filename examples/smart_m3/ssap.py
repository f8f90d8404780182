"""A knowledge processor (KP) in few lines. Like the libraries of Smart-M3, it opens a connection for each request.

    kp = KnowledgeProcessor("kp", "127.0.0.1", 10010)
    await kp.join()
    await kp.update(insert=[(LAMP, STATE, Literal("on"))], remove=[(LAMP, STATE, None)])
    async with kp.subscribed([(LAMP, None, None)]) as subscription:
        print(subscription.first, await subscription.next())

A node is a URI, a `Literal`, a `Blank`, or None for any node.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import TypeAlias
from uuid import uuid4
from xml.etree import ElementTree
from xml.sax.saxutils import escape, quoteattr

ANY = "http://www.nokia.com/NRC/M3/sib#any"
END = b"</SSAP_message>"
_SPARQL = "{http://www.w3.org/2005/sparql-results#}"


class Literal(str):
    """The text of a literal."""


class Blank(str):
    """A new blank node, identified by a tag within a message."""


Node: TypeAlias = "str | Literal | Blank | None"
Triple: TypeAlias = tuple[Node, Node, Node]
Row: TypeAlias = dict[str, str]


class Refused(Exception):
    """The broker refused a request. `status` is the code of Smart-M3, `code` that of the broker."""

    def __init__(self, status: str, code: str, words: str) -> None:
        super().__init__(f"{status}: {words}")
        self.status = status
        self.code = code


@dataclass(frozen=True)
class Answer:
    """A message of the broker, with its kind and the elements of its parameters."""

    kind: str
    parameters: dict[str, ElementTree.Element]

    def text(self, name: str) -> str:
        element = self.parameters.get(name)
        return "" if element is None else element.text or ""

    def triples(self, name: str) -> list[Triple]:
        return [_read_triple(each) for each in self._element(name).iter("triple")]

    def rows(self, name: str) -> list[Row]:
        results = self._element(name).iter(f"{_SPARQL}result")
        return [{each.get("name", ""): "".join(each.itertext()) for each in result} for result in results]

    def _element(self, name: str) -> ElementTree.Element:
        return self.parameters.get(name, ElementTree.Element("nothing"))


class Wire:
    """A connection that sends and receives messages."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def next(self) -> Answer:
        """The next message. Raises IncompleteReadError if the broker closes the connection."""
        document = await self.reader.readuntil(END)
        root = ElementTree.fromstring(document)
        found = {each.get("name", ""): each for each in root.iter("parameter")}
        return Answer(root.findtext("message_type", ""), found)

    async def ask(self, message: str) -> Answer:
        """Send a message, and return the answer. Raises Refused."""
        self.writer.write(message.encode())
        answer = await self.next()
        if (status := answer.text("status")) != "m3:Success":
            raise Refused(status, answer.text("error"), answer.text("error_description"))
        return answer


@dataclass
class Subscription:
    """A subscription; `first` is its first answer."""

    wire: Wire
    first: Answer
    id: str

    async def next(self) -> Answer:
        """The next indication: `new_results` and `obsolete_results`."""
        return await self.wire.next()


@dataclass
class KnowledgeProcessor:
    name: str
    host: str
    port: int
    space: str = "X"
    credentials: str = "XYZZY"
    """A token, for a broker with security."""
    longest: int = 1 << 26
    _node: str = ""
    _numbers: Iterable[int] = field(default_factory=count)

    def __post_init__(self) -> None:
        self._node = f"{self.name}-{uuid4()}"

    async def join(self) -> None:
        await self._ask("JOIN", _parameter("credentials", escape(self.credentials)))

    async def leave(self) -> None:
        await self._ask("LEAVE")

    async def insert(self, triples: Sequence[Triple]) -> dict[str, str]:
        """Insert triples. Returns the URIs of new blank nodes by their tags."""
        return _bnodes(await self._ask("INSERT", _graph("insert_graph", triples), _parameter("confirm", "TRUE")))

    async def remove(self, triples: Sequence[Triple]) -> None:
        await self._ask("REMOVE", _graph("remove_graph", triples), _parameter("confirm", "TRUE"))

    async def update(self, insert: Sequence[Triple], remove: Sequence[Triple]) -> dict[str, str]:
        """Remove and then insert triples, in one commit."""
        graphs = _graph("insert_graph", insert) + _graph("remove_graph", remove)
        return _bnodes(await self._ask("UPDATE", graphs, _parameter("confirm", "TRUE")))

    async def query(self, patterns: Sequence[Triple]) -> list[Triple]:
        return (await self._ask("QUERY", _patterns(patterns))).triples("results")

    async def sparql(self, text: str) -> list[Row]:
        """Execute a SPARQL query or update."""
        return (await self._ask("QUERY", _sparql(text))).rows("results")

    @asynccontextmanager
    async def subscribed(self, question: Sequence[Triple] | str, *more: str) -> AsyncIterator[Subscription]:
        """Subscribe to triple patterns or a SPARQL query; `more` are further parameters."""
        asked = _sparql(question) if isinstance(question, str) else _patterns(question)
        async with self.connected() as wire:
            first = await wire.ask(self.message("SUBSCRIBE", asked, *more))
            yield Subscription(wire, first, first.text("subscription_id"))

    async def unsubscribe(self, subscription: Subscription) -> None:
        """End a subscription, over another connection, as all KPs do it. The subscription's connection is told, too."""
        await self._ask("UNSUBSCRIBE", _parameter("subscription_id", subscription.id))

    async def _ask(self, kind: str, *parameters: str) -> Answer:
        async with self.connected() as wire:
            return await wire.ask(self.message(kind, *parameters))

    def message(self, kind: str, *parameters: str) -> str:
        return (
            f"<SSAP_message><node_id>{self._node}</node_id><space_id>{self.space}</space_id>"
            f"<transaction_type>{kind}</transaction_type><message_type>REQUEST</message_type>"
            f"<transaction_id>{next(iter(self._numbers))}</transaction_id>{''.join(parameters)}</SSAP_message>"
        )

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[Wire]:
        reader, writer = await asyncio.open_connection(self.host, self.port, limit=self.longest)
        try:
            yield Wire(reader, writer)
        finally:
            writer.close()


def _parameter(name: str, content: str, encoding: str = "") -> str:
    return f'<parameter name="{name}"{encoding}>{content}</parameter>'


def _graph(name: str, triples: Sequence[Triple]) -> str:
    return _parameter(name, _list(triples), ' encoding="RDF-M3"')


def _patterns(triples: Sequence[Triple]) -> str:
    return _parameter("type", "RDF-M3") + _parameter("query", _list(triples))


def _sparql(text: str) -> str:
    return _parameter("type", "sparql") + _parameter("query", escape(text))


def _list(triples: Sequence[Triple]) -> str:
    return f"<triple_list>{''.join(map(_triple, triples))}</triple_list>"


def _triple(triple: Triple) -> str:
    s, p, o = triple
    return f"<triple>{_write('subject', s)}<predicate>{escape(p or ANY)}</predicate>{_write('object', o)}</triple>"


def _write(name: str, node: Node) -> str:
    kind = "literal" if isinstance(node, Literal) else "bnode" if isinstance(node, Blank) else "URI"
    return f"<{name} type={quoteattr(kind)}>{escape(ANY if node is None else node)}</{name}>"


def _read_triple(element: ElementTree.Element) -> Triple:
    return _read(element[0]), _read(element[1]), _read(element[2])


def _read(element: ElementTree.Element) -> str:
    text = element.text or ""
    return Literal(text) if element.get("type") == "literal" else text


def _bnodes(answer: Answer) -> dict[str, str]:
    return {each.get("tag", ""): each.text or "" for each in answer.parameters["bnodes"].iter("uri")}
