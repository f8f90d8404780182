"""Constructor functions of XSD types."""

import pytest

from tidings.model.terms import FALSE, TRUE, XSD, literal
from tidings.sparql.functions import CASTS
from tidings.sparql.values.numerics import INTEGER_BOUNDS


def typed(lexical: str, name: str) -> str:
    return literal(lexical, f"{XSD}{name}")


@pytest.mark.parametrize(
    ("target", "term", "expected"),
    [
        ("boolean", '"1"', TRUE),
        ("boolean", '" true\\n"', TRUE),
        ("boolean", '"TRUE"', None),
        ("boolean", typed("0", "boolean"), FALSE),
        ("boolean", typed("0.0", "decimal"), FALSE),
        ("boolean", typed("NaN", "double"), FALSE),
        ("boolean", typed("-1", "integer"), TRUE),
        ("boolean", typed("2000-01-01", "date"), None),
        ("integer", '"1.5"', None),
        ("integer", '" 007 "', typed("7", "integer")),
        ("integer", '"7"@en', None),
        ("integer", typed("-2.5", "decimal"), typed("-2", "integer")),
        ("integer", typed("1e3", "double"), typed("1000", "integer")),
        ("integer", typed("INF", "double"), None),
        ("integer", TRUE, typed("1", "integer")),
        ("integer", typed("x", "integer"), None),
        ("integer", "<a:b>", None),
        ("byte", '"300"', None),
        ("byte", typed("127.9", "decimal"), typed("127", "byte")),
        ("byte", typed("128", "integer"), None),
        ("positiveInteger", FALSE, None),
        ("decimal", '"+33.3300"', typed("33.33", "decimal")),
        ("decimal", '"1e3"', None),
        ("decimal", typed("2.5", "double"), typed("2.5", "decimal")),
        ("decimal", typed("NaN", "float"), None),
        ("float", '"-10.2E3"', typed("-1.02E4", "float")),
        ("float", typed("16777217", "integer"), typed("1.6777216E7", "float")),
        ("float", typed("1e39", "double"), typed("INF", "float")),
        ("double", TRUE, typed("1.0E0", "double")),
        ("double", '"INF"', typed("INF", "double")),
        ("double", '"inf"', None),
        ("double", typed("0.1", "float"), typed("1.0000000149011612E-1", "double")),
        ("string", "<a:b>", '"a:b"'),
        ("string", "_:b", None),
        ("string", '"x"@en', '"x"'),
        ("string", typed("0", "boolean"), '"false"'),
        ("string", typed("01", "integer"), '"1"'),
        ("string", typed("-1.0", "decimal"), '"-1"'),
        ("string", typed("1E0", "double"), '"1"'),
        ("string", typed("-7.875", "float"), '"-7.875"'),
        ("string", typed("-0", "double"), '"-0"'),
        ("string", typed("1e6", "double"), '"1.0E6"'),
        ("string", typed("0.000001", "double"), '"0.000001"'),
        ("string", typed("1e-7", "double"), '"1.0E-7"'),
        ("string", typed("NaN", "double"), '"NaN"'),
        ("string", typed("2000-01-01T24:00:00.50+00:00", "dateTime"), '"2000-01-01T24:00:00.50+00:00"'),
        ("string", typed("2000-01-01T12:00:00.50+00:00", "dateTime"), '"2000-01-01T12:00:00.5Z"'),
        ("string", literal("x", "a:type"), '"x"'),
        ("dateTime", '"2002-10-10T17:00:00Z"', typed("2002-10-10T17:00:00Z", "dateTime")),
        ("dateTime", '"2002-10-10"', None),
        ("dateTime", typed("2002-10-10-05:00", "date"), typed("2002-10-10T00:00:00-05:00", "dateTime")),
        ("date", typed("2002-10-10T23:00:00-05:00", "dateTime"), typed("2002-10-10-05:00", "date")),
        ("date", typed("12:00:00", "time"), None),
        ("time", typed("2002-10-10T23:00:00.5-05:00", "dateTime"), typed("23:00:00.5-05:00", "time")),
        ("time", typed("2002-10-10", "date"), None),
        ("duration", typed("P14M", "yearMonthDuration"), typed("P1Y2M", "duration")),
        ("dayTimeDuration", typed("P1Y2DT3H", "duration"), typed("P2DT3H", "dayTimeDuration")),
        ("yearMonthDuration", typed("P1D", "dayTimeDuration"), typed("P0M", "yearMonthDuration")),
        ("yearMonthDuration", '"P13M"', typed("P1Y1M", "yearMonthDuration")),
        ("duration", typed("1", "integer"), None),
    ],
)
def test_a_cast_converts_as_xpath_does(target: str, term: str, expected: str | None) -> None:
    assert CASTS[f"{XSD}{target}"].call(term) == expected


def test_there_is_a_cast_to_every_type_of_the_specification() -> None:
    names = {"boolean", "decimal", "float", "double", "string", "dateTime", "date", "time", *INTEGER_BOUNDS}
    names |= {"duration", "dayTimeDuration", "yearMonthDuration"}
    assert {f"{XSD}{name}" for name in names} == set(CASTS)
