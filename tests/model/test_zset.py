"""Z-sets are an abelian group, and hold nothing of weight zero."""

from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.model.zset import ZSet, add, cross_zero

pairs = st.lists(st.tuples(st.sampled_from("abcde"), st.integers(-3, 3)))
zsets = pairs.map(ZSet)
nothing: ZSet[str] = ZSet()


@given(zsets, zsets, zsets)
def test_addition_is_associative(a: ZSet[str], b: ZSet[str], c: ZSet[str]) -> None:
    assert (a + b) + c == a + (b + c)


@given(zsets, zsets)
def test_addition_is_commutative(a: ZSet[str], b: ZSet[str]) -> None:
    assert a + b == b + a


@given(zsets)
def test_nothing_is_the_neutral_element(a: ZSet[str]) -> None:
    assert a + nothing == a


@given(zsets)
def test_do_then_undo_is_nothing(a: ZSet[str]) -> None:
    assert a + -a == nothing
    assert not (a - a)


@given(zsets, zsets)
def test_subtraction_undoes_addition(a: ZSet[str], b: ZSet[str]) -> None:
    assert (a + b) - b == a


@given(zsets)
def test_the_opposite_of_the_opposite_is_the_thing_itself(a: ZSet[str]) -> None:
    opposite = -a
    assert -opposite == a


@given(pairs)
def test_weights_of_an_item_add_up(weighted: list[tuple[str, int]]) -> None:
    zset = ZSet(weighted)
    for item in "abcde":
        assert zset[item] == sum(weight for other, weight in weighted if other == item)


@given(pairs)
def test_no_item_of_weight_zero_is_kept(weighted: list[tuple[str, int]]) -> None:
    zset = ZSet(weighted)
    assert all(weight for _, weight in zset.items())
    assert len(zset) == len(list(zset.items()))
    assert bool(zset) == (len(zset) > 0)


@given(pairs, st.randoms(use_true_random=False))
def test_the_order_of_arrival_does_not_matter(weighted: list[tuple[str, int]], random: Random) -> None:
    shuffled = list(weighted)
    random.shuffle(shuffled)
    assert ZSet(weighted) == ZSet(shuffled)


@given(zsets, zsets)
def test_absorbing_is_adding_in_place(a: ZSet[str], b: ZSet[str]) -> None:
    total = a + b
    a.absorb(b)
    assert a == total


@given(zsets, zsets)
def test_operators_leave_their_operands_alone(a: ZSet[str], b: ZSet[str]) -> None:
    before = dict(a.items()), dict(b.items())
    _ = (a + b, a - b, -a)
    assert (dict(a.items()), dict(b.items())) == before


@given(zsets)
def test_what_was_added_and_removed_makes_the_change_again(a: ZSet[str]) -> None:
    assert ZSet.change(removed=a.removed(), added=a.added()) == a


@given(zsets)
def test_items_are_added_as_often_as_their_weight_says(a: ZSet[str]) -> None:
    assert Counter(a.added()) == {item: weight for item, weight in a.items() if weight > 0}
    assert Counter(a.removed()) == {item: -weight for item, weight in a.items() if weight < 0}


def test_an_item_both_removed_and_added_did_not_change() -> None:
    assert ZSet.change(removed=["a", "b"], added=["b", "c"]) == ZSet([("a", -1), ("c", 1)])


def test_an_unknown_item_weighs_nothing() -> None:
    assert ZSet([("a", 1)])["b"] == 0


def test_a_z_set_equals_no_other_kind_of_thing() -> None:
    assert ZSet([("a", 1)]) != {"a": 1}


def test_a_z_set_changes_and_so_has_no_hash() -> None:
    with pytest.raises(TypeError):
        hash(nothing)


def test_a_z_set_shows_its_weights() -> None:
    assert repr(ZSet([("a", 1), ("b", -2)])) == "ZSet(+1 'a', -2 'b')"


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from([-2, -1, 1, 2]))))
def test_the_crossings_of_zero_add_up_to_what_is_there(weighted: list[tuple[str, int]]) -> None:
    counts: dict[str, int] = {}
    crossings: dict[str, int] = {}
    for item, weight in weighted:
        add(crossings, item, cross_zero(counts, item, weight))
    assert counts == dict(ZSet(weighted).items())
    assert crossings == {item: 1 for item, count in counts.items() if count > 0}
