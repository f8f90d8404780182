"""Long work in a copy of the process: a fork sees the whole store as it is at that moment, and holds nobody up.

The operating system copies a page only when one of the two writes to it, so a snapshot of a city costs the loop
2 ms (docs/decisions/0014-forks.md). The copy works on another core, ends by its time limit, and is killed when
nobody waits for its outcome any more.
"""

import asyncio
import ctypes
import gc
import os
import pickle
import resource
import signal
import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Generic, NoReturn, TypeVar

from msgspec import Struct

from tidings.broker.errors import ShuttingDown, WorkLost
from tidings.broker.room import Room
from tidings.model.errors import MemoryLimitExceeded, TidingsError, TimeLimitExceeded

T = TypeVar("T")
_CHUNK = 1 << 20
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG
_NICE = 10
LATE = 5.0
"""Seconds that a copy may overrun its own time limit before it is killed."""


class Fork(Struct, Generic[T], frozen=True):
    """A copy at work, and where its outcome comes from."""

    child: int
    pipe: int


class Forks:
    """At most so many copies at a time; who comes later waits. `memory` is how many bytes a copy may need beyond what
    the original has."""

    def __init__(self, most: int, memory: int | None = None) -> None:
        self.room = Room(most)
        """For whoever launches a copy: `async with forks.room.taken(client)`."""
        self._memory = memory
        self.running: set[int] = set()
        """Process ids."""
        self.made = 0
        self._ending = False

    async def run(
        self,
        work: Callable[[], T],
        *,
        seconds: float | None,
        keep: Iterable[int] = (),
        client: str | None = None,
        first: Callable[[], None] | None = None,
    ) -> T:
        """The outcome of the work, which must be picklable; `keep` are the open files that it needs, `client` is
        whose share of the room it takes, and `first` is done before the copy is made, when there is room for it."""
        async with self.room.taken(client):
            if first is not None:
                first()
            return await self.outcome(self.launch(work, keep, seconds=seconds), seconds=seconds)

    def launch(
        self, work: Callable[[], T], keep: Iterable[int] = (), *, seconds: float | None = None, bounded: bool = True
    ) -> "Fork[T]":
        """Make a copy, now, that does the work within some seconds, whatever it is doing: reading, planning,
        evaluating; and, if `bounded`, within its memory. Its outcome must be waited for. Raises WorkLost,
        ShuttingDown."""
        if self._ending:
            raise ShuttingDown("the broker is stopping")
        reading, writing = os.pipe()
        try:
            child = _fork()
        except OSError as error:
            os.close(reading)
            os.close(writing)
            raise WorkLost(f"the broker could not fork a process for the evaluation: {error.strerror}") from error
        if child == 0:
            _work(work, writing, {writing, *keep}, seconds, self._memory if bounded else None)
        os.close(writing)
        self.made += 1
        self.running.add(child)
        return Fork(child, reading)

    async def outcome(self, fork: "Fork[T]", *, seconds: float | None) -> T:
        """What became of the work. Raises what the work raised, WorkLost, ShuttingDown."""
        try:
            async with asyncio.timeout(None if seconds is None else seconds + LATE):
                document = await _read_all(fork.pipe)
        except BaseException as error:
            os.kill(fork.child, signal.SIGKILL)
            if isinstance(error, TimeoutError):
                raise WorkLost("the evaluation did not end in time, so the broker killed its process") from error
            raise
        finally:
            os.close(fork.pipe)
            self.running.discard(fork.child)
            os.waitpid(fork.child, 0)  # it has closed its end of the pipe, or been killed: it is as good as gone
        outcome: T = self._opened(document)
        return outcome

    def _opened(self, document: bytes) -> Any:
        try:
            done, outcome = pickle.loads(document)  # written by a copy of ourselves
        except (EOFError, pickle.UnpicklingError) as error:
            if self._ending:
                raise ShuttingDown("the broker is stopping") from error
            raise WorkLost("the process of the evaluation died, perhaps because memory ran out") from error
        if not done:
            raise outcome
        return outcome

    def kill(self) -> None:
        """End all copies: nobody waits for them any more."""
        self._ending = True
        for child in self.running:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)


def _fork() -> int:
    with warnings.catch_warnings():
        # From Python 3.12 on, a fork beside threads is warned of. Ours only write files, and hold no lock of ours.
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def _work(work: Callable[[], Any], writing: int, keep: set[int], seconds: float | None, memory: int | None) -> NoReturn:
    """The copy's whole life. It leaves without ceremony: buffers, loops and locks of the original are not its own."""
    try:
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        os.nice(_NICE)  # where the two share a core, the original comes first
        gc.disable()  # a collection would touch, and so copy, everything
        _close_others(keep)
        view = memoryview(_outcome(partial(_in_time, work, seconds), memory))
        while view:
            view = view[os.write(writing, view) :]
    finally:
        os._exit(0)


def _outcome(work: Callable[[], Any], memory: int | None) -> bytes:
    """What becomes of the work, for the original."""
    failure: TidingsError
    _bound_memory(memory)
    try:
        return pickle.dumps((True, work()), pickle.HIGHEST_PROTOCOL)
    except TidingsError as error:
        failure = error
    except MemoryError:
        failure = WorkLost("memory ran out") if memory is None else MemoryLimitExceeded(memory)
    except Exception as error:  # noqa: BLE001 -- told to the original, which treats it as its own
        failure = WorkLost(f"{type(error).__name__}: {error}")
    _bound_memory(None)  # it is as good as over, and saying so takes some
    failure.__traceback__ = None
    return pickle.dumps((False, failure), pickle.HIGHEST_PROTOCOL)


def _bound_memory(more: int | None) -> None:
    """Let the process have so many bytes of addresses beyond those it has; None is as many as there are. What is asked
    for in vain is a MemoryError, while the original and its neighbours still have theirs."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = hard
    if more is not None:
        with Path("/proc/self/statm").open() as sizes:
            most = int(sizes.read().split()[0]) * resource.getpagesize() + more
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))


def _in_time(work: Callable[[], T], seconds: float | None) -> T:
    """The work, under an alarm: a copy has nothing that an exception in the wrong place could spoil."""
    if not seconds:
        return work()

    def ring(_: int, __: object) -> NoReturn:
        raise TimeLimitExceeded(seconds)

    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        return work()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _close_others(keep: set[int]) -> None:
    """A socket that the original closes must be closed for its peer, whatever the copy is doing."""
    first = 3
    for number in sorted(keep):
        os.closerange(first, number)
        first = number + 1
    os.closerange(first, resource.getrlimit(resource.RLIMIT_NOFILE)[0])


async def _read_all(pipe: int) -> bytes:
    loop = asyncio.get_running_loop()
    os.set_blocking(pipe, False)
    parts: list[bytes] = []
    ended: asyncio.Future[None] = loop.create_future()
    loop.add_reader(pipe, _read_part, pipe, parts, ended)
    try:
        await ended
    finally:
        loop.remove_reader(pipe)
    return b"".join(parts)


def _read_part(pipe: int, parts: list[bytes], ended: "asyncio.Future[None]") -> None:
    try:
        part = os.read(pipe, _CHUNK)
    except BlockingIOError:
        return
    if part:
        parts.append(part)
    elif not ended.done():
        ended.set_result(None)
