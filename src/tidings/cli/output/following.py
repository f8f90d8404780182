"""Follows a subscription from the command line, until a limit of the options or a signal."""

import asyncio
import signal
import sys
import time
from argparse import Namespace
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import orjson

from tidings.cli.input.addresses import trust_of
from tidings.cli.output.names import Names, prefixes_of
from tidings.cli.output.paint import signed, wants_colour
from tidings.cli.output.telling import binding, in_order
from tidings.client.connection import Connection, connect
from tidings.client.login.credentials import Shown
from tidings.client.subscription import Change, Subscription
from tidings.client.terms import to_term
from tidings.model.errors import TidingsError
from tidings.model.results import Row

if TYPE_CHECKING:
    from rich.console import Console

FRAME = 0.1
"""Seconds between two checks of the connection, and between two frames of the live table."""
LOST = "connection lost, trying again"
_FAREWELL = 2.0


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to follow: a query, at the address of a broker."""

    url: str
    text: str
    default: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    shown: Shown | None = None
    """The credentials for a broker with security."""
    prefixes: Mapping[str, str] = field(default_factory=dict)
    """Prefixes for the output, in addition to those of the query."""


class Sink(Protocol):
    """Shows changes."""

    def take(self, change: Change) -> None: ...

    def look(self, trouble: str) -> None:
        """Called every FRAME seconds, with a message if there is trouble with the connection."""

    def close(self) -> None: ...


def follow(wanted: Wanted, arguments: Namespace) -> None:
    """Subscribe, and show the changes. Raises TidingsError."""
    asyncio.run(_follow(wanted, arguments))


async def _follow(wanted: Wanted, arguments: Namespace) -> None:
    async with connect(wanted.url, wait=arguments.wait, trust=trust_of(arguments), credentials=wanted.shown) as broker:
        subscription = await broker.subscribe(wanted.text, default_graphs=wanted.default, named_graphs=wanted.named)
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stop.set)
        sink = _sink(wanted, arguments)
        try:
            await _show(broker, subscription, sink, stop, arguments)
        finally:
            sink.close()
            if broker.connected:
                with suppress(TidingsError, TimeoutError):  # the broker ends the subscription after the grace time
                    async with asyncio.timeout(_FAREWELL):
                        await subscription.unsubscribe()


def _sink(wanted: Wanted, arguments: Namespace) -> Sink:
    if arguments.json:
        return JsonLines(quiet=arguments.quiet)
    names = Names(dict(wanted.prefixes) | prefixes_of(wanted.text))
    if arguments.changes or not sys.stdout.isatty():
        return ChangeLines(names, colour=wants_colour(sys.stdout), quiet=arguments.quiet)
    from rich.console import Console

    return Picture(names, Console())


async def _show(
    broker: Connection, subscription: Subscription, sink: Sink, stop: asyncio.Event, arguments: Namespace
) -> None:
    clock = asyncio.get_running_loop().time
    end = clock() + arguments.span if arguments.span else float("inf")
    left = arguments.count or float("inf")
    looked = 0.0
    while left > 0 and clock() < end and not stop.is_set():
        try:
            async with asyncio.timeout(min(FRAME, end - clock())):
                change = await anext(subscription)
        except TimeoutError:
            pass
        else:
            sink.take(change)
            left -= 1
        if clock() - looked >= FRAME:
            looked = clock()
            sink.look(_trouble(broker))


def _trouble(broker: Connection) -> str:
    return "" if broker.connected else LOST


def _rows(change: Change) -> Counter[Row]:
    return Counter(
        {
            tuple([None if cell is None else to_term(cell) for cell in cells]): weight
            for cells, weight in change.weights().items()
        }
    )


def _parts(change: Change) -> tuple[list[Row], list[Row]]:
    """The added and the removed rows in order, each repeated by its weight."""
    rows = _rows(change)
    return in_order((+rows).elements()), in_order((-rows).elements())


class _Talk:
    """Prints the state of the connection on stderr when it changes."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._last = ""

    def look(self, trouble: str) -> None:
        if trouble != self._last and not self._quiet:
            print(f"tidings: {trouble or 'connected again'}", file=sys.stderr, flush=True)
        self._last = trouble


class JsonLines:
    """For programs."""

    def __init__(self, *, quiet: bool) -> None:
        self._talk = _Talk(quiet=quiet)

    def take(self, change: Change) -> None:
        added, removed = _parts(change)
        document = {
            "sequence": change.sequence,
            "commit": change.commit,
            "time": change.time,
            "added": [binding(change.variables, row) for row in added],
            "removed": [binding(change.variables, row) for row in removed],
        }
        sys.stdout.buffer.write(orjson.dumps(document, option=orjson.OPT_APPEND_NEWLINE))
        sys.stdout.buffer.flush()

    def look(self, trouble: str) -> None:
        self._talk.look(trouble)

    def close(self) -> None:
        pass


class ChangeLines:
    """For people who use a pipe, or want to scroll back."""

    def __init__(self, names: Names, *, colour: bool, quiet: bool) -> None:
        self._names = names
        self._colour = colour
        self._talk = _Talk(quiet=quiet)

    def take(self, change: Change) -> None:
        added, removed = _parts(change)
        head = f"sequence {change.sequence:,}, commit {change.commit:,}: +{len(added):,} -{len(removed):,}"
        lines = [f"{head}\n"]
        for sign, rows in (("-", removed), ("+", added)):
            lines.extend(signed(sign, self._line(change.variables, row), colour=self._colour) for row in rows)
        sys.stdout.buffer.write("".join(lines).encode())
        sys.stdout.buffer.flush()

    def _line(self, variables: tuple[str, ...], row: Row) -> str:
        cells = [f"?{name} {self._names[term]}" for name, term in zip(variables, row, strict=True) if term]
        return "  ".join(cells) or "(nothing bound)"

    def look(self, trouble: str) -> None:
        self._talk.look(trouble)

    def close(self) -> None:
        pass


class Picture:
    """For people at a terminal."""

    def __init__(self, names: Names, console: "Console") -> None:
        from rich.live import Live

        from tidings.cli.output.live import LiveTable

        self._console = console
        self._table = LiveTable(names)
        self._live = Live(console=console, auto_refresh=False, vertical_overflow="crop")
        self._live.start()
        self._stale = True

    def take(self, change: Change) -> None:
        latency = max(0.0, time.time() - change.time / 1e6)
        self._table.take(
            change.variables, _rows(change), sequence=change.sequence, commit=change.commit, latency=latency,
            now=time.monotonic(),
        )  # fmt: skip
        self._stale = True

    def look(self, trouble: str) -> None:
        over, news = self._table.expire(time.monotonic()), self._table.hear(trouble)
        if self._stale or over or news:
            self._draw()

    def _draw(self) -> None:
        self._live.update(self._table.view(self._console.height, self._console.width), refresh=True)
        self._stale = False

    def close(self) -> None:
        """Leave the last frame on the terminal."""
        self._table.expire(float("inf"))
        self._draw()
        self._live.stop()
