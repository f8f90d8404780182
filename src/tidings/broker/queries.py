"""Queries, beside the updates: on the loop for a slice of time, and what takes longer in a fork.

Most queries are look-ups that end within the slice. One that does not is begun anew in a copy of the process, which
sees the store as it is at that moment: updates go on meanwhile, and it holds up nobody.
"""

import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import BinaryIO, TypeAlias, cast

from tidings.broker.durability.commit_log import Chronicle
from tidings.broker.forks import Forks
from tidings.broker.spool import Spool, fill
from tidings.engine.updates.executor import Core
from tidings.model.errors import TimeLimitExceeded
from tidings.model.results import Boolean, Result, Solutions, Triples
from tidings.sparql.algebra import Dataset
from tidings.sparql.evaluate.context import Limits, Moment

Writer: TypeAlias = Callable[[Result], tuple[str, Iterable[bytes]]]
"""Turns a result into a document: its media type, and its bytes."""


class Queries:
    """Answers queries within limits."""

    def __init__(
        self,
        core: Core,
        chronicle: Chronicle,
        forks: Forks,
        *,
        slice_seconds: float,
        seconds: float | None,
        rows: int | None,
    ) -> None:
        self._core = core
        self._chronicle = chronicle
        self._forks = forks
        self._slice = Limits(seconds=slice_seconds, rows=rows, clock=time.monotonic)
        self._whole = Limits(seconds=seconds, rows=rows, clock=time.monotonic)
        self.done = 0
        self.aside = 0

    async def answer(self, text: str, dataset: Dataset | None, write: Writer) -> Spool:
        """The answer as a document. If the caller is cancelled, so is the evaluation."""
        try:
            spool = Spool.of(*write(self._core.query(text, dataset, now=self._now(), limits=self._slice)))
        except TimeLimitExceeded:
            spool = await self._aside(text, dataset, write)
        await self._chronicle.settled()  # nobody is shown what a crash could still undo
        self.done += 1
        warnings = self._core.warnings_of(text, dataset)
        return replace(spool, warnings=warnings) if warnings else spool

    async def _aside(self, text: str, dataset: Dataset | None, write: Writer) -> Spool:
        self.aside += 1
        file = cast(BinaryIO, tempfile.TemporaryFile())  # noqa: SIM115 -- whoever sends it closes it

        def work() -> tuple[str, int]:
            self._core.moment = Moment()
            media_type, chunks = write(self._core.query(text, dataset, now=self._now(), limits=self._whole))
            size = fill(file, chunks)
            file.flush()
            return media_type, size

        try:
            media_type, size = await self._forks.run(work, seconds=self._whole.seconds, keep=(file.fileno(),))
        except BaseException:
            file.close()
            raise
        file.seek(0)
        return Spool(media_type, file, size)

    def within_slice(self, text: str, dataset: Dataset | None) -> bool:
        """Whether a query can be answered within a slice. Raises whatever is wrong with it."""
        try:
            _count(self._core.query(text, dataset, now=self._now(), limits=self._slice))
        except TimeLimitExceeded:
            return False
        return True

    async def rehearse(self, text: str, dataset: Dataset | None) -> None:
        """Find out, aside, whether a query can be answered within the limits. Raises a TidingsError if not."""
        await self._forks.run(
            lambda: _count(self._core.query(text, dataset, now=self._now(), limits=self._whole)),
            seconds=self._whole.seconds,
        )

    def _now(self) -> int:
        return self._chronicle.now()


def _count(result: Result) -> int:
    match result:
        case Solutions(_, rows):
            return sum(1 for _ in rows)
        case Triples(triples):
            return sum(1 for _ in triples)
        case Boolean():
            return 1
