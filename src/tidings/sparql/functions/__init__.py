"""The function library of SPARQL 1.1, section 17.4: every builtin that is strict and needs no context.

Each takes terms, all bound, and returns a term or **None, which means error**. The evaluator has the functions that are
lazy (IF, COALESCE, BOUND, IN) or need the query, the clock or random numbers (IRI, BNODE, NOW, RAND, UUID).
"""

from collections.abc import Callable

from tidings.model.terms import Term
from tidings.sparql.functions import datetimes, numerics, regexes, strings, terms
from tidings.sparql.functions.casts import CASTS
from tidings.sparql.functions.catalogue import Function
from tidings.sparql.functions.hashes import ALGORITHMS, hash_function

__all__ = ["CASTS", "FUNCTIONS", "MICROS", "Function"]

MICROS = "<urn:tidings:function:micros>"
"""The extension function of the moment: microseconds since 1970 as an `xsd:integer`, the papers' time function."""

_UNARY: dict[str, Callable[[Term], Term | None]] = {
    "STR": terms.string_of,
    "LANG": terms.language_of,
    "DATATYPE": terms.datatype_of,
    "ISIRI": terms.is_iri_term,
    "ISURI": terms.is_iri_term,
    "ISBLANK": terms.is_blank_term,
    "ISLITERAL": terms.is_literal_term,
    "ISNUMERIC": terms.is_numeric,
    "ABS": numerics.absolute,
    "CEIL": numerics.ceiling,
    "FLOOR": numerics.floor,
    "ROUND": numerics.round_half_up,
    "STRLEN": strings.length,
    "UCASE": strings.upper,
    "LCASE": strings.lower,
    "ENCODE_FOR_URI": strings.encode_for_uri,
    "YEAR": datetimes.year,
    "MONTH": datetimes.month,
    "DAY": datetimes.day,
    "HOURS": datetimes.hours,
    "MINUTES": datetimes.minutes,
    "SECONDS": datetimes.seconds,
    "TIMEZONE": datetimes.timezone,
    "TZ": datetimes.timezone_text,
    **{name: hash_function(name) for name in ALGORITHMS},
}
_BINARY: dict[str, Callable[[Term, Term], Term | None]] = {
    "SAMETERM": terms.same_term,
    "LANGMATCHES": terms.language_matches,
    "STRDT": terms.with_datatype,
    "STRLANG": terms.with_language,
    "CONTAINS": strings.contains,
    "STRSTARTS": strings.starts_with,
    "STRENDS": strings.ends_with,
    "STRBEFORE": strings.before,
    "STRAFTER": strings.after,
}

FUNCTIONS: dict[str, Function] = {
    **{name: Function(name, 1, 1, call) for name, call in _UNARY.items()},
    **{name: Function(name, 2, 2, call) for name, call in _BINARY.items()},
    "CONCAT": Function("CONCAT", 0, None, strings.concatenate),
    "SUBSTR": Function("SUBSTR", 2, 3, strings.substring),
    "REGEX": Function("REGEX", 2, 3, regexes.matches),
    "REPLACE": Function("REPLACE", 3, 4, regexes.replace),
}
"""The builtins, by their name in upper case."""
