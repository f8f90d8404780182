"""The CSV is the PES paper's, to the digit, and can be read back."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.samples import a_run
from tidings.bench.results.csv import csv_text, read_csv, write_csv
from tidings.bench.results.files import ResultsUnreadable
from tidings.bench.results.measured import Measurement

UPDATE_LISTING = """\
osgi,250,28.14,...,28.38,28.14,28.82,0.09
osgi,500,53.28,...,56.29,56.10,59.00,4.09
osgi,750,66.93,...,65.77,62.72,67.67,4.74
osgi,1000,78.53,...,77.30,76.37,78.53,0.82
osgi,1250,88.98,...,87.56,85.95,88.98,1.55
...
"""
SUBSCRIPTION_LISTING = """\
S0,2.819,...,2.986,1.792,3.948,0.281
S1,3.789,...,2.538,1.381,3.789,0.57
S2,1.054,...,2.392,1.003,3.51,0.673
"""


def point(kind: str, *samples: float, n: int | None = None, target: str = "osgi", wrong: str = "") -> Measurement:
    told = (wrong,) if wrong else ()
    return Measurement(target=target, test="x", kind=kind, n=n, samples=samples, wrong=told)


def test_the_papers_update_listing_is_read() -> None:
    rows = read_csv(UPDATE_LISTING)
    assert [row.n for row in rows] == [250, 500, 750, 1000, 1250]
    first = rows[0]
    assert (first.name, first.values, first.complete) == ("osgi", (28.14,), False)
    assert (first.summary.mean, first.summary.min, first.summary.max) == (28.38, 28.14, 28.82)
    assert first.summary.variance == 0.09


def test_the_papers_subscription_listing_is_read() -> None:
    rows = read_csv(SUBSCRIPTION_LISTING)
    assert [row.name for row in rows] == ["S0", "S1", "S2"]
    assert all(row.n is None for row in rows)
    assert rows[2].summary.max == 3.51


def test_an_update_is_written_as_the_paper_prints_it() -> None:
    """The three values of its fourth row: the second follows from the mean."""
    assert csv_text([point("update", 78.53, 77.0, 76.37, n=1000)]) == (
        "osgi,1000,78.53,77.00,76.37,77.30,76.37,78.53,0.82\n"
    )


def test_a_subscription_is_written_as_the_paper_prints_it() -> None:
    """Three decimals, no zeros at the end, no size."""
    text = csv_text([point("subscription", 1.003, 3.51, 2.0, n=1, target="S2")])
    assert text == "S2,1.003,3.51,2.0,2.171,1.003,3.51,1.062\n"


times = st.lists(st.floats(0, 1e7), min_size=1, max_size=9)
names = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1).filter(
    lambda name: name != "..."
)


@given(names, st.sampled_from(["update", "query", "subscription", "chat"]), times, st.integers(0, 10**9))
def test_what_is_written_is_read_back(name: str, kind: str, samples: list[float], n: int) -> None:
    (row,) = read_csv(csv_text([point(kind, *samples, n=n, target=name)]))
    assert row.name == name
    assert row.n == (None if kind == "subscription" else n)
    assert row.complete
    assert row.summary.count == len(samples)
    assert row.values == pytest.approx(samples, abs=0.00501)
    assert row.summary.mean == pytest.approx(sum(samples) / len(samples), abs=0.00501)


def test_names_with_commas_and_quotes_survive() -> None:
    name = 'a "broker", of sorts'
    assert read_csv(csv_text([point("update", 1.0, n=5, target=name)]))[0].name == name


def test_wrong_answers_and_nothing_have_no_row() -> None:
    assert csv_text([point("query", 1.0, n=5, wrong="two rows too few"), point("query", n=5)]) == ""


def test_a_whole_run_is_written_and_read(tmp_path: Path) -> None:
    run = a_run()
    write_csv(tmp_path / "update.csv", run.of("update"))
    rows = read_csv((tmp_path / "update.csv").read_text())
    assert len(rows) == 30
    assert {row.name for row in rows} == set(run.targets)


@pytest.mark.parametrize(
    "line", ["osgi", "osgi,250,1.0,2.0", "osgi,250,x.y,1.0,1.0,1.0,0.0", "osgi,1.0,2,1.0,1.0,1.0,0.0"]
)
def test_what_is_no_row_is_told_with_its_line(line: str) -> None:
    with pytest.raises(ResultsUnreadable, match="line 2"):
        read_csv(f"a,1.0,1.0,1.0,1.0,0.0\n{line}\n")
