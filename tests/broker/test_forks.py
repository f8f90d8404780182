"""Work in a copy of the process: it sees the moment it began, answers or says why not, and ends when told."""

import asyncio
import errno
import os
import select
import signal
import socket
import tempfile
from pathlib import Path

import pytest

from tidings.broker import forks as room
from tidings.broker.errors import ShuttingDown, WorkLost
from tidings.broker.forks import Forks
from tidings.model.errors import MemoryLimitExceeded, SparqlSyntaxError, TimeLimitExceeded
from waiting import PATIENCE, asynchronous, until, wait_until


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


def is_gone(child: int) -> bool:
    """Whether nothing is left of a process, not even its exit code."""
    try:
        os.waitpid(child, os.WNOHANG)
    except ChildProcessError:
        return True
    return False


async def begun(forks: Forks) -> int:
    """The process that does the work."""
    await until(lambda: forks.running)
    (child,) = forks.running
    return child


@asynchronous
@pytest.mark.parametrize("outcome", [None, 42, ("text", {"a": [1.5]}), b"x" * 5_000_000])
async def test_the_outcome_comes_back(outcome: object) -> None:
    forks = Forks(1)
    before = open_files()
    assert await forks.run(lambda: outcome, seconds=PATIENCE) == outcome
    assert not forks.running
    assert forks.made == 1
    assert open_files() == before


@asynchronous
async def test_a_copy_sees_the_moment_it_was_made_in() -> None:
    forks = Forks(1)
    state = ["before"]
    fork = forks.launch(lambda: list(state))
    state[0] = "after"
    assert await forks.outcome(fork, seconds=PATIENCE) == ["before"]
    await forks.run(lambda: state.append("there"), seconds=PATIENCE)
    assert state == ["after"]


@asynchronous
async def test_an_error_of_ours_comes_back_with_its_data() -> None:
    def fails() -> None:
        raise SparqlSyntaxError("no", line=3, column=14, expected="'}'")

    def takes_too_long() -> None:
        raise TimeLimitExceeded(2.5)

    forks = Forks(1)
    with pytest.raises(SparqlSyntaxError) as failure:
        await forks.run(fails, seconds=PATIENCE)
    assert (failure.value.line, failure.value.column, failure.value.expected) == (3, 14, "'}'")
    assert failure.value.to_json()["line"] == 3
    with pytest.raises(TimeLimitExceeded) as late:
        await forks.run(takes_too_long, seconds=PATIENCE)
    assert late.value.seconds == 2.5


@asynchronous
async def test_any_other_failure_is_lost_work() -> None:
    forks = Forks(1)
    with pytest.raises(WorkLost, match="ZeroDivisionError"):
        await forks.run(lambda: 1 // 0, seconds=PATIENCE)
    with pytest.raises(WorkLost):
        await forks.run(lambda: os.kill(os.getpid(), signal.SIGKILL), seconds=PATIENCE)
    with pytest.raises(WorkLost):  # what cannot be pickled does not come back
        await forks.run(lambda: lambda: 1, seconds=PATIENCE)


@asynchronous
async def test_a_copy_that_does_not_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "LATE", 0.05)
    forks = Forks(1)
    working = asyncio.create_task(forks.run(signal.pause, seconds=0.0))
    child = await begun(forks)
    with pytest.raises(WorkLost):
        await working
    assert is_gone(child)
    assert not forks.running


@asynchronous
async def test_who_no_longer_waits_ends_the_copy() -> None:
    forks = Forks(1)
    before = open_files()
    working = asyncio.create_task(forks.run(signal.pause, seconds=None))
    child = await begun(forks)
    await asyncio.sleep(0)
    working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await working
    assert is_gone(child)
    assert open_files() == before
    assert await forks.run(lambda: "room for the next", seconds=PATIENCE)


@asynchronous
async def test_killed_copies_say_that_the_broker_is_stopping() -> None:
    forks = Forks(2)
    working = [asyncio.create_task(forks.run(signal.pause, seconds=None)) for _ in range(3)]
    await until(lambda: len(forks.running) == 2)
    forks.kill()
    found = await asyncio.gather(*working, return_exceptions=True)
    assert [type(each) for each in found] == [ShuttingDown] * 3  # who waits for room is not let in any more


