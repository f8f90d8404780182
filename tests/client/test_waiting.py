"""Clients that wait for a broker which starts later, if they are asked to."""

import asyncio
from collections.abc import Callable

import pytest

from ports import free_port
from tidings.client import Endpoint, connect
from tidings.client.discovery import persist
from tidings.client.errors import CannotConnect, NotUnderstood
from tidings.client.http import HttpClient
from tidings.model.errors import TidingsError
from tls.house import serving
from waiting import PATIENCE, asynchronous, until


@asynchronous
async def test_every_client_waits_for_a_broker_that_starts_later(caplog: pytest.LogCaptureFixture) -> None:
    port = free_port()
    url = f"http://127.0.0.1:{port}"

    async def over_a_socket() -> bool:
        async with connect(url, wait=PATIENCE) as broker:
            return bool(await broker.query("ASK {}"))

    async def over_http() -> bool:
        async with Endpoint(f"{url}/query", wait=PATIENCE) as store:
            return bool(await store.query("ASK {}"))

    def by_hand() -> bool:
        with HttpClient(url, wait=PATIENCE) as calls:
            return bool(calls.json("/status"))

    asking = asyncio.gather(over_a_socket(), over_http(), asyncio.to_thread(by_hand))
    await until(lambda: caplog.text.count("waiting for it") == 3)
    async with serving(http_port=port, ws_port=port):
        assert all(await asyncio.wait_for(asking, PATIENCE))
    assert caplog.text.count("waiting for it") == 3


@asynchronous
async def test_nobody_waits_who_was_not_asked_to() -> None:
    url = f"http://127.0.0.1:{free_port()}"
    with pytest.raises(CannotConnect):
        await connect(url).__aenter__()
    async with Endpoint(f"{url}/query") as store:
        with pytest.raises(CannotConnect):
            await store.query("ASK {}")
    with HttpClient(url) as calls, pytest.raises(CannotConnect):
        calls.json("/status")


def failing(*errors: TidingsError) -> tuple[Callable[[], asyncio.Future[int]], list[int]]:
    """An attempt that fails with these errors first, and how often it was made."""
    made: list[int] = []

    def attempt() -> asyncio.Future[int]:
        outcome: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        made.append(len(made) + 1)
        if len(made) <= len(errors):
            outcome.set_exception(errors[len(made) - 1])
        else:
            outcome.set_result(len(made))
        return outcome

    return attempt, made


@asynchronous
async def test_what_may_pass_is_tried_again_and_told_once() -> None:
    attempt, made = failing(CannotConnect("not yet"), CannotConnect("nor now"))
    told: list[TidingsError] = []
    assert await persist(attempt, None, told=told.append) == 3
    assert [str(error) for error in told] == ["not yet"]
    assert made == [1, 2, 3]


@asynchronous
async def test_what_does_not_pass_ends_the_waiting() -> None:
    attempt, made = failing(CannotConnect("not yet"), NotUnderstood("this is no broker"))
    with pytest.raises(NotUnderstood):
        await persist(attempt, PATIENCE)
    assert made == [1, 2]


@asynchronous
async def test_without_time_there_is_one_attempt() -> None:
    attempt, made = failing(CannotConnect("not yet"))
    with pytest.raises(CannotConnect):
        await persist(attempt, 0.0)
    assert made == [1]
