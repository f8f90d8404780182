"""The tree of errors is drawn in the docstring, and its codes are a contract."""

import re
from collections.abc import Iterator

import pytest

from tidings.model import errors
from tidings.model.errors import SparqlSyntaxError, TidingsError, TimeLimitExceeded

_DRAWN = re.compile(r"^[ │├└─]*(\w+) +(\w+) +(\d{3})", re.MULTILINE)
drawn = {name: (code, int(status)) for name, code, status in _DRAWN.findall(errors.__doc__ or "")}


def tree(root: type[TidingsError]) -> Iterator[type[TidingsError]]:
    yield root
    for child in root.__subclasses__():
        yield from tree(child)


# A class without a code of its own only gives shape to its children, and is never raised.
coded = [error for error in tree(TidingsError) if "code" in vars(error)]


def test_codes_are_unique() -> None:
    codes = [error.code for error in coded]
    assert len(codes) == len(set(codes))


def test_every_class_is_drawn_with_its_code_and_status() -> None:
    assert {
        error.__name__: (error.code, error.status) for error in coded if error.__module__ == errors.__name__
    } == drawn


@pytest.mark.parametrize("error", coded, ids=lambda error: error.code)
def test_the_status_is_one_of_http(error: type[TidingsError]) -> None:
    assert 400 <= error.status < 600


def test_an_error_travels_as_code_status_and_text() -> None:
    envelope = errors.NotAllowed("LOAD is switched off").to_json()
    assert envelope == {"error": "not_allowed", "status_code": 403, "error_description": "LOAD is switched off"}


def test_a_syntax_error_says_where_and_what_was_expected() -> None:
    error = SparqlSyntaxError("unexpected end", line=2, column=3, expected="'}'", source="SELECT *\n{ ?s")
    assert str(error) == "line 2, column 3: unexpected end"
    assert error.excerpt() == "{ ?s\n  ^"
    assert error.to_json()["expected"] == "'}'"


def test_a_syntax_error_without_its_text_has_no_excerpt() -> None:
    assert SparqlSyntaxError("unexpected", line=4).excerpt() == ""


def test_limits_say_how_far_they_go() -> None:
    assert TimeLimitExceeded(2.5).seconds == 2.5
    assert "1,000 rows" in str(errors.RowLimitExceeded(1000))
