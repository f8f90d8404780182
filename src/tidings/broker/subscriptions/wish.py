"""Subscriptions that are to begin: what a client asks for, and what is found for it."""

from collections.abc import Coroutine
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol, TypeAlias

from msgspec import Struct

from tidings.broker.subscriptions.subscriber import Alias, Answered, Encoder, Refused, Session
from tidings.model.access import Rights
from tidings.model.results import Row
from tidings.sparql.algebra import Dataset

Encode: TypeAlias = Encoder
"""How a gate writes a first answer that is so long that a fork has to do it."""


Work: TypeAlias = Coroutine[Any, Any, None]


class Context(Protocol):
    """Who fetches what concerns a subscription, where the graph is not in memory."""

    def kept(self, text: str, dataset: Dataset | None, rights: Rights) -> AbstractAsyncContextManager[None]:
        """While it is here, whatever happens. Raises why it cannot be had."""


class Subscribe(Struct, frozen=True):
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
    """None if whatever it is, it is written here."""

    @property
    def client(self) -> str | None:
        """Whose share of the forks it takes."""
        return self.owner or self.session.client


class Found(Struct, frozen=True):
    """What a fork sends back of a newcomer."""

    encoded: bytes | None
    rows: list[Row]
    """The first answer, if nobody said how to encode it."""
    memories: list[list[bytes]]
