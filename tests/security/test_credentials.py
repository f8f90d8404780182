"""Clients and their secrets: compared beside the loop, in the same time whoever asks, and changed while running."""

import asyncio
import threading
from unittest import mock

import pytest
from argon2 import PasswordHasher

from broker.making import Clock
from security.making import CHEAP, authority, settings
from tidings.security.clients.secrets import Secrets
from tidings.security.errors import (
    InvalidGrant,
    NotAuthorizedIdentity,
    TooManyAttempts,
    TooManyClients,
    UnauthorizedClient,
    UnknownClient,
)
from waiting import asynchronous, until


@asynchronous
async def test_a_client_that_nobody_knows_takes_as_many_hashes_as_one_with_a_wrong_secret(clock: Clock) -> None:
    async with authority(clock) as house:
        await house.register()
        credentials = house.authority.credentials
        with pytest.raises(UnauthorizedClient) as first:
            await credentials.authenticate("nobody", "x")
        verify = PasswordHasher.verify
        with mock.patch.object(PasswordHasher, "verify", autospec=True, side_effect=verify) as compared:
            for name in ("lamp-1", "nobody", "somebody-else"):
                compared.reset_mock()
                with pytest.raises(UnauthorizedClient) as caught:
                    await credentials.authenticate(name, "wrong")
                assert compared.call_count == 1
                assert str(caught.value) == str(first.value), "the answer does not tell them apart either"


@asynchronous
async def test_hashing_does_not_hold_the_loop_and_only_so_many_wait_for_it() -> None:
    secrets, gate = Secrets(CHEAP, at_once=1, waiting=2), threading.Event()

    def slowly(_: PasswordHasher, secret: str) -> str:
        gate.wait()
        return f"hash of {secret}"

    with mock.patch.object(PasswordHasher, "hash", slowly):
        hashing = [asyncio.create_task(secrets.hash(str(number))) for number in range(3)]
        await until(lambda: secrets.inside == 3)  # which the loop could not see if it were held
        with pytest.raises(TooManyAttempts):
            await secrets.hash("one too many")
        gate.set()
        assert await asyncio.gather(*hashing) == ["hash of 0", "hash of 1", "hash of 2"]
        assert await secrets.hash("now") == "hash of now"
    secrets.close()


@asynchronous
async def test_two_who_want_the_same_identity_at_once_do_not_both_get_it(clock: Clock) -> None:
    async with authority(clock) as house:
        register = house.authority.credentials.register
        outcomes = await asyncio.gather(*(register("lamp-1") for _ in range(5)), return_exceptions=True)
        assert sum(isinstance(outcome, NotAuthorizedIdentity) for outcome in outcomes) == 4
        assert len(house.authority.credentials) == 1


@asynchronous
async def test_only_so_many_clients_are_registered(clock: Clock) -> None:
    async with authority(clock, settings(clients=2)) as house:
        register = house.authority.credentials.register
        outcomes = await asyncio.gather(*(register(f"lamp-{n}") for n in range(4)), return_exceptions=True)
        assert sum(isinstance(outcome, TooManyClients) for outcome in outcomes) == 2


@asynchronous
async def test_roles_and_scopes_change_for_tokens_that_are_out(clock: Clock) -> None:
    async with authority(clock) as house:
        told: list[str] = []
        house.authority.followers.add(lambda: told.append("changed"))
        token = await house.newcomer()
        assert (await house.authority.identify(token)).roles == {"lamps"}
        await house.authority.credentials.assign("lamp-1", frozenset({"operators"}), frozenset({"read"}))
        passport = await house.authority.identify(token)
        assert passport.roles == {"operators"}
        assert passport.scopes == {"read"}
        await house.authority.credentials.remove("lamp-1")
        with pytest.raises(InvalidGrant):
            await house.authority.identify(token)
        assert len(told) == 2


@asynchronous
async def test_nobody_can_change_a_client_that_does_not_exist(clock: Clock) -> None:
    async with authority(clock) as house:
        credentials = house.authority.credentials
        for change in (
            credentials.revoke("x"),
            credentials.remove("x"),
            credentials.assign("x", frozenset(), frozenset()),
        ):
            with pytest.raises(UnknownClient):
                await change
