"""Expressions as Spark columns, with the values that the engine gives them.

If a Spark expression is exact, it is used: tests of kind and identity, `&&`, `||` and `!`, with null as SPARQL's error.
Everything else (values of numbers, dates and strings) runs in the engine's own evaluator, on Arrow batches in Python
workers.
"""

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, cast

import pyarrow as pa
from pyspark.sql import Column
from pyspark.sql import functions as f
from pyspark.sql.pandas.functions import arrow_udf

from tidings.model.terms import FALSE, TRUE, XSD_STRING, Term, Var, is_tagged
from tidings.spark.sparql.relations import Columns, absent
from tidings.sparql.algebra import (
    WHOLE,
    And,
    Call,
    Compare,
    Exists,
    Expression,
    In,
    Node,
    Not,
    Or,
    mentioned,
    operands,
)
from tidings.sparql.evaluate.context import Context, Moment
from tidings.sparql.evaluate.dataset import View
from tidings.sparql.evaluate.expressions import Scope, Test, Value, compile_test, compile_value
from tidings.sparql.evaluate.layout import Layout, Row

MARK = "?:exists"
"""The prefix of variables for EXISTS, which are true or false in each row."""

_KINDS = {"ISIRI": "<", "ISURI": "<", "ISBLANK": "_", "ISLITERAL": '"'}


class Expressions:
    """Compiles expressions. `now` is the value of NOW(), in microseconds since 1970."""

    __slots__ = ("_now",)

    def __init__(self, now: int) -> None:
        self._now = now

    def test(self, expression: Expression, columns: Columns) -> Column:
        """The effective boolean value of an expression; null is an error."""
        native = native_test(expression, columns)
        return self._evaluated(expression, columns, truth=True) if native is None else native

    def value(self, expression: Expression, columns: Columns) -> Column:
        """The value of an expression as a term; null is an error."""
        native = native_value(expression, columns)
        return self._evaluated(expression, columns, truth=False) if native is None else native

    def _evaluated(self, expression: Expression, columns: Columns, *, truth: bool) -> Column:
        read = tuple(variable for variable in dict.fromkeys(mentioned(expression)) if variable in columns)
        compiled = _compiled(expression, read, self._now, truth)  # in the driver, so that errors are raised at once
        if not read:
            return f.lit(compiled(())).cast("boolean" if truth else "string")
        return _udf(expression, read, self._now, truth)(*[columns[variable] for variable in read])


def has_exists(expression: Expression) -> bool:
    return isinstance(expression, Exists) or any(map(has_exists, operands(expression)))


# -- in Python workers ------------------------------------------------------------------------------------------


class _NoStore:
    """A store for expressions, which read no graph, and whose constants have the right spelling already."""

    def graph(self, name: Term) -> None:
        return None

    def names(self) -> Iterable[Term]:
        return ()

    def graphs_with(self, s: Term | None, p: Term | None, o: Term | None) -> Iterable[Term]:
        return ()

    def spelling(self, term: Term) -> Term:
        return term


@lru_cache(256)
def _compiled(expression: Expression, variables: tuple[Var, ...], now: int, truth: bool) -> Value | Test:
    scope = Scope(Layout(variables, frozenset()), Context(View(_NoStore(), WHOLE), Moment(now)), _no_pattern)
    return compile_test(expression, scope) if truth else compile_value(expression, scope)


def _no_pattern(_: Node, __: Layout) -> Test:
    raise AssertionError("a variable stands in the place of every EXISTS")


def vectorised(evaluate: Callable[..., pa.Array], kind: str) -> Callable[..., Column]:
    """A Spark function from a function on Arrow arrays."""
    return cast(Callable[..., Column], arrow_udf(evaluate, kind))  # type: ignore[call-overload]  # the kind is inferred


def _udf(expression: Expression, variables: tuple[Var, ...], now: int, truth: bool) -> Callable[..., Column]:
    kind = pa.bool_() if truth else pa.string()

    def evaluate(*columns: pa.Array) -> pa.Array:
        compiled: Callable[[Row], Any] = _compiled(expression, variables, now, truth)
        rows = zip(*[column.to_pylist() for column in columns], strict=True)
        return pa.array([compiled(row) for row in rows], kind)

    return vectorised(evaluate, "boolean" if truth else "string")


# -- in Spark ---------------------------------------------------------------------------------------------------


