"""Graphs as people write them: what is written is read as the same, or not written at all."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.model.access import Graphs
from tidings.model.errors import BadRequest
from tidings.model.graph_patterns import read_graphs, written

_iris = st.sampled_from(("http://example.org/a", "http://example.org/a/b", "http://example.org/", "urn:x", "urn:x*y"))
_names = st.one_of(st.just(""), _iris.map(lambda iri: f"<{iri}>"), st.just("_:b"))
_prefixes = st.one_of(_iris, st.sampled_from(("", "htt", "http://example", "urn:")))
_graphs = st.builds(
    Graphs,
    everything=st.booleans(),
    names=st.frozensets(_names, max_size=3),
    prefixes=st.lists(_prefixes, max_size=2).map(tuple),
)


@given(_graphs)
def test_what_is_written_is_read_as_the_same_graphs_or_is_not_written(graphs: Graphs) -> None:
    try:
        patterns = written(graphs)
    except BadRequest:
        odd = {"_:b", "<urn:x*y>"} & graphs.names or {"", "htt", "http://example", "urn:x*y"} & set(graphs.prefixes)
        assert odd
    else:
        assert read_graphs(patterns) == graphs


def test_graphs_are_written_as_people_would() -> None:
    graphs = Graphs(names=frozenset(("", "<urn:a>")), prefixes=("http://example.org/city/",))
    assert written(graphs) == ["default", "urn:a", "http://example.org/city/*"]
    assert written(Graphs.ALL) == ["*"]
    assert written(Graphs.NONE) == []


@pytest.mark.parametrize(
    ("pattern", "wrong"),
    [
        ("x", "no absolute IRI"),
        ("urn:*x", "not at its end"),
        ("http://exam*", "other hosts"),
        ("<urn:a>", "no absolute"),
    ],
)
def test_what_is_no_pattern_is_named(pattern: str, wrong: str) -> None:
    with pytest.raises(BadRequest, match=wrong):
        read_graphs(["default", pattern])
