"""The list of subscribers, in the order in which they came: pages, and what has changed since."""

from typing import cast

from hypothesis import given
from hypothesis import strategies as st

from tidings.broker.subscriptions.roll import Roll
from tidings.broker.subscriptions.subscriber import Spuid, Subscriber


class Named:
    def __init__(self, spuid: str) -> None:
        self.spuid = spuid


def named(number: int) -> Subscriber:
    return cast(Subscriber, Named(f"s{number}"))


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
            roll.leave(Spuid(spuid))
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
            roll.leave(each.spuid)
    still = [each.spuid for each in roll.all()]
    assert [each.spuid for each in roll.after(position)] == [spuid for spuid in still if int(spuid[1:]) > 19]


def test_departures_that_are_not_remembered_are_not_told() -> None:
    roll = Roll(remembered=2)
    for number in range(4):
        roll.enter(named(number))
    start = roll.end
    for number in range(2):
        roll.leave(Spuid(f"s{number}"))
    assert roll.ended_since(start) == ["s0", "s1"]
    roll.leave(Spuid("s2"))
    assert roll.ended_since(start) is None


def test_whoever_is_not_there_cannot_leave() -> None:
    roll = Roll()
    roll.leave(Spuid("nobody"))
    assert roll.ended_since(roll.end) == []
