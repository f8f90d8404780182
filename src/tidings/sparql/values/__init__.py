"""The values behind terms, and the operators of SPARQL 1.1 section 17.3 on them.

Operators take terms and return terms or truth values. **None means error** everywhere in this package; no operator
raises an exception for an error of the query.
"""

from tidings.sparql.values.arithmetic import (
    add,
    add_numbers,
    divide,
    divide_numbers,
    multiply,
    multiply_numbers,
    negate,
    negate_number,
    plus,
    subtract,
    subtract_numbers,
)
from tidings.sparql.values.compare import ebv, equality_key, equals, less, less_or_equal
from tidings.sparql.values.decode import decode
from tidings.sparql.values.encode import (
    encode,
    encode_boolean,
    encode_duration,
    encode_integer,
    encode_moment,
    encode_number,
)
from tidings.sparql.values.kinds import (
    DECIMAL,
    DOUBLE,
    FLOAT,
    INTEGER,
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
from tidings.sparql.values.order import UNBOUND, OrderKey, order_key

__all__ = [
    "DECIMAL",
    "DOUBLE",
    "FLOAT",
    "INTEGER",
    "UNBOUND",
    "Blank",
    "Boolean",
    "DateTime",
    "Duration",
    "Iri",
    "LangText",
    "Number",
    "OrderKey",
    "Other",
    "Text",
    "Value",
    "add",
    "add_numbers",
    "decode",
    "divide",
    "divide_numbers",
    "ebv",
    "encode",
    "encode_boolean",
    "encode_duration",
    "encode_integer",
    "encode_moment",
    "encode_number",
    "equality_key",
    "equals",
    "less",
    "less_or_equal",
    "multiply",
    "multiply_numbers",
    "negate",
    "negate_number",
    "order_key",
    "plus",
    "subtract",
    "subtract_numbers",
]
