"""Who remains an administrator: somebody always does, whoever asks, and however many change something at once."""

import asyncio

import pytest

from broker.making import Clock
from security.making import ISSUER, authority, settings
from tidings.security.administration import Administration
from tidings.security.errors import LastAdministrator
from tidings.security.passport import ANONYMOUS, Passport
from tidings.security.policy.grants import Grant
from waiting import asynchronous

OPERATORS = (Grant("role:operators", administer=True),)
STRANGER = Passport("anna", "city:anna", "https://login.example.org", frozenset(), frozenset({"operators"}), 1)


def own(name: str) -> Passport:
    return Passport(name, name, ISSUER)


@asynchronous
async def test_two_administrators_who_remove_each_other_at_once_do_not_both_succeed(clock: Clock) -> None:
    async with authority(clock, settings(grant=OPERATORS)) as house:
        administration = Administration(house.authority)
        assert not administration.is_in_hands()
        for name in ("anna", "bert"):
            await administration.enroll(name, frozenset({"operators"}), frozenset())
        assert administration.is_in_hands()
        outcomes = await asyncio.gather(
            administration.remove(own("anna"), "bert"),
            administration.remove(own("bert"), "anna"),
            return_exceptions=True,
        )
        assert [type(outcome) for outcome in outcomes] == [type(None), LastAdministrator]
        assert [client.id for client in house.authority.credentials] == ["anna"]


@asynchronous
async def test_one_from_elsewhere_who_may_administer_counts_as_one_who_remains(clock: Clock) -> None:
    async with authority(clock, settings(grant=OPERATORS)) as house:
        administration = Administration(house.authority)
        await administration.enroll("bert", frozenset({"operators"}), frozenset())
        with pytest.raises(LastAdministrator):
            await administration.remove(own("bert"), "bert")
        await administration.remove(STRANGER, "bert")
        assert not administration.is_in_hands()
        mine = (Grant("client:city:anna", administer=True),)
        await administration.grant(STRANGER, "mine", mine)
        await house.authority.policies.replace("file", ())
        with pytest.raises(LastAdministrator):
            await administration.withdraw(STRANGER, "mine")
        with pytest.raises(LastAdministrator):
            await administration.grant(STRANGER, "mine", (Grant("everyone", query=("*",)),))


@asynchronous
async def test_where_everybody_may_administer_somebody_always_remains(clock: Clock) -> None:
    async with authority(clock, settings(grant=(Grant("everyone", administer=True),))) as house:
        administration = Administration(house.authority)
        await administration.enroll("bert", frozenset(), frozenset())
        await administration.remove(ANONYMOUS, "bert")


@asynchronous
async def test_a_change_that_cannot_be_written_changes_nothing_and_the_next_one_can(clock: Clock) -> None:
    async with authority(clock, settings(grant=OPERATORS)) as house:
        administration = Administration(house.authority)
        await administration.enroll("anna", frozenset({"operators"}), frozenset())
        house.pages.full = True
        for change in (
            administration.assign(own("anna"), "anna", frozenset({"operators", "more"}), frozenset()),
            administration.grant(own("anna"), "more", OPERATORS),
            administration.rotate(),
        ):
            with pytest.raises(Exception, match="the disk is full"):
                await change
        house.pages.full = False
        changed = await administration.assign(own("anna"), "anna", frozenset({"operators", "more"}), frozenset())
        assert changed.roles == {"operators", "more"}
        assert list(house.authority.policies.parts) == ["file"]
