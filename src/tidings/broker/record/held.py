"""Records which subscription holds which patterns of quads, in memory and in the log; forgets what none holds."""

from collections.abc import Iterable
from typing import Any

from tidings.broker.durability.facts import Facts
from tidings.broker.subscriptions.registry import Subscriptions
from tidings.broker.subscriptions.subscriber import Subscriber
from tidings.engine.contexts import Contexts
from tidings.engine.engine import Engine
from tidings.engine.keys import keys_for
from tidings.engine.lutt import ANY_NAMED, Key
from tidings.log.entry import Note
from tidings.model.access import Rights
from tidings.model.errors import MayNotSubscribe
from tidings.model.terms import DEFAULT_GRAPH, Quad

PARTIAL = Note("partial", {})
"""Marks the log of a broker that has only contexts in memory."""


class Held:
    """Which subscription holds which patterns. Quads that no held pattern selects are forgotten."""

    KINDS = ("context", "partial")

    def __init__(self, engine: Engine, contexts: Contexts) -> None:
        self._engine = engine
        self.contexts = contexts
        self._keys: dict[Subscriber, tuple[Key, ...]] = {}
        self.forget = self._forget_at_once
        """Called with patterns that have no holder any more."""
        self.is_partial = False
        """Whether the log is of a broker that has only contexts in memory."""

    def enter(self, subscriber: Subscriber) -> None:
        keys = tuple(dict.fromkeys(self._engine.keys(subscriber.handle)))
        self.contexts.hold(keys)
        self._keys[subscriber] = keys

    def leave(self, subscriber: Subscriber) -> None:
        self.forget(self.contexts.release(self._keys.pop(subscriber, ())))

    def move(self, subscriber: Subscriber, rights: Rights) -> None:
        """Hold the patterns that a subscription has under other rights. Raises MayNotSubscribe if memory does not have
        all of their quads."""
        now = self._engine.core.moment.now
        keys = tuple(keys_for(self._engine, subscriber.text, subscriber.dataset, rights, now=now))
        if not all(map(self.contexts.covers, keys)):
            raise MayNotSubscribe("what you may see now has to be fetched first; subscribe again")
        self.contexts.hold(keys)
        self.leave(subscriber)
        self._keys[subscriber] = keys

    def __contains__(self, subscriber: Subscriber) -> bool:
        return subscriber in self._keys

    def holders(self) -> list[tuple[Subscriber, tuple[Key, ...]]]:
        return list(self._keys.items())

    def _forget_at_once(self, keys: list[Key]) -> None:
        for _ in self.contexts.forget(keys):
            pass

    # -- facts ------------------------------------------------------------------------------------------------------

    def restore(self, note: Note) -> None:
        if note.kind == "partial":
            self.is_partial = True
        else:
            self._forget_at_once(_keys(note.content))  # from an earlier fetch, whose subscription never began
            self.contexts.learn(_quads(note.content))

    def tidy(self) -> None:
        """Forget the quads that no held pattern selects, once everything has been replayed."""
        self._forget_at_once([(None, None, None, DEFAULT_GRAPH), (None, None, None, ANY_NAMED)])

    def notes(self) -> Iterable[Note]:
        """The facts for a snapshot, which contains the quads themselves."""
        return (PARTIAL,) if self.is_partial else ()


def held_by(subscriptions: Subscriptions, engine: Engine, facts: Facts) -> Held | None:
    """Record from here on what subscriptions hold. None if the whole graph is in memory."""
    if engine.contexts is None:
        return None
    held = subscriptions.context = Held(engine, engine.contexts)
    facts.keep(Held.KINDS, held)
    return held


def _keys(content: dict[str, Any]) -> list[Key]:
    return [(s, p, o, g) for s, p, o, g in content["keys"]]


def _quads(content: dict[str, Any]) -> Iterable[Quad]:
    return ((s, p, o, g) for s, p, o, g in content["quads"])
