"""A target composed of three parts: its updates and queries, its subscriptions, and its reports about itself."""

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Protocol

from tidings.bench.targets import Description, Listening, Offers
from tidings.bench.targets.wire.rows import Row, insert_data
from tidings.model.terms import Triple


class Speaking(Protocol):
    """Sends updates and queries."""

    async def open(self) -> None: ...
    async def close(self) -> None: ...
    async def update(self, text: str) -> None: ...
    async def query(self, text: str) -> list[Row]: ...


class Hearing(Protocol):
    """Makes subscriptions."""

    async def open(self) -> None: ...
    async def close(self) -> None: ...
    async def subscribe(self, text: str) -> Listening:
        """The subscription, once its first notification has come."""


class Telling(Protocol):
    """Reports of a target about itself."""

    async def open(self) -> None: ...
    async def close(self) -> None: ...
    async def version(self) -> str: ...
    async def components(self) -> dict[str, float]: ...
    async def memory(self) -> int | None: ...


class Silent:
    """For targets that report nothing except, perhaps, their version."""

    def __init__(self, version: Callable[[], str] = str) -> None:
        self._version = version

    async def open(self) -> None: ...
    async def close(self) -> None: ...

    async def version(self) -> str:
        return self._version()

    async def components(self) -> dict[str, float]:
        return {}

    async def memory(self) -> int | None:
        return None


class Assembled:
    """The target of three parts. `clearing` are the updates that remove all data; `portion` is the most triples that
    one request may have, if there is such a limit."""

    def __init__(
        self,
        description: Description,
        offers: Offers,
        speaking: Speaking,
        hearing: Hearing,
        telling: Telling,
        clearing: tuple[str, ...] = ("CLEAR ALL",),
        portion: int | None = None,
    ) -> None:
        self._description = description
        self._offers = offers
        self._speaking = speaking
        self._hearing = hearing
        self._telling = telling
        self._clearing = clearing
        self._portion = portion

    @property
    def offers(self) -> Offers:
        return self._offers

    @property
    def description(self) -> Description:
        return self._description

    async def open(self) -> None:
        try:
            await self._speaking.open()
            await self._hearing.open()
            await self._telling.open()
            self._description.version = await self._telling.version() or self._description.version
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        await self._hearing.close()
        await self._speaking.close()
        await self._telling.close()

    async def clear(self) -> None:
        for update in self._clearing:
            await self._speaking.update(update)

    async def insert(self, triples: Iterable[Triple]) -> None:
        rest = iter(triples)
        while portion := list(islice(rest, self._portion)):
            await self._speaking.update(insert_data(portion))

    async def update(self, text: str) -> None:
        await self._speaking.update(text)

    async def query(self, text: str) -> list[Row]:
        return await self._speaking.query(text)

    async def subscribe(self, text: str) -> Listening:
        return await self._hearing.subscribe(text)

    async def components(self) -> dict[str, float]:
        return await self._telling.components()

    async def memory(self) -> int | None:
        return await self._telling.memory()
