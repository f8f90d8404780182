"""Sort keys of ORDER BY as bytes, which Spark compares lexicographically.

    order_key(a) < order_key(b)  =>  sortable(a) < sortable(b)     and no key is a prefix of another

A number is encoded as its sign, its magnitude and its digits, so that integers, decimals and doubles of one value are
equal, regardless of how many digits they have. For a descending order, every byte is complemented.
"""

from decimal import Decimal
from math import isinf
from typing import Any

import pyarrow as pa
from pyspark.sql import Column

from tidings.spark.sparql.expressions import vectorised
from tidings.sparql.values import OrderKey, order_key

_COMPLEMENT = bytes(range(255, -1, -1))


def sortable(key: OrderKey) -> bytes:
    """A sort key as bytes: its rank among the kinds of terms, then its parts, which have one type within a kind."""
    rank, *parts = key
    return bytes((rank,)) + b"".join(_text(part) if isinstance(part, str) else _number(part) for part in parts)


def _text(text: str) -> bytes:
    """UTF-8, which has the order of code points. 00 01 ends it, and 00 FF stands for the character 0."""
    return text.encode("utf-8", "surrogatepass").replace(b"\0", b"\0\xff") + b"\0\x01"


def _number(value: int | Decimal | float) -> bytes:
    if isinstance(value, float) and isinf(value):
        return b"\x04" if value > 0 else b"\x00"
    exact = Decimal(value)
    if not exact:
        return b"\x02"
    _, digits, _ = exact.as_tuple()
    text = "".join(map(str, digits)).rstrip("0").encode() + b"\0"
    magnitude = (exact.adjusted() + 2**31).to_bytes(4, "big") + text
    return b"\x03" + magnitude if exact > 0 else b"\x01" + magnitude.translate(_COMPLEMENT)


def rank_column(values: list[Column], descending: tuple[bool, ...]) -> Column:
    """One sort key for all conditions of an ORDER BY."""

    def evaluate(*columns: pa.Array) -> pa.Array:
        rows = zip(*[column.to_pylist() for column in columns], strict=True)
        return pa.array([_ranked(row, descending) for row in rows], pa.binary())

    return vectorised(evaluate, "binary")(*values)


def _ranked(row: tuple[Any, ...], descending: tuple[bool, ...]) -> bytes:
    keys = [sortable(order_key(term)) for term in row]
    return b"".join(key.translate(_COMPLEMENT) if down else key for key, down in zip(keys, descending, strict=True))
