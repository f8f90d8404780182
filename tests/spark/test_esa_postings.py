"""Postings of many terms at once are those that the formulas give term by term."""

import numpy as np
import pyarrow as pa
import pytest

from tidings.matching.esa import formulas
from tidings.spark.esa.counting import Block
from tidings.spark.esa.postings import Postings, Pruning, indexed, pruned, weighed

CHANCE = np.random.default_rng(5)
TERMS, PAGES = 9, 30


@pytest.mark.parametrize("pruning", [Pruning(1000, 0.0), Pruning(7, 0.0), Pruning(12, 0.5)])
def test_the_postings_of_a_term_are_those_of_the_formulas(pruning: Pruning) -> None:
    has = CHANCE.random((TERMS, PAGES)) < 0.6
    has[3] = False
    ids, pages = (each.astype(kind) for each, kind in zip(np.nonzero(has), (np.int32, np.int64), strict=True))
    weights = CHANCE.choice([0.1, 0.2, 0.25, 0.5, 0.75], len(ids)).astype(np.float32)
    order = CHANCE.permutation(len(ids))
    words = pa.table({"term": [f"t{n}" for n in range(TERMS)], "df": has.sum(axis=1), "idf": np.ones(TERMS)})
    made = indexed(pruned(Postings(ids[order], pages[order], weights[order]), pruning), words)
    assert made["id"].to_pylist() == [0, 1, 2, 4, 5, 6, 7, 8]
    for row in made.to_pylist():
        mine = ids == row["id"]
        expected = formulas.pruned(pages[mine].astype(np.int32), weights[mine].astype(np.float64), *pruning)
        assert row["pages"] == expected.concepts.tolist()
        assert row["weights"] == pytest.approx(expected.weights.tolist())
        assert (row["size"], row["term"]) == (len(row["pages"]), f"t{row['id']}")


def test_terms_that_are_not_in_the_vocabulary_count_for_nothing() -> None:
    words = pa.table({"term": ["car", "park", "road"], "df": [2, 1, 2], "idf": [0.0, 1.5, 0.5]})
    counts = np.array([1, 4, 2, 3], np.int32)
    block = Block(
        np.array([70, 80], np.int64), np.array([3, 1], np.int32), np.array([0, 1, 2, 1], np.int32), counts,
        pa.array(["road", "zebra", "park"]),
    )  # fmt: skip
    found = weighed(block, words)
    expected = formulas.normal(formulas.tf(counts[[0, 2]]) * np.array([0.5, 1.5]))
    assert (found.ids.tolist(), found.pages.tolist()) == ([2, 1], [70, 70])
    assert found.weights.tolist() == pytest.approx(expected.tolist())
