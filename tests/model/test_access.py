"""Graphs and rights: canonical values, whose operations are those of the sets of graphs that they stand for."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.model.access import ALL_RIGHTS, NO_RIGHTS, Graphs, Rights
from tidings.model.errors import BadRequest

NAMES = ["", "_:b", "<a>", "<a/b>", "<a/b/c>", "<a/c>", "<b>", "<b/a>", "<c>"]
"""Names enough that graphs which differ differ on one of them."""

graphs = st.builds(
    Graphs,
    everything=st.integers(0, 9).map(lambda n: n == 0),
    names=st.frozensets(st.sampled_from(NAMES), max_size=4),
    prefixes=st.lists(st.sampled_from(["", "a", "a/", "a/b", "b", "b/", "c"]), max_size=3).map(tuple),
)
rights = st.builds(Rights, graphs, graphs, graphs, st.booleans())


def members(some: Graphs) -> set[str]:
    return {name for name in NAMES if some.has(name)}


@given(graphs, graphs)
def test_union_and_intersection_are_those_of_sets(left: Graphs, right: Graphs) -> None:
    assert members(left | right) == members(left) | members(right)
    assert members(left & right) == members(left) & members(right)


@given(graphs, graphs, graphs)
def test_what_allows_the_same_is_equal(a: Graphs, b: Graphs, c: Graphs) -> None:
    assert (a | b) | c == a | (b | c) == (c | a) | b
    assert a & b == b & a
    assert (a & b) | a == a == (a | b) & a
    assert a | a == a == a & a
    assert hash(a | b) == hash(b | a)


@given(graphs, graphs)
def test_covering_is_having_all_of_the_others(left: Graphs, right: Graphs) -> None:
    assert (left | right).covers(right)
    assert not left.covers(right) or members(left) >= members(right)
    assert left.covers(right) == (left | right == left)


@given(graphs)
def test_names_below_a_prefix_and_prefixes_below_another_are_left_out(some: Graphs) -> None:
    assert not any(name.startswith(some.prefixes, 1) for name in some.names if name[:1] == "<")
    assert list(some.prefixes) == sorted(set(some.prefixes))
    assert not any(a != b and a.startswith(b) for a in some.prefixes for b in some.prefixes)
    assert bool(some) == bool(members(some))


def test_a_prefix_is_of_iris_and_not_of_the_default_graph_or_blank_nodes() -> None:
    some = Graphs(prefixes=("",))
    assert some.has("<a>")
    assert not some.has("")
    assert not some.has("_:b")


def test_a_prefix_has_all_names_that_begin_with_it_to_the_letter() -> None:
    some = Graphs(prefixes=("http://city/lamps",))
    assert some.has("<http://city/lamps>")
    assert some.has("<http://city/lampshades>")
    assert not some.has("<http://city/lamp>")


@pytest.mark.parametrize("prefix", ["<http://city/", "http://city/ ", "http://city/>", 'a"', "\n"])
def test_what_no_iri_begins_with_is_no_prefix(prefix: str) -> None:
    with pytest.raises(BadRequest):
        Graphs(prefixes=(prefix,))


@pytest.mark.parametrize("name", ["http://city/", "<http://city/", '"text"', "?g"])
def test_what_no_graph_is_called_is_no_name(name: str) -> None:
    with pytest.raises(BadRequest):
        Graphs(names=frozenset([name]))


@given(rights, rights)
def test_nobody_subscribes_to_what_they_may_not_read(left: Rights, right: Rights) -> None:
    for each in (left, right, left | right, left & right):
        assert each.read.covers(each.subscribe)


@given(rights)
def test_all_rights_and_none_are_the_bounds(some: Rights) -> None:
    assert some | ALL_RIGHTS == ALL_RIGHTS
    assert some & ALL_RIGHTS == some == some | NO_RIGHTS
    assert some & NO_RIGHTS == NO_RIGHTS


@given(rights)
def test_rights_are_the_same_after_a_way_through_json(some: Rights) -> None:
    assert msgspec.json.decode(msgspec.json.encode(some), type=Rights) == some
