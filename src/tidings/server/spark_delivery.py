"""Delivers the answers of subscriptions that a Spark job works out. Broker and job exchange files:

    OUT/wanted.jsonl            the subscriptions: written by this module, read by the job
    OUT/batches/, OUT/told/     the notifications: written by the job, read by this module
    OUT/wanted.lock             the lock of the one broker that uses the folder

Threads write and read the files; the event loop sends the notifications, a slice at a time.
"""

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from tidings.broker.broker import Broker
from tidings.broker.subscriptions.external_batches import ExternalBatches
from tidings.model.access import Graphs
from tidings.model.errors import TidingsError
from tidings.model.graph_patterns import written
from tidings.model.iris import DEFAULT_BASE
from tidings.spark.lock import locked
from tidings.spark.streaming.errors import DependsOnChance, StreamUnusable
from tidings.spark.streaming.output.notifications import Batches, numbers, read_notifications
from tidings.spark.streaming.subscriptions.registrar import asks_for_chance
from tidings.spark.streaming.subscriptions.request_file import RequestFile
from tidings.spark.streaming.subscriptions.requests import SubscriptionRequest
from tidings.spark.streaming.unit import Notification
from tidings.sparql.algebra import Dataset

POLL = 0.2
"""Seconds between two looks for a new batch."""
SLICE = 500
"""Notifications that are sent before the event loop does other work."""

log = logging.getLogger("tidings")


@contextmanager
def delivering(out: Path, base: str) -> Iterator["Delivery"]:
    """Create the folder if it does not exist, and lock it. Raises StreamUnusable, LakeInUse."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StreamUnusable(f"{out} cannot be made: {error.strerror}") from error
    with locked(out, "wanted.lock"):
        yield Delivery(out, base)


class _Batch(NamedTuple):
    number: int
    told: list[Notification]


class Delivery:
    """The subscriptions that a Spark job works out for a broker. `base` is the base IRI of their queries."""

    def __init__(self, out: Path, base: str) -> None:
        self._out = out
        self._prologue = "" if base == DEFAULT_BASE else f"BASE <{base}> "
        self._list = RequestFile(out)
        self._batches = Batches(out)
        self._unwritten: list[SubscriptionRequest] = []
        self._news = asyncio.Event()

    # -- subscriptions --------------------------------------------------------------------------------------------

    def check(self, text: str) -> None:
        if asks_for_chance(text):
            raise DependsOnChance

    def request(self, spuid: str, text: str, dataset: Dataset | None, graphs: Graphs) -> None:
        self._put(self._request(spuid, text, dataset, graphs))

    def end(self, spuid: str) -> None:
        self._put(SubscriptionRequest(spuid=spuid, ended=True))

    def _request(self, spuid: str, text: str, dataset: Dataset | None, graphs: Graphs) -> SubscriptionRequest:
        asked = dataset or Dataset()
        seen = tuple(written(graphs))
        return SubscriptionRequest(self._prologue + text, spuid, None, asked.default, asked.named, seen)

    def _put(self, request: SubscriptionRequest) -> None:
        self._unwritten.append(request)
        self._news.set()

    async def _write(self) -> None:
        """Write the waiting requests for the job; after an error, they wait for the next call."""
        requests = self._unwritten[:]
        if requests:
            await asyncio.to_thread(self._list.add, requests)
            del self._unwritten[: len(requests)]

    # -- notifications --------------------------------------------------------------------------------------------

    async def begin(self, broker: Broker) -> None:
        """Deliver the batches that came while the broker was down, and start to deliver new ones until it ends."""
        batches = broker.external_batches()
        wanted = await asyncio.to_thread(self._list.read)
        there = await asyncio.to_thread(numbers, self._out)
        batches.begin(wanted, there[0] if there else 0, there[-1] if there else -1)
        self._unwritten.clear()  # the list below has all subscribers
        requests = [
            self._request(each.spuid, each.text, each.dataset, each.rights.subscribe) for each in broker.subscribers()
        ]
        await asyncio.to_thread(self._list.begin, requests)
        await self._tell(batches)
        broker.spawn(self._follow(broker, batches))

    async def _follow(self, broker: Broker, batches: ExternalBatches) -> None:
        trouble = ""
        ending = False
        while not ending:
            ending = broker.ending  # if it is ending, this is the last pass
            before, trouble = trouble, ""
            try:
                await self._write()
                await self._tell(batches)
            except TidingsError as error:
                trouble = str(error)
                if trouble != before:
                    log.error("delivery from Spark failed, trying again: %s", error)  # noqa: TRY400 -- it says what matters
            await self._pause()

    async def _pause(self) -> None:
        self._news.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(POLL):
                await self._news.wait()

    async def _tell(self, batches: ExternalBatches) -> None:
        """Deliver all complete batches."""
        while (batch := await asyncio.to_thread(self._read, batches.last)) is not None:
            for first in range(0, len(batch.told), SLICE):
                batches.tell(batch.number, batch.told[first : first + SLICE])
                await asyncio.sleep(0)
            batches.finish(batch.number)

    def _read(self, after: int) -> _Batch | None:
        manifest = self._batches.after(after)
        if manifest is None:
            return None
        return _Batch(manifest.number, read_notifications(self._out, manifest) if manifest.told else [])
