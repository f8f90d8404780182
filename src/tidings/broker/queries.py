"""Answers queries: on the event loop for a slice of time, and in a fork if they take longer.

Most queries are look-ups that end within the slice. The broker begins a longer one anew in a fork, which sees the store
of that moment, and goes on with updates meanwhile.
"""

import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import BinaryIO, TypeAlias, cast

from tidings.broker.durability.commit_log import CommitLog
from tidings.broker.durability.past import check_past, rewind
from tidings.broker.forks import Forks
from tidings.broker.lake.lake import HistoryLake
from tidings.broker.spool import Spool, fill
from tidings.engine.engine import Engine
from tidings.engine.plans.newcomer import Beginning, Newcomer
from tidings.engine.plans.reevaluated_spu import ReevaluatedSpu
from tidings.log.errors import HistoryGone
from tidings.model.access import ALL_RIGHTS, Rights
from tidings.model.errors import RequestTooComplex, TimeLimitExceeded
from tidings.model.results import Result, Row
from tidings.sparql.algebra import Dataset
from tidings.sparql.evaluate.context import Limits

LONG_QUERY = 1 << 15
"""A fork parses queries of more characters: the parser reads dense patterns at about 1 MB a second."""

LONG_SUBSCRIPTION = 1 << 12
"""A fork first parses and plans subscriptions of more characters: planning one takes longer than planning a query."""

_OFTEN = 2
"""Work that is repeated after commits may take this many times less than work that is done once."""

Writer: TypeAlias = Callable[[Result], tuple[str, Iterable[bytes]]]
"""Turns a result into a document: its media type, and its bytes."""

