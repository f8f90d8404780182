"""An ordered multiset is a sorted list, whatever is added to it and removed from it."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.model import ordered
from tidings.model.ordered import Ordered

steps = st.lists(st.tuples(st.booleans(), st.integers(0, 30)), max_size=60)


@pytest.fixture(autouse=True, scope="module")
def _short_lists() -> Iterator[None]:
    """So that lists are split often."""
    patch = pytest.MonkeyPatch()
    patch.setattr(ordered, "_SHORT", 2)
    yield
    patch.undo()


@given(st.lists(st.integers(0, 30), max_size=30), steps)
def test_it_is_a_sorted_list(first: list[int], steps: list[tuple[bool, int]]) -> None:
    items, expected = Ordered(first), sorted(first)
    for more, item in steps:
        if more:
            items.add(item)
            expected.append(item)
            expected.sort()
        elif item in expected:
            items.remove(item)
            expected.remove(item)
        assert list(items) == expected
        assert list(items.backwards()) == expected[::-1]
        assert len(items) == len(expected)
    if expected:
        assert (items.first(), items.last()) == (expected[0], expected[-1])
        assert all(items.index(item) == expected.index(item) for item in expected)
        assert [items.at(number) for number in range(len(expected))] == expected


@given(st.lists(st.integers(0, 30), max_size=30), st.integers(0, 35), st.integers(0, 35) | st.none())
def test_items_from_one_number_to_another(items: list[int], start: int, length: int | None) -> None:
    stop = None if length is None else start + length
    assert list(Ordered(items).between(start, stop)) == sorted(items)[start:stop]


@given(st.lists(st.integers(0, 30), max_size=30), st.integers(0, 35), st.integers(0, 35))
def test_items_from_one_value_to_another(items: list[int], low: int, high: int) -> None:
    ordered = Ordered(items)
    assert list(ordered.from_to(low, high)) == [item for item in sorted(items) if low <= item <= high]
    assert list(ordered.from_to(None, high)) == [item for item in sorted(items) if item <= high]
    assert list(ordered.from_to(low, None)) == [item for item in sorted(items) if low <= item]
    inside = ordered.within(lambda item: item >= low, lambda item: item >= high)
    assert list(inside) == [item for item in sorted(items) if low <= item < high]


def test_what_is_not_there_cannot_be_removed() -> None:
    with pytest.raises(KeyError):
        Ordered([1, 3]).remove(2)
