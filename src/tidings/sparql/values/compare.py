"""The operators `=`, `<` and `<=` on terms, and the effective boolean value (SPARQL 1.1, 17.2.2 and 17.3.1).

None is a type error. It also stands for what cannot be known: whether two literals of unknown datatypes are equal,
and which of two moments comes first if only one of them has a timezone.
"""

from decimal import Decimal

from tidings.model.terms import XSD, Term
from tidings.sparql.values.decode import NUMERIC_DATATYPES, decode
from tidings.sparql.values.durations import duration_less
from tidings.sparql.values.kinds import (
    DECIMAL,
    DOUBLE,
    Blank,
    Boolean,
    DateTime,
    Duration,
    Iri,
    LangText,
    Number,
    Other,
    Text,
    Value,
)
from tidings.sparql.values.moments import moment_equals, moment_less
from tidings.sparql.values.numerics import is_nan, to_rank, to_single

_Comparable = int | Decimal | float


def _promoted(left: Number, right: Number) -> tuple[_Comparable, _Comparable]:
    """Both values in the type that XPath promotes them to; int and Decimal stay, as Python compares them exactly."""
    rank = left.rank if left.rank > right.rank else right.rank
    if rank <= DECIMAL or left.rank == right.rank:
        return left.value, right.value
    return to_rank(left, rank), to_rank(right, rank)


def equals(left: Term, right: Term) -> bool | None:
    """`=`, by value where the datatypes are known and by term where they are not."""
    x = decode(left)
    if left == right:
        return not (type(x) is Number and is_nan(x))
    y = decode(right)
    if type(x) is Number and type(y) is Number:
        a, b = _promoted(x, y)
        return a == b
    return _values_equal(x, y)


def equality_key(term: Term) -> Term:
    """A key that any two terms that are equal by `=` have in common; other terms may have the same key."""
    value = decode(term)
    match value:
        case Number():
            return f'"{to_single(to_rank(value, DOUBLE)) + 0.0!r}"'  # the same after any promotion; -0 becomes 0
        case LangText(text, language):
            return f'"{text}"@{language}'
        case Boolean(truth):
            return f'"{truth}"'
        case DateTime():
            return f'"{value.kind} {float(value.instant)!r} {value.offset is None}"'
        case Duration(_, months, seconds):
            return f'"{months} {float(seconds)!r}"'
        case _:
            return term  # equal to itself alone


def _values_equal(x: Value, y: Value) -> bool | None:
    """Equality of the values of two different terms that are not both numbers."""
    match x, y:
        case (Text(), Text()) | (LangText(), LangText()) | (Boolean(), Boolean()):
            return x == y
        case DateTime(), DateTime():
            return moment_equals(x, y) if x.kind == y.kind else False
        case Duration(), Duration():
            return x.months == y.months and x.seconds == y.seconds
        case (Iri() | Blank() | LangText(), _) | (_, Iri() | Blank() | LangText()):
            return False
        case (Other(), _) | (_, Other()):
            return None
        case _:
            return False  # two known datatypes with disjoint value spaces


def less(left: Term, right: Term) -> bool | None:
    """`<` within one kind of value. It also compares strings of one language, which SPARQL allows as an extension."""
    x, y = decode(left), decode(right)
    if type(x) is Number and type(y) is Number:
        a, b = _promoted(x, y)
        return a < b
    match x, y:
        case Text(text), Text(other):
            return text < other
        case Boolean(), Boolean():
            return x.value < y.value
        case DateTime(), DateTime() if x.kind == y.kind:
            return moment_less(x, y)
        case Duration(), Duration():
            return duration_less(x, y)
        case LangText(text, language), LangText(other, same) if language == same:
            return text < other
        case _:
            return None


def less_or_equal(left: Term, right: Term) -> bool | None:
    """`<=`, that is `<` or `=`, for terms that `<` can compare."""
    x, y = decode(left), decode(right)
    if type(x) is Number and type(y) is Number:
        a, b = _promoted(x, y)
        return a <= b
    before = less(left, right)
    return before or equals(left, right) if before is not None else None


def ebv(term: Term) -> bool | None:
    """The effective boolean value; a number or boolean with a broken lexical form counts as false."""
    match decode(term):
        case Boolean(truth):
            return truth
        case Number() as number:
            return number.value != 0 and not is_nan(number)
        case Text(text) | LangText(text, _):
            return text != ""
        case Other(_, datatype) if datatype in NUMERIC_DATATYPES or datatype == f"{XSD}boolean":
            return False
        case _:
            return None
