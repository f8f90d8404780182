"""The order of ORDER BY: a sort key for every term, and for unbound.

    unbound < blank node < IRI < literal     and     less(a, b)  =>  order_key(a) < order_key(b)

Values of which neither is less have equal keys, so that a stable sort keeps their order; terms that `<` cannot compare
have an order, too, always the same. Numbers are ordered by their exact values, though `<` may find two of different
types equal after rounding (0.1 and 0.1e0): that equality is not transitive, so no total order could keep it.
"""

from decimal import Decimal
from typing import Any, TypeAlias, assert_never

from tidings.model.terms import Term
from tidings.sparql.values.civil import DAY
from tidings.sparql.values.decode import decode
from tidings.sparql.values.kinds import (
    Blank,
    Boolean,
    DateTime,
    DateTimeKind,
    Duration,
    Iri,
    LangText,
    Number,
    Other,
    Text,
)
from tidings.sparql.values.numerics import EXACT, is_nan

OrderKey: TypeAlias = tuple[Any, ...]
"""A rank among the kinds of terms, then what orders the terms of that rank."""

UNBOUND: OrderKey = (0,)

_MOMENT_RANKS: dict[DateTimeKind, int] = {
    "dateTime": 6,
    "date": 7,
    "time": 8,
    "gYearMonth": 9,
    "gYear": 10,
    "gMonthDay": 11,
    "gMonth": 12,
    "gDay": 13,
}
_MEAN_MONTH = Decimal("30.436875") * DAY
"""A twelfth of the mean year in 400 years. It is between the extremes of XSD's four reference dates, so the order by it
extends XSD's partial order."""


def order_key(term: Term | None) -> OrderKey:
    """A tuple that sorts as ORDER BY does."""
    if term is None:
        return UNBOUND
    value = decode(term)
    match value:
        case Number():
            return (3, 0, 0) if is_nan(value) else (3, 1, value.value)
        case Text(text):
            return (4, text, "")
        case LangText(text, language):
            return (4, text, language)
        case Iri(text):
            return (2, text)
        case Blank(label):
            return (1, label)
        case Boolean(truth):
            return (5, truth)
        case DateTime():
            return (_MOMENT_RANKS[value.kind], value.instant, value.offset is None)
        case Duration(_, months, seconds):
            return (14, EXACT.add(EXACT.multiply(_MEAN_MONTH, Decimal(months)), seconds), months)
        case Other(lexical, datatype):
            return (15, datatype, lexical)
        case _:
            assert_never(value)
