"""Queries, beside the updates: on the loop for a slice of time, and what takes longer in a fork.

Most queries are look-ups that end within the slice. One that does not is begun anew in a copy of the process, which
sees the store as it is at that moment: updates go on meanwhile, and it holds up nobody.
"""

import tempfile
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import BinaryIO, TypeAlias, cast

from tidings.broker.durability.commit_log import CommitLog
from tidings.broker.forks import Forks
from tidings.broker.spool import Spool, fill
from tidings.engine.engine import Engine
from tidings.engine.plans.newcomer import Beginning, Newcomer
from tidings.model.access import ALL_RIGHTS, Rights
from tidings.model.errors import TimeLimitExceeded
from tidings.model.results import Result, Row
from tidings.sparql.algebra import Dataset
from tidings.sparql.evaluate.context import Limits

Writer: TypeAlias = Callable[[Result], tuple[str, Iterable[bytes]]]
"""Turns a result into a document: its media type, and its bytes."""


class Queries:
    """Answers queries within limits. `clock` counts seconds."""

    def __init__(
        self,
        engine: Engine,
        commit_log: CommitLog,
        forks: Forks,
        *,
        slice_seconds: float,
        seconds: float | None,
        rows: int | None,
        clock: Callable[[], float],
    ) -> None:
        self._engine = engine
        self._commit_log = commit_log
        self._forks = forks
        self._slice = Limits(seconds=slice_seconds, rows=rows, clock=clock)
        self._whole = Limits(seconds=seconds, rows=rows, clock=clock)
        self.done = 0
        self.aside = 0

    async def answer(self, text: str, dataset: Dataset | None, write: Writer, rights: Rights = ALL_RIGHTS) -> Spool:
        """The answer as a document. If the caller is cancelled, so is the evaluation."""
        try:
            result = self._engine.query(text, dataset, now=self._now(), limits=self._slice, rights=rights)
            spool = Spool.of(*write(result))
        except TimeLimitExceeded:
            spool = await self._aside(text, dataset, write, rights)
        await self._commit_log.settled()  # nobody is shown what a crash could still undo
        self.done += 1
        warnings = self._engine.core.warnings_of(text, dataset)
        return replace(spool, warnings=warnings) if warnings else spool

    async def _aside(self, text: str, dataset: Dataset | None, write: Writer, rights: Rights) -> Spool:
        self.aside += 1
        file = cast(BinaryIO, tempfile.TemporaryFile())  # noqa: SIM115 -- whoever sends it closes it
        work = partial(self._write, file, text, dataset, write, rights)
        try:
            media_type, size = await self._forks.run(work, seconds=self._whole.seconds, keep=(file.fileno(),))
        except BaseException:
            file.close()
            raise
        file.seek(0)
        return Spool(media_type, file, size)

    def _write(
        self, file: BinaryIO, text: str, dataset: Dataset | None, write: Writer, rights: Rights
    ) -> tuple[str, int]:
        """In the fork: the media type and the size of the answer."""
        self._engine.begin_apart(self._now())
        result = self._engine.query(text, dataset, now=self._now(), limits=self._whole, rights=rights)
        media_type, chunks = write(result)
        size = fill(file, chunks)
        file.flush()
        return media_type, size

    def first_answer(self, text: str, dataset: Dataset | None, rights: Rights) -> list[Row] | None:
        """What a subscription is told first; None if that takes longer than a slice. Raises what is wrong with it."""
        try:
            return self._engine.first_answer(text, dataset, now=self._now(), limits=self._slice, rights=rights)
        except TimeLimitExceeded:
            return None

    def whole_answer(self, text: str, dataset: Dataset | None, rights: Rights) -> list[Row]:
        """The same, however long that takes within the limits."""
        return self._engine.first_answer(text, dataset, now=self._now(), limits=self._whole, rights=rights)

    def begin(self, newcomer: Newcomer) -> Beginning:
        """In a fork: the first answer of a newcomer, however long that takes within the limits."""
        self._engine.begin_apart(self._now())
        return newcomer.begin(self._whole)

    def _now(self) -> int:
        return self._commit_log.now()