Written: TypeAlias = tuple[str, int, tuple[str, ...]]
"""What a fork reports of an answer that it has written: media type, size, and warnings."""


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
        planning: float = float("inf"),
        answer: int | None = None,
    ) -> None:
        self._engine = engine
        self._commit_log = commit_log
        self._forks = forks
        self._slice = Limits(seconds=slice_seconds, rows=rows, clock=clock)
        self._whole = Limits(seconds=seconds, rows=rows, clock=clock)
        self._planning_seconds = planning
        self.most_bytes = answer
        """The largest answer, in bytes."""
        self.lake: HistoryLake | None = None
        """Answers queries about commits that the log no longer has."""
        self.done = 0
        self.aside = 0

    async def answer(
        self,
        text: str,
        dataset: Dataset | None,
        write: Writer,
        rights: Rights = ALL_RIGHTS,
        client: str | None = None,
        at: int | None = None,
    ) -> Spool:
        """The answer as a document, for the present state or the state after the commit `at`. If the caller is
        cancelled, so is the evaluation. A fork counts against the share of `client`. Raises NoLog, UnknownCommit,
        HistoryGone."""
        if at is not None:
            check_past(self._commit_log, at)
        spool = self._at_once(text, dataset, write, rights) if at is None else None
        if spool is None:
            spool = await self._elsewhere(text, dataset, write, rights, at, client)
        await self._commit_log.settled()  # an answer must not show commits that a crash could still undo
        self.done += 1
        return spool

    def _at_once(self, text: str, dataset: Dataset | None, write: Writer, rights: Rights) -> Spool | None:
        """The answer, if parsing, planning and evaluating the query fit into a slice of time; otherwise None."""
        if len(text) > LONG_QUERY:
            return None
        try:
            result = self._engine.query(text, dataset, now=self._now(), limits=self._slice, rights=rights)
            spool = Spool.of(*write(result), self.most_bytes)
        except TimeLimitExceeded:
            return None
        warnings = self._engine.core.warnings_of(text, dataset)
        return replace(spool, warnings=warnings) if warnings else spool

    async def _elsewhere(
        self, text: str, dataset: Dataset | None, write: Writer, rights: Rights, at: int | None, client: str | None
    ) -> Spool:
        """The answer of a fork, or of the history lake, if there is one, for commits that the log no longer has."""
        first = None if at is None else self._commit_log.group_commit.write_out
        try:
            return await self._aside(partial(self._write, text, dataset, write, rights, at), client, first)
        except HistoryGone:
            if at is None or self.lake is None or not await self.lake.has(at, at):
                raise
            result = await self.lake.answer(text, dataset, self._engine.core.base, at, rights.read, client)
            return await self._aside(partial(self._write_down, text, dataset, write, result), client, None)

    async def _aside(
        self, write_to: Callable[[BinaryIO], Written], client: str | None, first: Callable[[], None] | None
    ) -> Spool:
        self.aside += 1
        file = cast(BinaryIO, tempfile.TemporaryFile())  # noqa: SIM115 -- whoever sends it closes it
        work, seconds = partial(write_to, file), self._whole.seconds
        try:
            media_type, size, warnings = await self._forks.run(
                work, seconds=seconds, keep=(file.fileno(),), client=client, first=first
            )
        except BaseException:
            file.close()
            raise
        file.seek(0)
        return Spool(media_type, file, size, warnings)

    def _write(
        self, text: str, dataset: Dataset | None, write: Writer, rights: Rights, at: int | None, file: BinaryIO
    ) -> Written:
        """Runs in the fork: writes the answer to the file."""
        self._engine.begin_apart(self._now())
        if at is not None:
            self._engine.core.check_query(text, dataset)
            rewind(self._engine.store, self._commit_log, at)
        result = self._engine.query(text, dataset, now=self._now(), limits=self._whole, rights=rights)
        return self._write_down(text, dataset, write, result, file)

    def _write_down(self, text: str, dataset: Dataset | None, write: Writer, result: Result, file: BinaryIO) -> Written:
        media_type, chunks = write(result)
        size = fill(file, chunks, self.most_bytes)
        file.flush()
        return media_type, size, self._engine.core.warnings_of(text, dataset)

    def first_answer(self, text: str, dataset: Dataset | None, rights: Rights) -> list[Row] | None:
        """The first answer of a subscription; None if it takes longer than a slice. Raises what is wrong with it."""
        try:
            return self._engine.first_answer(text, dataset, now=self._now(), limits=self._slice, rights=rights)
        except TimeLimitExceeded:
            return None

    def whole_answer(self, text: str, dataset: Dataset | None, rights: Rights) -> list[Row]:
        """The same within the limits of a whole query."""
        return self._engine.first_answer(text, dataset, now=self._now(), limits=self._whole, rights=rights)

    def parts(self, text: str, dataset: Dataset | None) -> int | None:
        """How many parts a subscription has, to estimate how long planning takes; None if the text is too long to parse
        here. Raises what is wrong with the text."""
        return None if len(text) > LONG_SUBSCRIPTION else self._engine.planning.template(text, dataset)[0].parts

    async def check_planning(self, text: str, dataset: Dataset | None, client: str | None = None) -> None:
        """Measure in a fork how long the event loop would be blocked by parsing and planning a subscription. Raises
        RequestTooComplex if that is too long, or what is wrong with the text."""
        work, seconds = partial(self._planning, text, dataset), self._whole.seconds
        spent = await self._forks.run(work, seconds=seconds, client=client)
        if spent > self._planning_seconds:
            said = (
                f"to plan the subscription, or to evaluate it often, takes {spent:.2g} s, and the limit of max_planning"
            )
            limit = self._planning_seconds
            raise RequestTooComplex(f"{said} is {limit:g} s", measured=round(spent, 3), limit=limit)

    def _planning(self, text: str, dataset: Dataset | None) -> float:
        """Runs in the fork: the seconds of processor time that planning takes."""
        begun = time.process_time()
        template, values = self._engine.planning.template(text, dataset)
        spu, member = template.spu(values, ALL_RIGHTS.subscribe)
        planned = time.process_time() - begun
        if isinstance(spu, ReevaluatedSpu):  # the event loop evaluates it anew after each commit that concerns it
            list(spu.admit(member))
        return max(planned, _OFTEN * (time.process_time() - begun - planned))

    def begin(self, newcomer: Newcomer) -> Beginning:
        """Runs in a fork: the first answer of a newcomer, within the limits of a whole query."""
        self._engine.begin_apart(self._now())
        return newcomer.begin(self._whole)

    def abort(self) -> None:
        """End all evaluations in forks and in the lake: the broker is stopping."""
        self._forks.kill()
        if self.lake is not None:
            self.lake.abort()

    def _now(self) -> int:
        return self._commit_log.now()
