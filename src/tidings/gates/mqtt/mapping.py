"""Topics that mean an update, and answers that mean topics, as an application profile says:

    "extended": {"mqtt": {
      "updates": [{"topic": "city/{area}/lamp/{lamp}/status", "update": "SET_STATUS",
                   "bindings": {"lamp": "http://example.org/lamp/{lamp}", "power": "{payload.power}"}}],
      "answers": [{"query": "LEVELS", "topic": "city/{area}/lamp/{lamp}/level", "payload": "{level}",
                   "bindings": {"lamp": "http://example.org/lamp/{lamp}"}}]}}

A value is bound as a term: nothing that is in a topic or a payload can change the shape of an update.
"""

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias
from urllib.parse import quote

import msgspec
from msgspec import Struct

from tidings.client.jsap.bindings import Bindable, free_term
from tidings.client.jsap.primitives import Primitive
from tidings.engine.updates.operations import PreparedUpdate
from tidings.gates.mqtt.messages import Message
from tidings.gates.mqtt.templates import Template, look_up
from tidings.gates.mqtt.topics import matches
from tidings.model.terms import Term
from tidings.protocol.errors import BadMessage
from tidings.sparql import binding
from tidings.sparql.algebra import Dataset
from tidings.sparql.prepared import Parameters

PAYLOAD = "payload"
"""What a payload is called: alone its text, and with a path what its JSON has there."""
LONGEST_SEARCH = 0.1
"""Seconds that a pattern may look at a payload."""

Pattern: TypeAlias = Any


class MappedTopic(Struct, frozen=True):
    """`levels` are the names of the levels of the topic, None for one that has none."""

    filter: str
    levels: tuple[str | None, ...]
    primitive: Primitive
    prepared: "binding.Bindable[PreparedUpdate]"
    bindings: Mapping[str, Template]
    pattern: Pattern = None

    def bind(self, message: Message) -> tuple[PreparedUpdate, Parameters]:
        """The update that a message means. Raises BadMessage, BadRequest."""
        values = Values(self, message)
        terms = {}
        for name in self.bindings:
            term = self._term(name, values)
            if term is not None:
                terms[name] = term
        return self.prepared.bind(terms)

    def _term(self, variable: str, values: "Values") -> Term | None:
        declared = self.primitive.bindings.get(variable)
        template = self.bindings[variable]
        try:
            value: Bindable | None
            if template.alone is not None:
                value = values.find(template.alone)
            else:
                escape = declared is not None and declared.type == "uri"
                value = template.fill(lambda name: values.text(name, escape=escape))
            if value is None:
                if declared is None or declared.default is None:
                    raise BadMessage(f"{values.topic}: there is no value for ?{variable}")
                return declared.default
            return free_term(value) if declared is None else declared.term(value, self.primitive.namespaces)
        except ValueError as error:
            raise BadMessage(f"{values.topic}: ?{variable} {error}") from error


class Values:
    """What a topic and its payload have to say, by name. The payload is read when something of it is asked for."""

    def __init__(self, mapped: MappedTopic, message: Message) -> None:
        self.topic = message.topic
        levels = message.topic.split("/")
        self._known: dict[str, Any] = {
            name: levels[number] for number, name in enumerate(mapped.levels) if name is not None and name != "#"
        }
        if mapped.filter.endswith("#"):
            self._known["#"] = "/".join(levels[len(mapped.levels) - 1 :])
        self._payload = message.payload
        self._document: Any = None
        self._read = False
        if mapped.pattern is not None:
            self._known |= self._found(mapped.pattern)

    def find(self, name: str) -> Any:
        """A value of JSON, or None. Raises BadMessage."""
        if name in self._known:
            return self._known[name]
        first, _, path = name.partition(".")
        if name == PAYLOAD:
            return self._text()
        found = look_up(self._json(), path if first == PAYLOAD else name)
        return msgspec.json.encode(found).decode() if isinstance(found, dict | list) else found

    def text(self, name: str, *, escape: bool) -> str:
        """The value in a text. Raises BadMessage."""
        found = self.find(name)
        if found is None:
            raise BadMessage(f"{self.topic}: there is no {name}")
        text = str(found).lower() if isinstance(found, bool) else str(found)
        return quote(text, safe="") if escape else text

    def _text(self) -> str:
        try:
            return self._payload.decode()
        except UnicodeDecodeError as error:
            raise BadMessage(f"{self.topic}: the payload is not UTF-8") from error

    def _json(self) -> Any:
        if not self._read:
            self._read = True
            try:
                self._document = msgspec.json.decode(self._payload)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                raise BadMessage(f"{self.topic}: the payload is not JSON: {error}") from error
        return self._document

    def _found(self, pattern: Pattern) -> dict[str, str]:
        try:
            found = pattern.search(self._text(), timeout=LONGEST_SEARCH)
        except TimeoutError as error:
            raise BadMessage(f"{self.topic}: the pattern takes too long with this payload") from error
        if found is None:
            raise BadMessage(f"{self.topic}: the payload has nothing of what the pattern looks for")
        return {name: text for name, text in found.groupdict().items() if text is not None}


class MappedAnswer(Struct, frozen=True):
    """An answer whose rows are messages. `bindings` say what of an IRI is a level of the topic."""

    query: str
    text: str
    dataset: Dataset | None
    topic: Template
    payload: Template | None
    bindings: Mapping[str, Template]
    retain: bool = True
    qos: int = 1

    @property
    def filter(self) -> str:
        """All topics that its rows can have."""
        shown = self.topic.fill(lambda _: "+")
        return "/".join("+" if "+" in level else level for level in shown.split("/"))


class Mapped(Struct, frozen=True):
    """Everything that a profile maps."""

    updates: tuple[MappedTopic, ...] = ()
    answers: tuple[MappedAnswer, ...] = ()

    def of(self, topic: str) -> Iterator[MappedTopic]:
        """The updates that a topic means."""
        return (each for each in self.updates if matches(each.filter, topic))