def native_test(expression: Expression, columns: Columns) -> Column | None:
    """A test as a Spark expression; None if that would not be exact."""
    match expression:
        case And(left, right) | Or(left, right):
            a, b = native_test(left, columns), native_test(right, columns)
            return None if a is None or b is None else a & b if isinstance(expression, And) else a | b
        case Not(inner):
            test = native_test(inner, columns)
            return None if test is None else ~test
        case Compare("=" | "!=" as operator, left, right):
            constant, other = (left, right) if _is_iri(left) else (right, left)
            same = _identity(other, constant, columns, _is_iri)
            return same if same is None or operator == "=" else ~same
        case In(item, (_, *_) as choices) if all(map(_is_iri, choices)):
            value = native_value(item, columns)
            return None if value is None else value.isin(*choices)
        case Call("BOUND", (str() as variable,)):
            return columns[variable].isNotNull() if variable in columns else f.lit(False)
        case Call(("ISIRI" | "ISURI" | "ISBLANK" | "ISLITERAL") as function, (argument,)):
            value = native_value(argument, columns)
            return None if value is None else value.startswith(_KINDS[function])
        case Call("SAMETERM", (left, right)):
            constant, other = (left, right) if _is_plain(left) else (right, left)
            return _identity(other, constant, columns, _is_plain)
        case Call("STRSTARTS", (argument, str() as start)) if start[0] == '"' and start[-1] == '"':
            return _starts(native_value(argument, columns), start)
        case str() if expression.startswith(MARK):
            return columns[expression] == TRUE
        case _:
            return None


def _is_iri(expression: Expression) -> bool:
    return isinstance(expression, str) and expression[0] == "<"


def _is_plain(expression: Expression) -> bool:
    """Whether an expression is a constant with only one spelling."""
    return isinstance(expression, str) and expression[0] != "?" and not is_tagged(expression)


def _identity(
    expression: Expression, constant: Expression, columns: Columns, fits: Callable[[Expression], bool]
) -> Column | None:
    """Compares an expression with a constant that is equal only to itself; None if that would not be exact."""
    value = native_value(expression, columns) if fits(constant) else None
    return None if value is None else value == f.lit(constant)


def _starts(value: Column | None, start: Term) -> Column | None:
    """STRSTARTS on N-Triples: escapes are a prefix code, so a text is a prefix if its escaped form is one."""
    if value is None:
        return None
    is_string = value.startswith('"') & ~value.endswith(">")
    return f.when(is_string, value.startswith(start[:-1]))


def native_value(expression: Expression, columns: Columns) -> Column | None:
    """The value of an expression as a Spark expression; None if that would not be exact."""
    match expression:
        case str():
            return (
                f.lit(expression)
                if expression[0] != "?"
                else columns[expression]
                if expression in columns
                else absent()
            )
        case Call("COALESCE", (_, *_) as choices):
            values = [native_value(choice, columns) for choice in choices]
            found = [value for value in values if value is not None]
            return f.coalesce(*found) if len(found) == len(values) else None
        case Call("IF", (condition, then, otherwise)):
            test, a, b = native_test(condition, columns), native_value(then, columns), native_value(otherwise, columns)
            return None if test is None or a is None or b is None else f.when(test, a).when(~test, b)
        case Call("STR" | "LANG" | "DATATYPE" as function, (argument,)):
            value = native_value(argument, columns)
            return None if value is None else _PARTS[function](value)
        case _:
            test = native_test(expression, columns)
            return None if test is None else f.when(test, f.lit(TRUE)).when(~test, f.lit(FALSE))


def _string(value: Column) -> Column:
    """STR: the text between the brackets or quotes, which stays escaped."""
    text = f.concat(f.lit('"'), f.substring(value, f.lit(2), f.length(value) - 2), f.lit('"'))
    behind = f.length(f.substring_index(value, '"', -1))
    quoted = f.substring(value, f.lit(1), f.length(value) - behind)
    return f.when(value.startswith("<"), text).when(value.startswith('"'), quoted)


def _language(value: Column) -> Column:
    tagged = ~value.endswith('"') & ~value.endswith(">")
    tag = f.concat(f.lit('"'), f.substring_index(value, '"@', -1), f.lit('"'))
    return f.when(value.startswith('"'), f.when(tagged, tag).otherwise('""'))


def _datatype(value: Column) -> Column:
    kind = (
        f.when(value.endswith('"'), f.lit(f"<{XSD_STRING}>"))
        .when(value.endswith(">"), f.substring_index(value, '"^^', -1))
        .otherwise("<http://www.w3.org/1999/02/22-rdf-syntax-ns#langString>")
    )
    return f.when(value.startswith('"'), kind)


_PARTS: dict[str, Callable[[Column], Column]] = {"STR": _string, "LANG": _language, "DATATYPE": _datatype}
