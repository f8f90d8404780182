"""Compiles function calls. The functions here are lazy, or need the current time, random numbers or the base IRI.

The strict functions without context come from the function library.
"""

import hashlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias
from uuid import UUID

from tidings.model.iris import resolve
from tidings.model.terms import XSD, Term, blank, iri, lexical_form, literal, split_literal
from tidings.sparql.algebra import Call, Expression, operands
from tidings.sparql.evaluate.layout import Row
from tidings.sparql.functions import CASTS, FUNCTIONS, MICROS, regexes
from tidings.sparql.functions.hashes import ALGORITHMS
from tidings.sparql.functions.regexes import TIME_LIMIT
from tidings.sparql.values import DOUBLE, Number, encode_integer, encode_number, equality_key

if TYPE_CHECKING:
    from tidings.sparql.evaluate.expressions import Scope, Test, Value

    ValueCompiler: TypeAlias = Callable[[Expression, Scope], Value]
    TestCompiler: TypeAlias = Callable[[Expression, Scope], Test]

SOLUTION = "?:solution"
"""A column with a number for each solution, so that all calls of BNODE("x") in one solution return the same node."""

EQUALITY_KEY = "equality key"
"""The name of `equality_key` as a function. No text can call it."""

_MOMENTARY = frozenset({"NOW", "RAND", "UUID", "STRUUID", MICROS})
_TIMED: dict[str, Callable[..., Term | None]] = {"REGEX": regexes.matches, "REPLACE": regexes.replace}
_MOMENT = 0.1
"""Seconds that one match may take in a subscription."""
_READS_TEXTS = frozenset(
    {"STR", "STRLEN", "UCASE", "LCASE", "ENCODE_FOR_URI", "CONTAINS", "STRSTARTS", "STRENDS", "STRBEFORE", "STRAFTER",
     "STRDT", "STRLANG", "CONCAT", "SUBSTR", *ALGORITHMS}
)  # fmt: skip
_LONG = 1 << 15
_CHARACTERS_OF_A_ROW = 32
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def is_momentary(expression: Expression) -> bool:
    """Whether an expression may give another value for the same row at another moment."""
    if isinstance(expression, Call) and expression.function in _MOMENTARY:
        return True
    return any(is_momentary(part) for part in operands(expression))


def names_blanks(expression: Expression) -> bool:
    """Whether an expression calls BNODE with a label, and so needs the number of its solution."""
    if isinstance(expression, Call) and expression.function == "BNODE":
        return True
    return any(names_blanks(part) for part in operands(expression))


def compile_call(
    function: str,
    arguments: tuple[Expression, ...],
    scope: "Scope",
    value_of: "ValueCompiler",
    test_of: "TestCompiler",
) -> "Value":
    if function == "IF":
        condition, then, otherwise = arguments
        return _if(test_of(condition, scope), value_of(then, scope), value_of(otherwise, scope))
    values = [value_of(argument, scope) for argument in arguments]
    if function == "COALESCE":
        return _coalesce(values)
    momentary = _momentary(function, values, scope)
    if momentary is not None:
        return momentary
    if function == "IRI":
        return _strict(_resolved, values)
    if function == EQUALITY_KEY:
        return _strict(equality_key, values)
    if function in _TIMED:
        return _strict(_timed(_TIMED[function], scope), values)
    if function in FUNCTIONS:
        call = FUNCTIONS[function].call
        return _strict(_looking(call, scope) if function in _READS_TEXTS else call, values)
    cast = CASTS.get(function[1:-1])
    if cast is None or len(values) != cast.least:
        return _error  # 17.6: a function that is not supported raises an error, once a row; the parser has warned
    return _strict(_looking(cast.call, scope), values)


def _timed(function: Callable[..., Term | None], scope: "Scope") -> Callable[..., Term | None]:
    """A function that may take long for one row, with the time that is left to the evaluation as its limit. In a
    subscription, its limit is short, because plans advance on the event loop, after each commit."""
    context = scope.context
    most = _MOMENT if context.stable else TIME_LIMIT

    def call(*terms: Term) -> Term | None:
        value = function(*terms, seconds=context.left(most))
        if value is None:
            context.look()
        return value

    return _looking(call, scope)


