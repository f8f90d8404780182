"""Answers in the types of applications."""

from decimal import Decimal

import pandas
import pytest

from tidings.client.answers import Answer
from tidings.model.results import Solutions
from tidings.model.terms import XSD, literal


def number(lexical: str, datatype: str) -> str:
    return literal(lexical, f"{XSD}{datatype}")


def answer(*columns: list[str | None]) -> Answer:
    names = tuple("abcdefgh"[: len(columns)])
    return Answer.of(Solutions(names, zip(*columns, strict=True)))


def test_numbers_of_every_kind_are_numbers_in_a_data_frame() -> None:
    found = answer(
        [number("1.5", "decimal"), number("2.25", "decimal"), None],
        [number("1.5e0", "double"), number("INF", "double"), None],
        [number("0.5", "float"), number("2.5", "decimal"), number("7", "integer")],
        [number("1", "integer"), number("2", "long"), number("3", "byte")],
    )
    table = found.to_pandas()
    assert [str(kind) for kind in table.dtypes] == ["float64", "float64", "float64", "int64"]
    assert table["a"].sum() == 3.75
    assert table["c"].mean() == pytest.approx(10 / 3)
    assert bool(pandas.isna(table["a"][2]))
    assert found.values()[0]["a"] == Decimal("1.5")


def test_what_is_not_all_numbers_stays_as_it_is() -> None:
    found = answer(
        [number("1.5", "decimal"), literal("a text")],
        [number("1.5", "decimal"), number("true", "boolean")],
        [number("1.5", "decimal"), number("9" * 400, "integer")],
        [number("1.5", "decimal"), number("not a number", "decimal")],
    )
    table = found.to_pandas()
    assert {str(kind) for kind in table.dtypes} == {"object"}
    assert table["a"][0] == Decimal("1.5")


def test_an_answer_without_rows_has_its_columns() -> None:
    assert list(answer([], []).to_pandas().columns) == ["a", "b"]