@asynchronous
async def test_half_an_outcome_is_none() -> None:
    forks = Forks(1)
    fork = forks.launch(lambda: b"x" * 50_000_000)
    assert select.select([fork.pipe], [], [], PATIENCE)[0]  # some is there; the rest waits until we read on
    os.kill(fork.child, signal.SIGKILL)
    with pytest.raises(WorkLost):
        await forks.outcome(fork, seconds=PATIENCE)


@asynchronous
async def test_a_copy_that_cannot_be_made_is_lost_work_and_leaves_nothing_open(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> int:
        raise OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))

    monkeypatch.setattr(os, "fork", fail)
    forks = Forks(1)
    before = open_files()
    with pytest.raises(WorkLost, match="memory"):
        await forks.run(lambda: 1, seconds=PATIENCE)
    assert open_files() == before
    monkeypatch.undo()
    assert await forks.run(lambda: 1, seconds=PATIENCE) == 1


@asynchronous
async def test_only_so_many_work_at_a_time() -> None:
    forks = Forks(2)
    most = 0

    async def one() -> None:
        nonlocal most
        await forks.run(lambda: None, seconds=PATIENCE)

    async def watch() -> None:
        nonlocal most
        while forks.made < 5 or forks.running:
            most = max(most, len(forks.running))
            await asyncio.sleep(0)

    await asyncio.gather(watch(), *(one() for _ in range(5)))
    assert most == 2


@asynchronous
async def test_a_copy_holds_no_socket_open() -> None:
    ours, theirs = socket.socketpair()
    forks = Forks(1)
    number = ours.fileno()

    def look() -> int | None:
        try:
            os.fstat(number)
        except OSError as error:
            return error.errno
        return None

    with ours, theirs:
        assert await forks.run(look, seconds=PATIENCE) == errno.EBADF
        fork = forks.launch(signal.pause)
        ours.close()
        theirs.settimeout(PATIENCE)
        while forks.running:
            assert theirs.recv(1) == b""  # our end is closed, though the copy still works
            break
        forks.kill()
        with pytest.raises(ShuttingDown):
            await forks.outcome(fork, seconds=PATIENCE)


@asynchronous
async def test_a_copy_keeps_the_files_it_needs() -> None:
    forks = Forks(1)
    with tempfile.TemporaryFile() as file:
        await forks.run(lambda: os.write(file.fileno(), b"written"), seconds=PATIENCE, keep=(file.fileno(),))
        file.seek(0)
        assert file.read() == b"written"


@asynchronous
async def test_a_copy_is_deaf_to_the_signals_that_stop_the_broker(tmp_path: Path) -> None:
    ready = tmp_path / "ready"

    def work() -> str:
        ready.touch()
        wait_until(lambda: not ready.exists())
        return "done"

    forks = Forks(1)
    working = asyncio.create_task(forks.run(work, seconds=PATIENCE))
    child = await begun(forks)
    await until(ready.exists)
    os.kill(child, signal.SIGINT)
    os.kill(child, signal.SIGTERM)
    ready.unlink()
    assert await working == "done"


@asynchronous
async def test_a_copy_that_wants_too_much_memory_says_so_and_the_next_one_has_its_own() -> None:
    forks = Forks(1, memory=64 << 20)
    for work in (lambda: bytearray(128 << 20), lambda: [object() for _ in range(10_000_000)]):
        with pytest.raises(MemoryLimitExceeded) as refused:
            await forks.run(work, seconds=PATIENCE)
        assert refused.value.data() == {"bytes": 64 << 20}
    assert len(await forks.run(lambda: b"x" * (16 << 20), seconds=PATIENCE)) == 16 << 20


@asynchronous
async def test_what_is_not_bounded_may_have_what_there_is() -> None:
    forks = Forks(1, memory=1 << 20)
    fork = forks.launch(lambda: len(bytearray(128 << 20)), bounded=False)
    assert await forks.outcome(fork, seconds=PATIENCE) == 128 << 20
