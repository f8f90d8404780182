"""Converts the literals that the engine reads as numbers to the nearest doubles, with Spark's own operations."""

from decimal import Decimal
from functools import reduce

from pyspark.sql import Column
from pyspark.sql import functions as f

from tidings.model.terms import XSD
from tidings.sparql.values.numerics import INTEGER_BOUNDS, MAX_DIGITS

_TYPED = rf'^"([0-9.eEINFa+-]+)"\^\^<{XSD}(\w+)>$'
_INTEGER = r"^[+-]?[0-9]+$"
_DECIMAL = r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)$"
_REAL = r"^([+-]?(([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?|INF)|NaN)$"
_EXACT = "decimal(38,0)"
_BEYOND = 10**38 - 1
"""Stands for integers with more digits than a decimal of Spark can have. No bound of a datatype is so large."""


def number(term: Column) -> Column:
    """The value of a numeric literal as a double, as `values.decode` reads it; null for other terms."""
    lexical, kind = (f.regexp_extract(term, _TYPED, group) for group in (1, 2))
    double = lexical.try_cast("double")
    short = f.length(lexical) <= MAX_DIGITS
    integer = kind.isin(*INTEGER_BOUNDS) & short & lexical.rlike(_INTEGER)
    return (
        f.when(integer & _within(kind, lexical, double), double)
        .when((kind == "decimal") & short & lexical.rlike(_DECIMAL), double)
        .when((kind == "double") & lexical.rlike(_REAL), double)
        .when((kind == "float") & lexical.rlike(_REAL), double.cast("float").cast("double"))
    )


def _within(kind: Column, lexical: Column, double: Column) -> Column:
    """Whether an integer is within the bounds of its datatype. Doubles could not distinguish 2^63 from 2^63 - 1."""
    beyond = f.when(double > 0, f.lit(Decimal(_BEYOND))).otherwise(f.lit(Decimal(-_BEYOND)))
    exact = f.coalesce(lexical.try_cast(_EXACT), beyond)
    bounds = [(name, *bound) for name, bound in INTEGER_BOUNDS.items()]
    return reduce(
        lambda others, bound: f.when(kind == bound[0], _between(exact, bound[1], bound[2])).otherwise(others),
        bounds,
        f.lit(False),
    )


def _between(exact: Column, least: int | None, greatest: int | None) -> Column:
    above = f.lit(True) if least is None else exact >= f.lit(Decimal(least))
    below = f.lit(True) if greatest is None else exact <= f.lit(Decimal(greatest))
    return above & below
