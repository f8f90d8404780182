"""Publishes the rows of an answer as retained messages, one for each row, so that a new client finds the whole answer.

    topic -> rows of the answer for it      the last row is the message; without any row, the message is empty

On each new connection, the gate publishes all rows again, and clears retained messages that have no row: the MQTT
broker may have lost messages, or kept outdated ones.
"""

import math
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any
from urllib.parse import quote, unquote

import orjson

from tidings.broker.subscriptions.subscriber import Parcel
from tidings.client.terms import IRI, BNode, from_term
from tidings.gates.mqtt.mapping import MappedAnswer
from tidings.gates.mqtt.messages import Publication
from tidings.gates.mqtt.topics import LONGEST, matches
from tidings.model.errors import BadRequest
from tidings.model.results import Row
from tidings.model.terms import Term

_UNSAFE = re.compile(r"[/+#%$\x00-\x1f\x7f-\x9f]")
"""What a level of a topic cannot have, or must not begin with; and the sign that stands for it."""


class Mirror:
    """One answer. `send` takes a message, and does not wait."""

    def __init__(self, answer: MappedAnswer, send: Callable[[Publication], None]) -> None:
        self.answer = answer
        self._send = send
        self._rows: dict[str, dict[bytes, int]] = {}
        """The messages of each topic, the latest last, and how many rows mean each."""
        self.skipped = 0
        """Rows that mean no topic."""

    def __len__(self) -> int:
        return len(self._rows)

    def begin(self, parcel: Parcel) -> None:
        """The whole answer, whatever was said before."""
        former, self._rows = self._rows, {}
        changed = self._take(parcel)
        self._tell({*changed, *former})

    def change(self, parcel: Parcel) -> None:
        self._tell(self._take(parcel))

    def again(self) -> None:
        """Say everything once more, if it is of those that are kept."""
        if self.answer.retain:
            self._tell(set(self._rows))

    def found(self, topic: str) -> None:
        """The MQTT broker has kept something at a topic; it may be what we said before a restart."""
        if self.answer.retain and topic not in self._rows and matches(self.answer.filter, topic):
            self._tell({topic})

    def _take(self, parcel: Parcel) -> set[str]:
        """The topics that mean something else now."""
        changed = set()
        for row, weight in sorted(parcel.changes.items(), key=lambda item: item[1]):  # first what is removed
            try:
                topic, payload = self._message(parcel.variables, row)
            except BadRequest:
                self.skipped += weight > 0
                continue
            messages = self._rows.setdefault(topic, {})
            count = messages.pop(payload, 0) + weight
            if count > 0:
                messages[payload] = count
            if not messages:
                del self._rows[topic]
            changed.add(topic)
        return changed

    def _tell(self, topics: set[str]) -> None:
        answer = self.answer
        for topic in topics:
            messages = self._rows.get(topic)
            if messages:
                payload = next(reversed(messages))
            elif answer.retain:
                payload = b""
            else:
                continue  # that a row is gone can only be told of what was kept
            self._send(Publication(topic, payload, answer.qos, answer.retain))

    def _message(self, variables: tuple[str, ...], row: Row) -> tuple[str, bytes]:
        """Raises BadRequest."""
        terms = dict(zip(variables, row, strict=True))
        topic = self.answer.topic.fill(lambda name: self._level(name, terms.get(name)))
        if len(topic.encode()) > LONGEST:
            raise BadRequest("the topic is too long")
        template = self.answer.payload
        if template is None:
            document = {name: _json_value(term) for name, term in terms.items() if term is not None}
            return topic, orjson.dumps(document)
        return topic, template.fill(lambda name: _text(terms.get(name))).encode()

    def _level(self, name: str, term: Term | None) -> str:
        if term is None:
            raise BadRequest(f"?{name} is unbound")
        text = _text(term)
        shape = self.answer.bindings.get(name)
        if shape is not None:
            found = shape.pattern().fullmatch(text)
            if found is None:
                raise BadRequest(f"?{name} does not look like that")
            text = unquote(found[1])
        if not text:
            raise BadRequest(f"?{name} is empty")
        return _UNSAFE.sub(lambda found: quote(found[0], safe=""), text)


def _text(term: Term | None) -> str:
    return "" if term is None else str(from_term(term))


def _json_value(term: Term) -> Any:
    """Numbers and truth as JSON has them, everything else as its text."""
    value = from_term(term)
    if isinstance(value, IRI | BNode):
        return str(value)
    match value.value:
        case bool() | int() as plain if abs(plain) < 1 << 53:
            return plain
        case float() | Decimal() as number if math.isfinite(number):
            return float(number)
        case _:
            return str(value)
