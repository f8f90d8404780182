"""Values for subscriptions that are about to begin: the request of a client, and what a fork finds for it."""

from collections.abc import Coroutine
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol, TypeAlias

from msgspec import Struct

from tidings.broker.subscriptions.subscriber import Alias, Answered, Encoder, Refused, Session
from tidings.model.access import Rights
from tidings.model.results import Row
from tidings.sparql.algebra import Dataset

Encode: TypeAlias = Encoder
"""A function of a gate with which a fork encodes a long first answer."""


Work: TypeAlias = Coroutine[Any, Any, None]


class Context(Protocol):
    """Fetches the quads that concern a subscription, if the graph is not in memory."""

    def kept(self, text: str, dataset: Dataset | None, rights: Rights) -> AbstractAsyncContextManager[None]:
        """Within this context, these quads are in memory. Entering it raises an error if they cannot be fetched."""


class SubscriptionRequest(Struct, frozen=True):
    """What a client asks for."""

    session: Session
    text: str
    dataset: Dataset | None
    alias: Alias
    rights: Rights
    answered: Answered
    refused: Refused
    owner: str | None
    encode: Encode | None
    """None if the event loop encodes the first answer in any case."""

    @property
    def client(self) -> str | None:
        """The client against whose share of the forks the work counts."""
        return self.owner or self.session.client


class Found(Struct, frozen=True):
    """The outcome of a fork for a newcomer."""

    encoded: bytes | None
    rows: list[Row]
    """The first answer, if the request has no `encode`."""
    memories: list[list[bytes]]
