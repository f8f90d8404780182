"""Who remains an administrator: somebody always does, whoever asks, and however many change something at once."""

import asyncio

import pytest

from broker.making import Clock
from security.making import ISSUER, House, authority, settings
from tidings.security.administration import Administration, Asking
from tidings.security.errors import InvalidGrant, LastAdministrator
from tidings.security.passport import ANONYMOUS, Passport
from tidings.security.policy.grants import Grant
from waiting import asynchronous

OPERATORS = (Grant("role:operators", administer=True),)
STRANGER = Passport("anna", "city:anna", "https://login.example.org", frozenset(), frozenset({"operators"}), 1)


def asked_by(passport: Passport) -> Asking:
    async def ask() -> Passport:
        return passport

    return ask


def own(house: House, name: str) -> Asking:
    """A client of ours, as long as it is one."""

    async def ask() -> Passport:
        if house.authority.credentials.find(name) is None:
            raise InvalidGrant("the token was revoked")
        return Passport(name, name, ISSUER)

    return ask


ANYBODY = asked_by(ANONYMOUS)


@asynchronous
async def test_two_administrators_who_remove_each_other_at_once_do_not_both_succeed(clock: Clock) -> None:
    async with authority(clock, settings(grant=OPERATORS)) as house:
        administration = Administration(house.authority)
        assert not administration.is_in_hands()
        for name in ("anna", "bert"):
            await administration.enroll(ANYBODY, name, frozenset({"operators"}), frozenset())
        assert administration.is_in_hands()
        outcomes = await asyncio.gather(
            administration.remove(own(house, "anna"), "bert"),
            administration.remove(own(house, "bert"), "anna"),
            return_exceptions=True,
        )
        assert [type(outcome) for outcome in outcomes] == [type(None), InvalidGrant]
        assert [client.id for client in house.authority.credentials] == ["anna"]


@asynchronous
async def test_two_changes_that_are_harmless_alone_do_not_lock_everybody_out_together(clock: Clock) -> None:
    async with authority(clock, settings(grant=(Grant("client:anna", administer=True),))) as house:
        administration = Administration(house.authority)
        for name in ("anna", "bert"):
            await administration.enroll(ANYBODY, name, frozenset({"operators"}), frozenset())
        await administration.grant(own(house, "anna"), "operators", OPERATORS)
        outcomes = await asyncio.gather(
            administration.withdraw(own(house, "bert"), "operators"),  # anna remains
            administration.remove(own(house, "bert"), "anna"),  # bert would remain, by the other
            return_exceptions=True,
        )
        assert [type(outcome) for outcome in outcomes] == [type(None), LastAdministrator]


@asynchronous
async def test_one_from_elsewhere_who_may_administer_counts_as_one_who_remains(clock: Clock) -> None:
    async with authority(clock, settings(grant=OPERATORS)) as house:
        administration = Administration(house.authority)
        await administration.enroll(ANYBODY, "bert", frozenset({"operators"}), frozenset())
        with pytest.raises(LastAdministrator):
            await administration.remove(own(house, "bert"), "bert")
        await administration.remove(asked_by(STRANGER), "bert")
        assert not administration.is_in_hands()
        mine = (Grant("client:city:anna", administer=True),)
        await administration.grant(asked_by(STRANGER), "mine", mine)
        await house.authority.policies.replace("file", ())
        with pytest.raises(LastAdministrator):
            await administration.withdraw(asked_by(STRANGER), "mine")
        with pytest.raises(LastAdministrator):
            await administration.grant(asked_by(STRANGER), "mine", (Grant("everyone", query=("*",)),))


@asynchronous
async def test_where_everybody_may_administer_somebody_always_remains(clock: Clock) -> None:
    async with authority(clock, settings(grant=(Grant("everyone", administer=True),))) as house:
        administration = Administration(house.authority)
        await administration.enroll(ANYBODY, "bert", frozenset(), frozenset())
        await administration.remove(ANYBODY, "bert")


@asynchronous
async def test_a_change_that_cannot_be_written_changes_nothing_and_the_next_one_can(clock: Clock) -> None:
    async with authority(clock, settings(grant=OPERATORS)) as house:
        administration = Administration(house.authority)
        await administration.enroll(ANYBODY, "anna", frozenset({"operators"}), frozenset())
        house.pages.full = True
        for change in (
            administration.assign(own(house, "anna"), "anna", frozenset({"operators", "more"}), frozenset()),
            administration.grant(own(house, "anna"), "more", OPERATORS),
            administration.rotate(ANYBODY),
        ):
            with pytest.raises(Exception, match="the disk is full"):
                await change
        house.pages.full = False
        changed = await administration.assign(own(house, "anna"), "anna", frozenset({"operators", "more"}), frozenset())
        assert changed.roles == {"operators", "more"}
        assert list(house.authority.policies.parts) == ["file"]
