"""The typed values behind terms: what a literal means, once its lexical form has been read.

A closed union of frozen structs. The four numeric types are one struct, told apart by a rank that grows in the
order of XPath promotion (integer < decimal < float < double), so that the type of a result is `max(rank, rank)`.
The eight date and time types are one struct as well, told apart by the local name of their datatype.
"""

from decimal import Decimal
from typing import Final, Literal, TypeAlias

import msgspec

INTEGER: Final = 0
DECIMAL: Final = 1
FLOAT: Final = 2
DOUBLE: Final = 3

DateTimeKind: TypeAlias = Literal["dateTime", "date", "time", "gYearMonth", "gYear", "gMonthDay", "gMonth", "gDay"]
DurationKind: TypeAlias = Literal["duration", "dayTimeDuration", "yearMonthDuration"]


class Number(msgspec.Struct, frozen=True):
    """An int for INTEGER, a Decimal for DECIMAL, and a float for FLOAT (rounded to single precision) and DOUBLE."""

    rank: int
    value: int | Decimal | float


class Boolean(msgspec.Struct, frozen=True):
    value: bool


class Text(msgspec.Struct, frozen=True):
    """An `xsd:string`, which is what RDF 1.1 makes of a simple literal."""

    text: str


class LangText(msgspec.Struct, frozen=True):
    """A language-tagged string; the tag is in lower case, as tags compare regardless of case."""

    text: str
    language: str


class DateTime(msgspec.Struct, frozen=True):
    """A date, a time, both, or a recurring part of one; fields that a kind lacks are those of the reference date.

    `instant` counts seconds from 1970-01-01T00:00:00, in UTC if there is an `offset` (minutes east of UTC), else in an
    unknown local time. The fields are as written, except that 24:00:00 is the next midnight.
    """

    kind: DateTimeKind
    year: int
    month: int
    day: int
    hour: int
    minute: int
    second: Decimal
    offset: int | None
    instant: Decimal


class Duration(msgspec.Struct, frozen=True):
    """Months and seconds, never of opposite signs."""

    kind: DurationKind
    months: int
    seconds: Decimal


class Iri(msgspec.Struct, frozen=True):
    text: str


class Blank(msgspec.Struct, frozen=True):
    label: str


class Other(msgspec.Struct, frozen=True):
    """A literal whose value is not known: an unknown datatype, or a lexical form its datatype does not allow."""

    lexical: str
    datatype: str


Value: TypeAlias = Number | Boolean | Text | LangText | DateTime | Duration | Iri | Blank | Other
