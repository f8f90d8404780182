"""What is written for speed in the building of an index, beside the plain way to say it."""

import html

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.spark.esa.pages import unescaped
from tidings.spark.esa.postings import Postings, Pruning, pruned

PIECES = st.sampled_from(
    ["&lt;", "&gt;", "&quot;", "&amp;", "&amp;lt;", "&amp;amp;", "&", "&lt", "&#39;", "&eacute;", ";", "amp;", "é", "<"]
)
POSTINGS = st.dictionaries(
    st.tuples(st.integers(0, 3), st.integers(0, 12)), st.sampled_from([0.125, 0.25, 0.5, 1.0]), max_size=30
)


@given(st.lists(PIECES | st.text(max_size=3), max_size=12).map("".join))
def test_entities_are_replaced_as_the_library_of_python_does_it(text: str) -> None:
    assert unescaped(text.encode("utf-8", "replace")) == html.unescape(text.encode("utf-8", "replace").decode())


@pytest.mark.parametrize("text", ["a &lt;b&gt; &amp;lt; &quot;c&quot;", "&#39;&eacute;&amp;", "R&D &lt;", ""])
def test_known_entities_and_others_are_replaced(text: str) -> None:
    assert unescaped(text.encode()) == html.unescape(text)


@given(POSTINGS, st.integers(1, 6), st.sampled_from([0.0, 0.3, 0.5, 1.0]))
def test_the_documents_that_weigh_most_are_kept(found: dict[tuple[int, int], float], most: int, least: float) -> None:
    expected = []
    for term in range(4):
        own = sorted((-weight, page) for (of, page), weight in found.items() if of == term)[:most]
        kept = [(page, -weight) for weight, page in own if -weight >= -least * own[0][0]]
        expected += [(term, page, weight) for page, weight in sorted(kept)]
    ids, pages = np.array([*found], np.int64).reshape(-1, 2).T
    postings = Postings(ids.astype(np.int32), pages, np.array([*found.values()], np.float32))
    made = pruned(postings, Pruning(most, least))
    assert [*zip(*(each.tolist() for each in made), strict=True)] == expected
