"""The client without `await`, for scripts and notebooks: each call blocks until it is done.

with connect("ws://localhost:9000/subscribe") as broker:
    broker.update("INSERT DATA { <lamp> <power> 40 }")
    with broker.subscribe("SELECT ?lamp ?power WHERE { ?lamp <power> ?power }") as lamps:
        for change in lamps:
            print(change.added, change.removed)
"""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from datetime import datetime, timedelta
from types import TracebackType
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from tidings.client import connection, subscription
from tidings.client.answers import Answer, Committed, Row, Scheduled
from tidings.client.errors import NoAnswer
from tidings.client.login.credentials import Shown
from tidings.client.subscription import Change
from tidings.client.trust import SYSTEM, Trust

if TYPE_CHECKING:
    import pandas

T = TypeVar("T")
P = ParamSpec("P")


def connect(
    url: str = connection.DEFAULT,
    *,
    timeout: float = 30.0,
    patience: float | None = None,
    wait: float | None = 0.0,
    publisher: str | None = None,
    trust: Trust = SYSTEM,
    credentials: Shown | None = None,
) -> "Connection":
    """A connection to a broker: a context manager, or closed with `close`."""
    return Connection(
        url, timeout=timeout, patience=patience, wait=wait, publisher=publisher, trust=trust, credentials=credentials
    )


class _Loop:
    """An event loop in a thread of its own."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="tidings", daemon=True)
        self._thread.start()

    def wait(self, call: Callable[P, Awaitable[T]], *arguments: P.args, **named: P.kwargs) -> T:
        """Call a coroutine function in that thread, and return its result."""

        async def run() -> T:
            return await call(*arguments, **named)

        return asyncio.run_coroutine_threadsafe(run(), self._loop).result()

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class Connection:
    """`tidings.client.Connection` with blocking calls."""

    def __init__(
        self,
        url: str = connection.DEFAULT,
        *,
        timeout: float = 30.0,
        patience: float | None = None,
        wait: float | None = 0.0,
        publisher: str | None = None,
        trust: Trust = SYSTEM,
        credentials: Shown | None = None,
    ) -> None:
        self._loop = _Loop()

        async def make() -> connection.Connection:
            made = connection.Connection(
                url,
                timeout=timeout,
                patience=patience,
                wait=wait,
                publisher=publisher,
                trust=trust,
                credentials=credentials,
            )
            return await made.__aenter__()

        try:
            self._inner = self._loop.wait(make)
        except BaseException:
            self._loop.stop()
            raise

    def __enter__(self) -> "Connection":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._loop.wait(self._inner.close)
        self._loop.stop()

    def query(self, text: str, **options: Any) -> Answer:
        return self._loop.wait(self._inner.query, text, **options)

    def update(self, text: str, **options: Any) -> Committed:
        return self._loop.wait(self._inner.update, text, **options)

    def schedule(
        self,
        text: str,
        *,
        at: datetime | int | None = None,
        delay: timedelta | float | None = None,
        **options: Any,
    ) -> Scheduled:
        return self._loop.wait(self._inner.schedule, text, at=at, delay=delay, **options)

    def cancel(self, scheduled: Scheduled | str) -> None:
        self._loop.wait(self._inner.cancel, scheduled)

    def prepare(self, text: str) -> Callable[..., Committed]:
        """Send the text of an update once. The result is a function from the values of its variables to a commit."""
        prepared = self._loop.wait(self._inner.prepare, text)
        return lambda **values: self._loop.wait(prepared, **values)

    def subscribe(self, text: str, **options: Any) -> "Subscription":
        return Subscription(self._loop, self._loop.wait(self._inner.subscribe, text, **options))


class Subscription:
    """`tidings.client.Subscription` with blocking calls; iterating waits for the next change."""

    def __init__(self, loop: _Loop, inner: subscription.Subscription) -> None:
        self._loop = loop
        self._inner = inner

    @property
    def spuid(self) -> str | None:
        """Its identifier at the broker, which may change when the connection is restored."""
        return self._inner.spuid

    @property
    def rows(self) -> list[Row]:
        return self._loop.wait(_later(lambda: self._inner.rows))

    def values(self) -> list[dict[str, Any]]:
        return self._loop.wait(_later(self._inner.values))

    def to_pandas(self) -> "pandas.DataFrame":
        return self._loop.wait(_later(self._inner.to_pandas))

    def next(self, timeout: float | None = None) -> Change:
        """The next change. Raises NoAnswer if none arrives in time, and StopIteration after the last one."""
        try:
            return self._loop.wait(self._next, timeout)
        except TimeoutError as error:
            raise NoAnswer(f"nothing has changed within {timeout:g} s") from error
        except StopAsyncIteration as error:
            raise StopIteration from error

    async def _next(self, timeout: float | None) -> Change:
        async with asyncio.timeout(timeout):
            return await self._inner.__anext__()

    def __iter__(self) -> Iterator[Change]:
        return self

    def __next__(self) -> Change:
        return self.next()

    def unsubscribe(self) -> None:
        self._loop.wait(self._inner.unsubscribe)

    def __enter__(self) -> "Subscription":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.unsubscribe()


def _later(call: Callable[[], T]) -> Callable[[], Awaitable[T]]:
    """A plain function as a coroutine function, to be called in the loop's thread, where nothing changes meanwhile."""

    async def run() -> T:
        return call()

    return run
