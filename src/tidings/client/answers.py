"""The answers of a broker as types for applications: rows by name, with RDF terms or with plain Python values."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeAlias

from tidings.client.errors import NotUnderstood
from tidings.client.terms import Literal, RdfTerm, from_term
from tidings.model.errors import ResultsSyntaxError
from tidings.model.formats.results.json import ResultsDocument
from tidings.model.results import Boolean, Solutions
from tidings.model.terms import Term

if TYPE_CHECKING:
    import pandas

Row: TypeAlias = dict[str, RdfTerm]
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
Cells: TypeAlias = tuple[RdfTerm | None, ...]


@dataclass(frozen=True, slots=True)
class Committed:
    """An executed update: its commit, its time (microseconds since 1970), and how many quads it added and removed."""

    sequence: int
    time: int
    added: int
    removed: int


@dataclass(frozen=True, slots=True)
class Scheduled:
    """A scheduled update: the id by which it can be cancelled, and its time (microseconds since 1970)."""

    id: str
    time: int


def when(at: datetime | int | None, delay: timedelta | float | None) -> dict[str, float]:
    """An instant (a number is in microseconds since 1970) or a delay (a number is in seconds), as in the protocol."""
    if (at is None) == (delay is None):
        raise ValueError("an update is scheduled for an instant or after a delay: one of the two")
    if at is not None:
        return {"at": (at - _EPOCH) // timedelta(microseconds=1) if isinstance(at, datetime) else at}
    assert delay is not None
    return {"delay": delay.total_seconds() if isinstance(delay, timedelta) else delay}


@dataclass(frozen=True, slots=True)
class Answer(Sequence[Row]):
    """The answer to a query: a sequence of rows. A row does not contain its unbound variables."""

    variables: tuple[str, ...]
    cells: tuple[Cells, ...]
    boolean: bool | None = field(default=None)
    """The answer to ASK; None for other queries."""

    @classmethod
    def of(cls, result: Solutions | Boolean) -> "Answer":
        match result:
            case Boolean(value):
                return cls((), (), value)
            case Solutions(variables, rows):
                return cls(variables, tuple(map(cells_of, rows)))

    def __len__(self) -> int:
        return len(self.cells)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [named(self.variables, cells) for cells in self.cells[index]]
        return named(self.variables, self.cells[index])

    def __iter__(self) -> Iterator[Row]:
        return (named(self.variables, cells) for cells in self.cells)

    def __bool__(self) -> bool:
        """The answer to ASK; for other queries, whether there is any row."""
        return bool(self.cells) if self.boolean is None else self.boolean

    def values(self) -> list[dict[str, Any]]:
        """The rows with plain Python values: int, Decimal, datetime, …; None where a variable is unbound."""
        return [valued(self.variables, cells) for cells in self.cells]

    def to_pandas(self) -> "pandas.DataFrame":
        """The rows as a DataFrame of Python values, if pandas is installed. Decimals become floats."""
        return frame(self.variables, self.cells)


def answer_of(document: ResultsDocument) -> Answer:
    """The answer in a results document. Raises NotUnderstood."""
    try:
        return Answer.of(document.result())
    except ResultsSyntaxError as error:
        raise NotUnderstood(f"not an answer: {error}") from error


def cells_of(row: Iterable[Term | None]) -> Cells:
    """A row with the terms of `tidings.client.terms`."""
    return tuple([None if term is None else from_term(term) for term in row])


def named(variables: tuple[str, ...], cells: Cells) -> Row:
    return {name: cell for name, cell in zip(variables, cells, strict=True) if cell is not None}


def valued(variables: tuple[str, ...], cells: Cells) -> dict[str, Any]:
    return {name: _value(cell) for name, cell in zip(variables, cells, strict=True)}


def _value(cell: RdfTerm | None) -> Any:
    return cell.value if isinstance(cell, Literal) else cell


def frame(variables: tuple[str, ...], rows: Sequence[Cells]) -> "pandas.DataFrame":
    try:
        import pandas
    except ImportError as error:
        raise ImportError("rows become a DataFrame if pandas is installed: pip install pandas") from error
    columns = {name: [_value(cells[place]) for cells in rows] for place, name in enumerate(variables)}
    return pandas.DataFrame({name: _reckoned(values) for name, values in columns.items()}, columns=list(variables))


def _reckoned(values: list[Any]) -> list[Any]:
    """A column with floats in place of decimals, if all its values are numbers. For pandas, decimals are objects."""
    bound = [value for value in values if value is not None]
    if not any(isinstance(value, Decimal) for value in bound):
        return values
    if not all(isinstance(value, int | float | Decimal) and not isinstance(value, bool) for value in bound):
        return values
    try:
        return [None if value is None else float(value) for value in values]
    except OverflowError:  # an integer that is too large for a float
        return values
