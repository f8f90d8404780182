"""Long work in a fork, a copy of the process: it sees the whole store as of that moment, and does not block the loop.

The operating system copies a page of memory only when one of the two processes writes to it, so a fork with the store
of a city costs the loop 2 ms (docs/decisions/0014-forks.md). The copy works on another core, ends at its time limit,
and is killed when the caller that waits for its outcome is cancelled.
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
    """A copy at work, and the pipe through which it sends its outcome."""

    child: int
    pipe: int


class Forks:
    """Runs at most `most` copies at a time; further work waits. A copy may use `memory` bytes more than the original
    has."""

    def __init__(self, most: int, memory: int | None = None) -> None:
        self.room = Room(most)
        """Callers of `launch` take room first: `async with forks.room.taken(client)`."""
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
        """The outcome of the work, which must be picklable. `keep` are the open files that the work needs. The copy
        counts against the share of `client`. `first` is called when there is room, just before the copy is made."""
        async with self.room.taken(client):
            if first is not None:
                first()
            return await self.outcome(self.launch(work, keep, seconds=seconds), seconds=seconds)

    def launch(
        self, work: Callable[[], T], keep: Iterable[int] = (), *, seconds: float | None = None, bounded: bool = True
    ) -> "Fork[T]":
        """Make a copy now. It must do the work within `seconds`, parsing and planning included, and within its memory
        if `bounded`. The caller must await `outcome`. Raises WorkLost, ShuttingDown."""
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
        """The outcome of the work. Raises what the work raised, WorkLost, ShuttingDown."""
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
            os.waitpid(fork.child, 0)  # does not block for long: the copy has closed its pipe, or was killed
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
        """End all copies, and make no more: the broker is stopping."""
        self._ending = True
        for child in self.running:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)


def _fork() -> int:
    with warnings.catch_warnings():
        # Since Python 3.12, a fork in a process with threads warns. Our threads only write files, and hold no lock.
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def _work(work: Callable[[], Any], writing: int, keep: set[int], seconds: float | None, memory: int | None) -> NoReturn:
    """The whole life of the copy. It ends with `os._exit`: the buffers, the loop and the locks are the original's."""
    try:
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        os.nice(_NICE)  # if the two share a core, the original has priority
        gc.disable()  # a collection would write to all objects, and so copy all pages
        _close_others(keep)
        view = memoryview(_outcome(partial(_in_time, work, seconds), memory))
        while view:
            view = view[os.write(writing, view) :]
    finally:
        os._exit(0)


def _outcome(work: Callable[[], Any], memory: int | None) -> bytes:
    """The outcome or the error of the work, pickled for the original."""
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
    _bound_memory(None)  # pickling the error takes some memory, too
    failure.__traceback__ = None
    return pickle.dumps((False, failure), pickle.HIGHEST_PROTOCOL)


def _bound_memory(more: int | None) -> None:
    """Limit the process to `more` bytes of address space beyond what it has; None removes the limit. Beyond the limit,
    the copy gets a MemoryError, long before the original and other processes run out of memory."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = hard
    if more is not None:
        with Path("/proc/self/statm").open() as sizes:
            most = int(sizes.read().split()[0]) * resource.getpagesize() + more
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))


def _in_time(work: Callable[[], T], seconds: float | None) -> T:
    """Do the work until SIGALRM raises TimeLimitExceeded, which may happen anywhere: the copy's state is discarded."""
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
    """Close the copy's duplicates of open files: otherwise a socket that the original closes would stay open."""
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
