"""Compiles expressions to functions of a row.

A `Value` returns a term, a `Test` a bool; both return None for SPARQL's error: an unbound variable, a type error, a
failed cast. Section 17.2 says what a filter does with an error, and how `||` and `&&` recover from one.
"""

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import TypeAlias, assert_never

from tidings.model.terms import FALSE, TRUE, Term, Var
from tidings.sparql.algebra import (
    Aggregate,
    And,
    Arithmetic,
    Call,
    Compare,
    Exists,
    Expression,
    In,
    Node,
    Not,
    Or,
    Sign,
)
from tidings.sparql.evaluate.calls import compile_call
from tidings.sparql.evaluate.choices import Choices, is_constant
from tidings.sparql.evaluate.context import Context
from tidings.sparql.evaluate.layout import Layout, Row
from tidings.sparql.values import add, divide, ebv, equals, less, less_or_equal, multiply, negate, plus, subtract

Value: TypeAlias = Callable[[Row], Term | None]
Test: TypeAlias = Callable[[Row], bool | None]
ExistsCompiler: TypeAlias = Callable[[Node, Layout], Test]

_ARITHMETIC = {"+": add, "-": subtract, "*": multiply, "/": divide}


class Scope:
    """What compiling an expression needs: the columns of a row, the context, and a compiler for patterns of EXISTS."""

    __slots__ = ("context", "exists", "layout", "variable")

    def __init__(self, layout: Layout, context: Context, exists: ExistsCompiler, variable: Var = "") -> None:
        self.layout = layout
        self.context = context
        self.exists = exists
        self.variable = variable
        """The variable that the value is bound to, if any."""


def compile_value(expression: Expression, scope: Scope) -> Value:
    match expression:
        case str():
            return _leaf(expression, scope.layout, scope.context)
        case Arithmetic(first, rest):
            steps = [(_ARITHMETIC[operator], compile_value(each, scope)) for operator, each in rest]
            return _from_left(compile_value(first, scope), steps)
        case Sign(operator, inner):
            return _unary(negate if operator == "-" else plus, compile_value(inner, scope))
        case Call("BOUND", _):
            return _as_value(compile_test(expression, scope))
        case Call(function, arguments):
            return compile_call(function, arguments, scope, compile_value, compile_test)
        case And() | Or() | Not() | Compare() | In() | Exists():
            return _as_value(compile_test(expression, scope))
        case Aggregate():
            raise AssertionError("the parser puts a variable in the place of every aggregate")
        case _:
            assert_never(expression)


def compile_test(expression: Expression, scope: Scope) -> Test:
    """The effective boolean value of an expression."""
    match expression:
        case And(left, right):
            return _and(compile_test(left, scope), compile_test(right, scope))
        case Or(left, right):
            return _or(compile_test(left, scope), compile_test(right, scope))
        case Not(inner):
            return _not(compile_test(inner, scope))
        case Compare(operator, left, right):
            return _compare(operator, compile_value(left, scope), compile_value(right, scope))
        case In(item, choices):
            constants = [choice for choice in choices if is_constant(choice)]
            others = [compile_value(choice, scope) for choice in choices if not is_constant(choice)]
            item_of, chosen = compile_value(item, scope), Choices(constants, scope.context)
            return chosen.test(item_of) if not others else _or(chosen.test(item_of), _in(item_of, others))
        case Exists(pattern):
            return scope.exists(pattern, scope.layout)
        case Call("BOUND", (str() as variable,)):
            column = scope.layout.index.get(variable)
            return (lambda _: False) if column is None else (lambda row: row[column] is not None)
        case _:
            return _as_test(compile_value(expression, scope))


def _leaf(term: str, layout: Layout, context: Context) -> Value:
    if term[0] == "$":
        number = int(term[2:])
        if term[1] == "x":
            return lambda _: context.spelled(context.parameters[number])
        return lambda _: context.parameters[number]
    if term[0] != "?":
        term = context.spelled(term)
        return lambda _: term
    column = layout.index.get(term)
    return (lambda _: None) if column is None else itemgetter(column)


def _as_value(test: Test) -> Value:
    def value(row: Row) -> Term | None:
        truth = test(row)
        return None if truth is None else TRUE if truth else FALSE

    return value


def _as_test(value: Value) -> Test:
    def test(row: Row) -> bool | None:
        term = value(row)
        return None if term is None else ebv(term)

    return test


def _unary(function: Callable[[Term], Term | None], inner: Value) -> Value:
    def value(row: Row) -> Term | None:
        term = inner(row)
        return None if term is None else function(term)

    return value


def _binary(function: Callable[[Term, Term], Term | None], left: Value, right: Value) -> Value:
    def value(row: Row) -> Term | None:
        a = left(row)
        if a is None:
            return None
        b = right(row)
        return None if b is None else function(a, b)

    return value


def _from_left(first: Value, steps: Sequence[tuple[Callable[[Term, Term], Term | None], Value]]) -> Value:
    if len(steps) == 1:
        (function, second), *_ = steps
        return _binary(function, first, second)

    def value(row: Row) -> Term | None:
        result = first(row)
        for function, following in steps:
            if result is None:
                return None
            other = following(row)
            result = None if other is None else function(result, other)
        return result

    return value


def _comparison(function: Callable[[Term, Term], bool | None], left: Value, right: Value) -> Test:
    def test(row: Row) -> bool | None:
        a = left(row)
        if a is None:
            return None
        b = right(row)
        return None if b is None else function(a, b)

    return test


def _compare(operator: str, left: Value, right: Value) -> Test:
    match operator:
        case "=":
            return _comparison(equals, left, right)
        case "!=":
            return _not(_comparison(equals, left, right))
        case "<":
            return _comparison(less, left, right)
        case ">":
            return _comparison(less, right, left)
        case "<=":
            return _comparison(less_or_equal, left, right)
        case _:
            return _comparison(less_or_equal, right, left)


def _not(inner: Test) -> Test:
    def test(row: Row) -> bool | None:
        truth = inner(row)
        return None if truth is None else not truth

    return test


def _and(left: Test, right: Test) -> Test:
    """False if either side is false, else an error if either side is an error."""

    def test(row: Row) -> bool | None:
        a = left(row)
        if a is False:
            return False
        b = right(row)
        return b if a or b is False else None

    return test


def _or(left: Test, right: Test) -> Test:
    """True if either side is true, else an error if either side is an error."""

    def test(row: Row) -> bool | None:
        a = left(row)
        if a:
            return True
        b = right(row)
        return b if a is False or b else None

    return test


def _in(item: Value, choices: list[Value]) -> Test:
    """Compare with each choice by `=`; an error counts only if no choice is equal."""

    def test(row: Row) -> bool | None:
        term = item(row)
        if term is None:
            return None
        result: bool | None = False
        for choice in choices:
            other = choice(row)
            same = None if other is None else equals(term, other)
            if same:
                return True
            if same is None:
                result = None
        return result

    return test
