"""The list of subscribers, in the order in which they came: pages, and what has changed since."""

from functools import partial
from operator import eq
from typing import cast

from hypothesis import given
from hypothesis import strategies as st

from tidings.broker.subscriptions.roll import Roll
from tidings.broker.subscriptions.subscriber import Subscriber


class Named:
    def __init__(self, spuid: str, owner: str | None = None) -> None:
        self.spuid = spuid
        self.owner = owner


def named(number: int, owner: str | None = None) -> Subscriber:
    return cast(Subscriber, Named(f"s{number}", owner))


def spuids(roll: Roll) -> list[str]:
    return [each.spuid for each in roll.all()]


@given(st.lists(st.integers(-8, 8)), st.integers(1, 5))
def test_what_has_changed_since_a_position_leads_from_that_list_to_this_one(steps: list[int], remembered: int) -> None:
    roll, here, positions = Roll(remembered), dict[str, None](), [("", dict[str, None]())]
    for number, step in enumerate(steps):
        if step >= 0:
            roll.enter(named(number))
            here[f"s{number}"] = None
        elif here:
            spuid = list(here)[step % len(here)]
            roll.leave(named(int(spuid[1:])))
            del here[spuid]
        positions.append((roll.end, dict(here)))
    assert spuids(roll) == list(here)
    for position, then in positions[1:]:
        ended = roll.ended_since(position)
        if ended is not None:
            came = [each.spuid for each in roll.after(position)]
            assert [spuid for spuid in then if spuid not in ended] + came == list(here)


@given(st.lists(st.booleans(), max_size=40))
def test_a_page_goes_on_behind_its_last_one_whoever_left_meanwhile(leaves: list[bool]) -> None:
    roll = Roll()
    subscribers = [named(number) for number in range(40)]
    for each in subscribers:
        roll.enter(each)
    position = roll.position(subscribers[19])
    for each, left in zip(subscribers, leaves, strict=False):
        if left:
            roll.leave(each)
    still = [each.spuid for each in roll.all()]
    assert [each.spuid for each in roll.after(position)] == [spuid for spuid in still if int(spuid[1:]) > 19]


def test_departures_that_are_not_remembered_are_not_told() -> None:
    roll = Roll(remembered=2)
    for number in range(4):
        roll.enter(named(number))
    start = roll.end
    for number in range(2):
        roll.leave(named(number))
    assert roll.ended_since(start) == ["s0", "s1"]
    roll.leave(named(2))
    assert roll.ended_since(start) is None


def test_whoever_is_not_there_cannot_leave() -> None:
    roll = Roll()
    roll.leave(named(9))
    assert roll.ended_since(roll.end) == []


def test_those_who_may_see_the_subscriptions_of_one_owner_hear_of_no_others() -> None:
    roll = Roll()
    owners = ["anna", "berta", None, "anna"]
    for number, owner in enumerate(owners):
        roll.enter(named(number, owner))
    start = roll.end
    sees = partial(eq, "anna")
    assert [each.spuid for each in roll.all(sees)] == ["s0", "s3"]
    assert [each.spuid for each in roll.after(roll.position(named(0)), sees)] == ["s3"]
    assert (roll.count(), roll.count(sees)) == (4, 2)
    for number, owner in enumerate(owners[:3]):
        roll.leave(named(number, owner))
    assert (roll.ended_since(start), roll.ended_since(start, sees)) == (["s0", "s1", "s2"], ["s0"])
    assert (roll.count(), roll.count(sees)) == (1, 1)
