"""Leaves of indexes: sets and bags, whose only value stands for itself."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from tidings.engine.leaves import Leaf, drop, drop_once, put, put_again, size_of, values_of

changes = st.lists(st.tuples(st.booleans(), st.sampled_from("ab"), st.sampled_from("xyz")), max_size=30)


@given(changes)
def test_leaves_changed_as_sets_hold_what_sets_would(steps: list[tuple[bool, str, str]]) -> None:
    leaves: dict[str, Leaf[str]] = {}
    model: dict[str, set[str]] = {}
    for adds, key, value in steps:
        known = model.setdefault(key, set())
        if adds:
            assert put(leaves, key, value) == (value not in known)
            known.add(value)
        else:
            assert drop(leaves, key, value) == (value in known)
            known.discard(value)
        assert {key: set(values_of(leaf)) for key, leaf in leaves.items()} == {k: v for k, v in model.items() if v}
        assert size_of(leaves.get(key)) == len(known)


@given(changes)
def test_leaves_changed_as_bags_hold_a_value_until_it_is_dropped_as_often_as_it_was_put(
    steps: list[tuple[bool, str, str]],
) -> None:
    leaves: dict[str, Leaf[str]] = {}
    model: dict[str, Counter[str]] = {}
    for adds, key, value in steps:
        known = model.setdefault(key, Counter())
        if adds:
            put_again(leaves, key, value)
            known[value] += 1
        elif known[value]:
            drop_once(leaves, key, value)
            known[value] -= 1
        there = {each for each in known if known[each]}
        assert set(values_of(leaves.get(key))) == there
        assert (key in leaves) == bool(there)


def test_an_only_value_stands_for_itself() -> None:
    leaves: dict[str, Leaf[str]] = {}
    put(leaves, "a", "x")
    assert leaves == {"a": "x"}
    put(leaves, "a", "y")
    drop(leaves, "a", "x")
    assert leaves == {"a": "y"}
