"""Functions on strings, terms, numbers, dates and hashes."""

import pytest

from tidings.model.terms import FALSE, TRUE, XSD, literal
from tidings.sparql.functions import FUNCTIONS


def typed(lexical: str, name: str) -> str:
    return literal(lexical, f"{XSD}{name}")


def integer(value: int) -> str:
    return typed(str(value), "integer")


def call(name: str, *terms: str) -> str | None:
    function = FUNCTIONS[name]
    assert function.name == name
    assert len(terms) >= function.least
    assert function.most is None or len(terms) <= function.most
    result: str | None = function.call(*terms)
    return result


NOON = typed("2010-12-21T12:38:02.50-08:00", "dateTime")
NOWHERE = typed("2011-02-01T01:02:03", "dateTime")
CASES: list[tuple[str, tuple[str, ...], str | None]] = [
    ("STR", ("<a:b>",), '"a:b"'),
    ("STR", (typed("01", "integer"),), '"01"'),
    ("STR", ('"x"@en',), '"x"'),
    ("STR", ("_:a",), None),
    ("LANG", ('"x"@en-GB',), '"en-GB"'),
    ("LANG", (integer(1),), '""'),
    ("LANG", ("<a:b>",), None),
    ("DATATYPE", ('"x"',), f"<{XSD}string>"),
    ("DATATYPE", ('"x"@en',), "<http://www.w3.org/1999/02/22-rdf-syntax-ns#langString>"),
    ("DATATYPE", (typed("x", "integer"),), f"<{XSD}integer>"),
    ("DATATYPE", ("<a:b>",), None),
    ("LANGMATCHES", ('"en-GB"', '"EN"'), TRUE),
    ("LANGMATCHES", ('"en"', '"en-GB"'), FALSE),
    ("LANGMATCHES", ('"eng"', '"en"'), FALSE),
    ("LANGMATCHES", ('"fr"', '"*"'), TRUE),
    ("LANGMATCHES", ('""', '"*"'), FALSE),
    ("LANGMATCHES", ('""', '""'), TRUE),
    ("LANGMATCHES", ('"en"', '""'), FALSE),
    ("LANGMATCHES", ("<a:b>", '"*"'), None),
    ("SAMETERM", (integer(1), typed("1.0", "decimal")), FALSE),
    ("SAMETERM", ('"a"', '"a"'), TRUE),
    ("ISIRI", ("<a:b>",), TRUE),
    ("ISURI", ('"a:b"',), FALSE),
    ("ISBLANK", ("_:a",), TRUE),
    ("ISLITERAL", ('"a"@en',), TRUE),
    ("ISNUMERIC", (typed("1200", "byte"),), FALSE),
    ("ISNUMERIC", (typed("12", "byte"),), TRUE),
    ("ISNUMERIC", (typed("NaN", "float"),), TRUE),
    ("ISNUMERIC", ('"12"',), FALSE),
    ("STRDT", ('"123"', f"<{XSD}integer>"), integer(123)),
    ("STRDT", ('"x"', f"<{XSD}string>"), '"x"'),
    ("STRDT", ('"x"@en', f"<{XSD}string>"), None),
    ("STRDT", (integer(1), f"<{XSD}string>"), None),
    ("STRDT", ('"x"', '"y"'), None),
    ("STRLANG", ('"chat"', '"en-US"'), '"chat"@en-US'),
    ("STRLANG", ('"chat"', '""'), None),
    ("STRLANG", ('"chat"', '"e n"'), None),
    ("STRLANG", ('"chat"@fr', '"en"'), None),
    ("ABS", (typed("-2", "byte"),), integer(2)),
    ("ABS", (typed("-1.60", "decimal"),), typed("1.6", "decimal")),
    ("ABS", (typed("-INF", "double"),), typed("INF", "double")),
    ("ABS", ('"1"',), None),
    ("CEIL", (typed("-1.6", "decimal"),), typed("-1", "decimal")),
    ("CEIL", (typed("-0.5", "double"),), typed("-0.0E0", "double")),
    ("FLOOR", (typed("2.5", "decimal"),), typed("2", "decimal")),
    ("FLOOR", (typed("1e300", "double"),), typed("1.0E300", "double")),
    ("ROUND", (typed("2.5", "decimal"),), typed("3", "decimal")),
    ("ROUND", (typed("-2.5", "decimal"),), typed("-2", "decimal")),
    ("ROUND", (typed("-2.5", "float"),), typed("-2.0E0", "float")),
    ("ROUND", (typed("0.49999999999999994", "double"),), typed("0.0E0", "double")),
    ("ROUND", (typed("NaN", "double"),), typed("NaN", "double")),
    ("ROUND", (integer(7),), integer(7)),
    ("CONCAT", (), '""'),
    ("CONCAT", ('"a"', '"b"'), '"ab"'),
    ("CONCAT", ('"a"@en', '"b"@EN'), '"ab"@en'),
    ("CONCAT", ('"a"@en', '"b"'), '"ab"'),
    ("CONCAT", ('"a"@en', '"b"@fr'), '"ab"'),
    ("CONCAT", ('"a"', integer(7)), None),
    ("STRLEN", ('"\U0001f46a\\n"',), integer(2)),
    ("STRLEN", (integer(7),), None),
    ("UCASE", ('"stra\u00dfe"@de',), '"STRASSE"@de'),
    ("LCASE", ('"BAZ\\n"',), '"baz\\n"'),
    ("ENCODE_FOR_URI", ('"100% Los-Angeles~_.\u98df"@en',), '"100%25%20Los-Angeles~_.%E9%A3%9F"'),
    ("CONTAINS", ('"foobar"@en', '"bar"@EN'), TRUE),
    ("CONTAINS", ('"foobar"@en', '"bar"'), TRUE),
    ("CONTAINS", ('"foobar"', '"bar"@en'), None),
    ("CONTAINS", ('"foobar"@en', '"bar"@fr'), None),
    ("CONTAINS", (integer(1), '"1"'), None),
    ("STRSTARTS", ('"foobar"', '"foo"'), TRUE),
    ("STRENDS", ('"foobar"', '"foo"'), FALSE),
    ("STRBEFORE", ('"abc"@en', '"b"'), '"a"@en'),
    ("STRBEFORE", ('"abc"@en', '""@en'), '""@en'),
    ("STRBEFORE", ('"abc"@en', '"z"'), '""'),
    ("STRBEFORE", ('"abc"', '"b"@cy'), None),
    ("STRAFTER", ('"abc"@en', '"ab"'), '"c"@en'),
    ("STRAFTER", ('"abc"@en', '"c"'), '""@en'),
    ("STRAFTER", ('"abc"', '""'), '"abc"'),
    ("STRAFTER", ('"abc"@en', '"z"@en'), '""'),
    ("SUBSTR", ('"foobar"@en', integer(4)), '"bar"@en'),
    ("SUBSTR", ('"foobar"', integer(4), integer(1)), '"b"'),
    ("SUBSTR", ('"\U0001f46ax"', integer(2)), '"x"'),
    ("SUBSTR", ('"12345"', typed("1.5", "decimal"), typed("2.6", "double")), '"234"'),
    ("SUBSTR", ('"12345"', integer(0), integer(3)), '"12"'),
    ("SUBSTR", ('"12345"', integer(5), integer(-3)), '""'),
    ("SUBSTR", ('"12345"', typed("NaN", "double"), integer(3)), '""'),
    ("SUBSTR", ('"12345"', typed("NaN", "double")), '""'),
    ("SUBSTR", ('"12345"', integer(1), typed("NaN", "float")), '""'),
    ("SUBSTR", ('"12345"', integer(-42), typed("INF", "double")), '"12345"'),
    ("SUBSTR", ('"12345"', typed("-INF", "double"), typed("INF", "double")), '""'),
    ("SUBSTR", ('"12345"', typed("-INF", "double")), '"12345"'),
    ("SUBSTR", ('"12345"', '"1"'), None),
    ("YEAR", (typed("-0044-03-15", "date"),), integer(-44)),
    ("MONTH", (NOON,), integer(12)),
    ("DAY", (NOON,), integer(21)),
    ("HOURS", (NOON,), integer(12)),
    ("MINUTES", (typed("11:28:01", "time"),), integer(28)),
    ("SECONDS", (NOON,), typed("2.5", "decimal")),
    ("SECONDS", (NOWHERE,), typed("3", "decimal")),
    ("YEAR", (typed("11:28:01", "time"),), None),
    ("HOURS", ('"2011-02-01T01:02:03"',), None),
    ("TIMEZONE", (NOON,), typed("-PT8H", "dayTimeDuration")),
    ("TIMEZONE", (typed("2000-01-01Z", "date"),), typed("PT0S", "dayTimeDuration")),
    ("TIMEZONE", (NOWHERE,), None),
    ("TZ", (NOON,), '"-08:00"'),
    ("TZ", (typed("2000-01-01Z", "date"),), '"Z"'),
    ("TZ", (NOWHERE,), '""'),
    ("TZ", ('"x"',), None),
    ("MD5", ('"\u98df\u3079\u7269"',), '"e7ada485d13b1decf628c9211bc3a97b"'),
    ("SHA1", ('"\u98df"',), '"d46696735b6a09ff407bfc1a9407e008840db9c9"'),
    ("SHA256", ('"foo"',), '"2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"'),
    ("SHA256", ('"foo"@en',), None),
    ("SHA512", (integer(1),), None),
]


@pytest.mark.parametrize(("name", "arguments", "expected"), CASES)
def test_a_builtin_gives_a_term_or_an_error(name: str, arguments: tuple[str, ...], expected: str | None) -> None:
    assert call(name, *arguments) == expected


def test_every_builtin_is_called_here_or_with_the_regular_expressions() -> None:
    called = {name for name, _, _ in CASES} | {"REGEX", "REPLACE", "SHA384"}
    assert called == set(FUNCTIONS)
