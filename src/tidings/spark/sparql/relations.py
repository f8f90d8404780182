"""Solutions as a DataFrame with a column for each variable, and joins of two such relations.

A column contains terms, and null if its variable is unbound. Each column name is used only once, so that a relation can
be joined with one that it was made from. There may be more columns: a sort key (`rank`), and the commits between which
a row holds (`span`, from the first to before the second). A row of a join holds in the intersection of the two spans.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from itertools import count
from operator import and_, or_
from typing import TypeAlias

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from tidings.model.terms import Var

Columns: TypeAlias = Mapping[Var, Column]
Condition: TypeAlias = Callable[[Columns], Column]

_numbers = count()

ALWAYS = (0, 2**63 - 1)
"""The span of a row that does not depend on quads."""


def new_name() -> str:
    """A column name that no other column has."""
    return f"c{next(_numbers)}"


def absent() -> Column:
    return f.lit(None).cast("string")


def every(conditions: Iterable[Column]) -> Column:
    return reduce(and_, conditions, f.lit(True))


class Cells(Mapping[Var, Column]):
    """Columns by variable, made on demand, because each takes the JVM a fifth of a millisecond."""

    def __init__(self, names: dict[Var, str]) -> None:
        self._names = names

    def __getitem__(self, variable: Var) -> Column:
        return f.col(self._names[variable])

    def __iter__(self) -> Iterator[Var]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


@dataclass(frozen=True, slots=True)
class Relation:
    """A multiset of solutions."""

    frame: DataFrame
    names: dict[Var, str]
    certain: frozenset[Var]
    """Variables that are bound in every row."""
    rank: str | None = None
    span: tuple[str, str] | None = None

    def __getitem__(self, variable: Var) -> Column:
        name = self.names.get(variable)
        return absent() if name is None else f.col(name)

    def columns(self, hidden: Container[Var] = ()) -> "Cells":
        return Cells({variable: name for variable, name in self.names.items() if variable not in hidden})

    def where(self, condition: Column) -> "Relation":
        return replace(self, frame=self.frame.where(condition))

    def beside(self, other: "Relation") -> "Relation":
        """The relation, with new column names if it shares some with a relation that it will be joined with."""
        theirs = {*other.names.values(), *(other.span or ())}
        return self.renamed() if theirs.intersection((*self.names.values(), *(self.span or ()))) else self

    def renamed(self) -> "Relation":
        """The relation with new column names."""
        names = {variable: new_name() for variable in self.names}
        picked = [f.col(self.names[variable]).alias(name) for variable, name in names.items()]
        span = None
        if self.span is not None:
            span = new_name(), new_name()
            picked += [f.col(old).alias(new) for old, new in zip(self.span, span, strict=True)]
        return Relation(self.frame.select(*picked), names, self.certain, None, span)

    def extended(self, variable: Var, value: Column, *, certain: bool = False) -> "Relation":
        """The relation with one more column, for a variable that it does not have yet."""
        name = new_name()
        sure = self.certain | {variable} if certain else self.certain - {variable}
        return replace(
            self, frame=self.frame.withColumn(name, value), names={**self.names, variable: name}, certain=sure
        )

    def called(self, variable: Var, name: Var) -> "Relation":
        """The relation with a variable renamed."""
        names = {name if each == variable else each: column for each, column in self.names.items()}
        return replace(self, names=names, certain=frozenset(name if v == variable else v for v in self.certain))

    def projected(self, variables: Iterable[Var]) -> "Relation":
        """The relation with these variables only; those that it does not have are unbound. Rank and span stay."""
        names: dict[Var, str] = {}
        picked: list[Column] = []
        for variable in dict.fromkeys(variables):
            names[variable] = self.names.get(variable) or new_name()
            picked.append(self[variable].alias(names[variable]))
        picked += [f.col(name) for name in (self.rank, *(self.span or ())) if name is not None]
        return replace(self, frame=self.frame.select(*picked), names=names, certain=self.certain.intersection(names))

    def distinct(self) -> "Relation":
        """Every row once, at its first place in the order."""
        if self.rank is not None:
            found = self.frame.groupBy(*self.names.values()).agg(f.min(self.rank).alias(self.rank))
            return replace(self, frame=found)
        if not self.names and self.span is None:
            return replace(self, frame=self.frame.limit(1))
        return replace(self, frame=self.frame.distinct())


# -- joins ------------------------------------------------------------------------------------------------------


def _agree(left: Relation, right: Relation, variable: Var) -> Column:
    """Whether two rows are compatible in a variable: equal, or unbound on one side."""
    mine, other = left[variable], right[variable]
    conditions = [mine == other]
    conditions += [mine.isNull()] if variable not in left.certain else []
    conditions += [other.isNull()] if variable not in right.certain else []
    return reduce(or_, conditions)


def _meeting(left: Relation, right: Relation) -> Column:
    conditions = [_agree(left, right, variable) for variable in left.names if variable in right.names]
    if left.span is not None and right.span is not None:
        conditions.append(f.col(left.span[0]) < f.col(right.span[1]))
        conditions.append(f.col(right.span[0]) < f.col(left.span[1]))
    return every(conditions)


def merged_columns(left: Relation, right: Relation) -> dict[Var, Column]:
    """The column of each variable in a join."""
    found = dict(left.columns())
    for variable in right.names:
        if variable not in left.names:
            found[variable] = right[variable]
        elif variable not in left.certain:
            found[variable] = f.coalesce(left[variable], right[variable])
    return found


def _merged(left: Relation, right: Relation, frame: DataFrame, certain: frozenset[Var]) -> Relation:
    names: dict[Var, str] = {}
    picked: list[Column] = []
    for variable, column in merged_columns(left, right).items():
        mine, other = left.names.get(variable), right.names.get(variable)
        names[variable] = mine if mine and (other is None or variable in left.certain) else new_name()
        picked.append(column.alias(names[variable]))
    span = left.span or right.span
    if left.span is not None and right.span is not None:
        span = new_name(), new_name()
        picked.append(f.greatest(left.span[0], right.span[0]).alias(span[0]))
        picked.append(f.least(left.span[1], right.span[1]).alias(span[1]))
    elif span is not None:
        picked += [f.col(name) for name in span]
    return Relation(frame.select(*picked), names, certain, None, span)


def join(left: Relation, right: Relation) -> Relation:
    """All compatible pairs of rows, merged."""
    right = right.beside(left)
    frame = left.frame.join(right.frame, _meeting(left, right), "inner")
    return _merged(left, right, frame, left.certain | right.certain)


def left_join(left: Relation, right: Relation, condition: Condition | None) -> Relation:
    """OPTIONAL, with a condition that Spark can test in the join."""
    right = right.beside(left)
    on = _meeting(left, right)
    if condition is not None:
        on = on & condition(merged_columns(left, right))
    return _merged(left, right, left.frame.join(right.frame, on, "left_outer"), left.certain)


def union(left: Relation, right: Relation) -> Relation:
    variables = [*left.names, *(variable for variable in right.names if variable not in left.names)]
    if left.span is not None or right.span is not None:
        left, right = _lasting(left), _lasting(right)
    first = replace(left, rank=None).projected(variables)
    second = replace(right, rank=None).projected(variables)
    return Relation(
        first.frame.union(second.frame), first.names, left.certain & right.certain, None, first.span
    )  # by position


def _lasting(relation: Relation) -> Relation:
    """The relation with a span; without one of its own, that is ALWAYS."""
    if relation.span is not None:
        return relation
    first, last = new_name(), new_name()
    lasting = relation.frame.withColumn(first, f.lit(ALWAYS[0])).withColumn(last, f.lit(ALWAYS[1]))
    return replace(relation, frame=lasting, span=(first, last))


def minus(left: Relation, right: Relation, shared: Iterable[Var], keys: Iterable[Var]) -> Relation:
    """The rows for which the right has no row of the same keys that is compatible and shares a bound variable."""
    shared, keys = tuple(shared), tuple(keys)
    right = right.projected(dict.fromkeys((*shared, *keys))).beside(left)
    on = [left[key] == right[key] for key in keys] + [_agree(left, right, variable) for variable in shared]
    if not any(variable in left.certain and variable in right.certain for variable in shared):
        both = [left[variable].isNotNull() & right[variable].isNotNull() for variable in shared]
        on.append(reduce(or_, both))
    return replace(left, frame=left.frame.join(right.frame, every(on), "left_anti"))


def kept(left: Relation, keys: Relation, how: str) -> Relation:
    """The rows whose cells are among the keys (`left_semi`), or are not (`left_anti`); unbound cells are equal."""
    keys = keys.beside(left)
    on = every(left[variable].eqNullSafe(keys[variable]) for variable in keys.names)
    return replace(left, frame=left.frame.join(keys.frame, on, how))


def marked(left: Relation, keys: Relation, variable: Var, yes: Column, no: Column) -> Relation:
    """The relation with a column that tells whether the cells of a row are among some distinct keys."""
    keys = keys.beside(left)
    flag, name = new_name(), new_name()
    on = every(left[each].eqNullSafe(keys[each]) for each in keys.names)
    found = left.frame.join(keys.frame.withColumn(flag, f.lit(True)), on, "left_outer")
    found = found.select(*left.frame.columns, f.when(f.col(flag), yes).otherwise(no).alias(name))
    return replace(left, frame=found, names={**left.names, variable: name}, certain=left.certain | {variable})
