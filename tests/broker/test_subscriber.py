"""One subscriber: how its notifications are numbered, and which of them are kept."""

from hypothesis import given
from hypothesis import strategies as st

from tidings.broker.subscriptions.subscriber import UNKNOWN, Parcel, Spuid, Subscriber
from tidings.engine.engine import Engine
from tidings.model.access import ALL_RIGHTS
from tidings.model.results import Row
from tidings.model.zset import ZSet

VARIABLES = ("x",)


def subscriber() -> Subscriber:
    handle, _ = Engine().subscribe("SELECT ?x { ?x ?y ?z }", now=0)
    return Subscriber(Spuid("urn:it"), "SELECT ?x { ?x ?y ?z }", None, None, ALL_RIGHTS, handle)


def parcel(commit: int, *changes: tuple[str, int]) -> Parcel:
    return Parcel(commit, commit, VARIABLES, ZSet(((name,), weight) for name, weight in changes))


def test_changes_are_numbered_from_one_on_and_the_last_ones_kept() -> None:
    it = subscriber()
    assert [it.number(parcel(n, ("a", 1)), 3, 100) for n in range(1, 6)] == [1, 2, 3, 4, 5]
    assert it.retained is not None
    assert [number for number, _ in it.retained] == [3, 4, 5]
    assert it.missed(5) == []
    assert [each.commit for each in it.missed(3) or ()] == [4, 5]
    assert [each.commit for each in it.missed(2) or ()] == [3, 4, 5]
    assert it.missed(1) is None  # too long ago
    assert it.missed(6) is None  # never given out
    assert it.missed(-1) is None


def test_as_many_rows_are_kept_as_may_be() -> None:
    it = subscriber()
    for n in range(1, 5):
        it.number(parcel(n, ("a", 1), ("b", -1)), 100, 5)
    assert it.held == 4
    assert it.missed(2) is not None
    assert it.missed(1) is None
    it.number(parcel(5, *((f"x{n}", 1) for n in range(9))), 100, 5)
    assert it.held == 0
    assert it.missed(5) == []
    assert it.missed(4) is None


def test_nothing_is_known_of_what_was_forgotten() -> None:
    it = subscriber()
    it.number(parcel(1, ("a", 1)), 3, 100)
    it.forget()
    assert it.missed(1) is None
    assert it.missed(UNKNOWN) is None
    assert it.number(parcel(2, ("a", -1)), 3, 100) == UNKNOWN


def test_an_anchor_says_which_number_belonged_to_a_commit() -> None:
    it = subscriber()
    for n in range(1, 6):
        it.number(parcel(n, ("a", 1)), 64, 100)
    it.anchor(2, 4)  # 1, and 2 to 4 as one
    assert it.sequence == 3
    assert [each.commit for each in it.missed(2) or ()] == [5]
    assert it.missed(1) is None


def test_changes_of_rights_with_one_commit_are_told_apart_by_an_anchor() -> None:
    for known, sequence in ((0, 9), (1, 8), (2, 7)):
        it = subscriber()
        it.number(parcel(5, ("a", 1)), 64, 100)
        for turn in (1, 2):  # neither has a commit of its own
            it.number(Parcel(5, 5, VARIABLES, ZSet([(("a",), 1)]), reason="granted", turn=turn), 64, 100)
        assert it.turn == 2
        it.anchor(7, 5, known)  # when that was written down, so many of them had a number
        assert it.sequence == sequence
        assert [each.turn for each in it.missed(7) or ()] == [1, 2][known:]


_parcels = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from((-1, 1))), max_size=4)


@given(st.lists(_parcels, min_size=1, max_size=8))
def test_what_waits_is_the_sum_of_all_that_came(changes: list[list[tuple[str, int]]]) -> None:
    it = subscriber()
    total: ZSet[Row] = ZSet()
    for commit, each in enumerate(changes, 1):
        one = parcel(commit, *each)
        it.pending = one if it.pending is None else it.pending + one
        total += one.changes
    assert it.pending is not None
    assert it.pending.changes == total
    assert (it.pending.commit, it.pending.merged) == (len(changes), len(changes))
