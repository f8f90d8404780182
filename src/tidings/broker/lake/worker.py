"""The process that reads a history lake: `tidings history answer`, or another command with the same protocol.

It is a process of its own because Spark and its Java take seconds to start, need gigabytes, and may crash. It ends when
its stdin is closed, so it never outlives the broker.
"""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from typing import assert_never

import msgspec

from tidings.broker.errors import LakeLost, LakeRefused, LakeTooSlow
from tidings.model.errors import AnswerTooLarge
from tidings.protocol.errors import brief, error_of
from tidings.protocol.lake_lines import Columns, Done, Question, Ready, Refused, Rows, Said, Truth, read_said, written

log = logging.getLogger("tidings")

_LONGEST = 16 << 20
"""The longest line, in bytes: a row has to fit into it."""
_LAST_WORDS = 20
"""How many of its last lines on stderr are logged if it crashes."""


class Worker:
    """One such process. After any error other than LakeRefused, it is ended."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._printed: deque[str] = deque(maxlen=_LAST_WORDS)
        self._has_begun = False
        """Whether Spark runs, and works on the last question."""
        self._listening = asyncio.create_task(self._listen())

    @classmethod
    async def start(cls, command: Sequence[str]) -> "Worker":
        """Raises LakeLost."""
        pipe = asyncio.subprocess.PIPE
        try:
            process = await asyncio.create_subprocess_exec(
                *command, stdin=pipe, stdout=pipe, stderr=pipe, limit=_LONGEST
            )
        except OSError as error:
            raise LakeLost(f"the process that reads the history lake cannot be started: {error.strerror}") from error
        return cls(process)

    @property
    def is_alive(self) -> bool:
        return self._process.returncode is None

    async def ask(
        self, question: Question, *, starting: float, seconds: float | None, size: int
    ) -> AsyncIterator[Columns | Rows | Truth]:
        """The parts of the answer to a question. `starting` limits the seconds in which Spark starts, `seconds` those
        of the answer, `size` its bytes. Raises LakeRefused, LakeLost, LakeTooSlow, AnswerTooLarge."""
        try:
            async for said in self._said(question, starting, seconds, size):
                yield said
        except LakeRefused:
            raise
        except TimeoutError:
            await self.end()
            failed = "answer in time; ask for less, or a later commit" if self._has_begun else "start Spark in time"
            raise LakeTooSlow(f"the process that reads the history lake did not {failed}") from None
        except BaseException:
            await self.end()
            raise

    async def _said(
        self, question: Question, starting: float, seconds: float | None, size: int
    ) -> AsyncIterator[Columns | Rows | Truth]:
        """Raises TimeoutError as well."""
        loop, got = asyncio.get_running_loop(), 0
        until: float | None = loop.time() + starting
        self._has_begun = False
        self._send(question)
        while True:
            async with asyncio.timeout_at(until):
                line = await self._line()
            got += len(line)
            match said := _read(line):
                case Ready():
                    self._has_begun = True
                    until = None if seconds is None else loop.time() + seconds
                case Refused(error):
                    raise LakeRefused(error_of(error))
                case Done():
                    return
                case Columns() | Rows() | Truth():
                    if got > size:
                        raise AnswerTooLarge(f"the lake answers with more than {size:,} bytes; ask for less", size)
                    yield said
                case _:
                    assert_never(said)

    def _send(self, question: Question) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(written(question))

    async def _line(self) -> bytes:
        """Raises LakeLost."""
        assert self._process.stdout is not None
        try:
            line = await self._process.stdout.readline()
        except ValueError as error:
            raise LakeLost(
                f"the process that reads the history lake sent a line of more than {_LONGEST:,} bytes"
            ) from error
        if not line.endswith(b"\n"):
            raise await self._loss()
        return line

    async def _loss(self) -> LakeLost:
        code = await self._process.wait()
        await self._listening
        for line in self._printed:
            log.warning("history lake: %s", line)
        said = f": {brief(self._printed[-1])}" if self._printed else ""
        return LakeLost(f"the process that reads the history lake has ended with code {code}{said}")

    async def _listen(self) -> None:
        """Keep its last lines on stderr."""
        assert self._process.stderr is not None
        with suppress(ValueError):  # a line that is too long to be logged
            async for line in self._process.stderr:
                self._printed.append(line.decode(errors="replace").rstrip())

    async def end(self) -> None:
        """Kill the process. Its Java ends with it."""
        with suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()
        self._listening.cancel()


def _read(line: bytes) -> Said:
    try:
        return read_said(line)
    except msgspec.DecodeError as error:
        raise LakeLost(f"the process that reads the history lake sent an invalid line: {error}") from error