def _looking(function: Callable[..., Term | None], scope: "Scope") -> Callable[..., Term | None]:
    """A function whose time grows with the length of its arguments and its result: after long ones, it checks the time
    limit. Their characters count as work: as much as the rows that could be looked up in the same time."""
    context = scope.context

    def call(*terms: Term) -> Term | None:
        value = function(*terms)
        characters = sum(map(len, terms)) if value is None else sum(map(len, terms), len(value))
        if characters > _LONG:
            context.look(characters // _CHARACTERS_OF_A_ROW)
        return value

    return call


def _error(_: Row) -> Term | None:
    return None


def _momentary(function: str, values: "list[Value]", scope: "Scope") -> "Value | None":
    context = scope.context
    match function:
        case "NOW":
            return lambda _: _now(context.moment.now)
        case "RAND":
            return lambda _: encode_number(Number(DOUBLE, context.moment.random.random()))
        case "UUID":
            return lambda _: iri(f"urn:uuid:{_uuid(context.moment.random.getrandbits(128))}")
        case "STRUUID":
            return lambda _: literal(_uuid(context.moment.random.getrandbits(128)))
        case "BNODE":
            return _bnode(values, scope)
        case _ if function == MICROS:
            return lambda _: encode_integer(context.moment.now)
        case _:
            return None


@lru_cache(8)
def _now(micros: int) -> Term:
    """The instant as an `xsd:dateTime` in UTC. Cached: many rows ask for the same instant, or for that before it."""
    instant = _EPOCH + timedelta(microseconds=micros)
    return literal(instant.replace(tzinfo=None).isoformat() + "Z", f"{XSD}dateTime")


def _uuid(bits: int) -> str:
    return str(UUID(int=bits, version=4))


def _bnode(values: "list[Value]", scope: "Scope") -> "Value":
    context = scope.context
    column = scope.layout.index.get(SOLUTION)
    fresh = context.call_for(scope.variable)  # 17.4.2.9: each call without an argument returns another blank node

    def value(row: Row) -> Term | None:
        term: Term | None = fresh if not values else values[0](row)
        if term is None or (values and (term[0] != '"' or term[-1] != '"')):
            return None
        if column is None or (not values and not context.stable):
            return context.moment.fresh_blank()
        return blank_of(row[column] or "", term)

    return value


def blank_of(solution: str, label: str) -> Term:
    """The blank node that a label stands for throughout one solution."""
    return blank(f"b{hashlib.blake2b(f'{solution} {label}'.encode(), digest_size=12).hexdigest()}")


def _resolved(term: Term, base: Term) -> Term | None:
    """IRI(): an IRI as it is, a string resolved against the base, which the parser adds as second argument."""
    if term[0] == "<":
        return term
    if term[0] != '"' or term[-1] != '"':
        return None
    text = resolve(lexical_form(base), split_literal(term)[0])
    return None if any(char in '<>"{}|^`\\' or char <= " " for char in text) else iri(text)


def _if(condition: "Test", then: "Value", otherwise: "Value") -> "Value":
    def value(row: Row) -> Term | None:
        truth = condition(row)
        return None if truth is None else then(row) if truth else otherwise(row)

    return value


def _coalesce(values: "list[Value]") -> "Value":
    def value(row: Row) -> Term | None:
        for candidate in values:
            term = candidate(row)
            if term is not None:
                return term
        return None

    return value


def _strict(function: Callable[..., Term | None], values: "list[Value]") -> "Value":
    """A function whose result is an error if one of its arguments is an error."""
    if len(values) == 1:
        only = values[0]

        def unary(row: Row) -> Term | None:
            term = only(row)
            return None if term is None else function(term)

        return unary

    def value(row: Row) -> Term | None:
        terms = [argument(row) for argument in values]
        return None if None in terms else function(*terms)

    return value
