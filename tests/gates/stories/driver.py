"""What a story needs of a gate: a real client of its protocol, told what to do in the words of no protocol.

Everything is about things and their states: `publish("lamp", "on")` adds that the thing has this state, by whatever
means the protocol has, `retract` removes it, and subscriptions ask for all states. Each story has a world of its own.
"""

import asyncio
from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Protocol
from uuid import uuid4

from gates.wire import Broker
from waiting import PATIENCE

Row = tuple[str | None, ...]

EXAMPLE = "http://example.org/"
BAD_QUERY = "SELECT * WHERE { this is not SPARQL"


@dataclass(frozen=True)
class World:
    """Things that no other story tells of, at the same broker: they have states by a predicate of their own."""

    predicate: str = field(default_factory=lambda: f"{EXAMPLE}state-{uuid4().hex}")

    @property
    def query(self) -> str:
        """All states, also those that a protocol puts into graphs of its own."""
        pattern = f"?thing <{self.predicate}> ?state"
        return f"SELECT ?thing ?state {{ {{ {pattern} }} UNION {{ GRAPH ?g {{ {pattern} }} }} }}"

    def triple(self, thing: str, state: str) -> str:
        return f'<{EXAMPLE}{thing}> <{self.predicate}> "{state}"'

    def insert(self, thing: str, state: str) -> str:
        """For protocols that carry SPARQL."""
        return f"INSERT DATA {{ {self.triple(thing, state)} }}"

    def delete(self, thing: str, state: str) -> str:
        return f"DELETE DATA {{ {self.triple(thing, state)} }}"


def rows(*states: tuple[str, str]) -> Counter[Row]:
    """The answer if things have these states."""
    return Counter((EXAMPLE + thing, state) for thing, state in states)


class Subscription(Protocol):
    """A subscription to the query of a world, and what its notifications add up to."""

    @property
    def answer(self) -> Counter[Row]: ...

    async def hear(self) -> None:
        """Until one more notification was taken."""

    async def end(self) -> None:
        """Unsubscribe; nothing is told after that, which `hear` would have to hear."""


class Client(Protocol):
    """One client of the gate, in one world."""

    async def publish(self, thing: str, state: str) -> None:
        """Until it is durable, as far as the protocol can tell."""

    async def retract(self, thing: str, state: str) -> None: ...

    async def subscribe(self) -> Subscription:
        """Until the first answer was taken."""

    async def refusal(self) -> str:
        """What the client hears that subscribes to BAD_QUERY, or asks for it: the code of the error."""

    async def resume(self, subscription: Subscription) -> Subscription:
        """Go on with the subscription of a client that was lost, or of a broker that was restarted, where it was."""

    async def pause(self) -> None:
        """Take nothing more of what is sent."""

    async def go_on(self) -> None: ...


class Driver(Protocol):
    """A gate, and what it needs around it."""

    @property
    def has_peer(self) -> bool:
        """Whether there is somebody between the gate and its clients who can be started anew."""

    @property
    def bulk(self) -> int:
        """Characters of a state of which sixty are more than the gate has on its way to a client that takes nothing."""

    def around(self) -> AbstractAsyncContextManager[Sequence[str]]:
        """Whoever else is needed runs meanwhile; the flags for `tidings serve`."""

    def client(self, broker: Broker, world: World) -> AbstractAsyncContextManager[Client]: ...

    async def restart_peer(self) -> None:
        """End whoever is between the gate and its clients, without a word, and start it anew."""


async def told(subscription: Subscription, answer: Counter[Row]) -> None:
    """Until notifications add up to an answer."""
    try:
        async with asyncio.timeout(PATIENCE):
            while subscription.answer != answer:
                await subscription.hear()
    except TimeoutError:
        missing, too_much = answer - subscription.answer, subscription.answer - answer
        raise AssertionError(f"never told: {missing}; told, but not true: {too_much}") from None
