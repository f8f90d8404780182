"""GROUP BY and the aggregates: Spark gathers the values of a group, and the engine's accumulators aggregate them.

COUNT is Spark's own. MIN, MAX and SAMPLE need each value only once, as DISTINCT does. For SUM, AVG and GROUP_CONCAT,
all values of a group have to fit into the memory of a worker.
"""

from collections.abc import Collection, Sequence

import pyarrow as pa
from pyspark.sql import Column
from pyspark.sql import functions as f

from tidings.model.terms import XSD, Term, Var
from tidings.spark.sparql.expressions import vectorised
from tidings.spark.sparql.relations import Relation, every, new_name
from tidings.sparql.algebra import Aggregate, Group
from tidings.sparql.evaluate.aggregates import accumulator

_ERROR = ""
"""Stands for an error among the gathered values, because Spark would leave out a null. It is not a term."""

_ONCE = frozenset({"MIN", "MAX", "SAMPLE"})


def grouped(
    inner: Relation, whole: Collection[Var], node: Group, arguments: Sequence[Column | None], unit: Relation
) -> Relation:
    """A row for each group; without variables to group by, a row for each key of the scope.

    `whole` are the variables of a solution.
    """
    keys = [*unit.names, *(variable for variable in node.keys if variable not in unit.names)]
    table = inner.projected([*inner.names, *keys])
    gathered = {
        new_name(): _gathered(aggregate, argument, [inner[variable] for variable in whole])
        for (_, aggregate), argument in zip(node.aggregates, arguments, strict=True)
    }
    counted = {new_name(): f.count(f.lit(1)), **gathered}  # so that there is at least one aggregate
    made = table.frame.groupBy(*[table.names[key] for key in keys])
    frame = made.agg(*[column.alias(name) for name, column in counted.items()])
    result = Relation(frame, {key: table.names[key] for key in keys}, inner.certain.intersection(keys))
    if unit.names and not node.keys:
        result = _filled(result, unit, list(gathered))
    for (variable, aggregate), name in zip(node.aggregates, gathered, strict=True):
        result = result.extended(variable, _finished(aggregate, f.col(name)), certain=aggregate.function == "COUNT")
    return result


def _filled(result: Relation, unit: Relation, gathered: list[str]) -> Relation:
    """A group for every key, even if it is empty."""
    whole = unit.renamed()
    on = every(whole[key] == result[key] for key in whole.names)
    frame = whole.frame.join(result.frame, on, "left_outer")
    picked = [whole[key].alias(result.names[key]) for key in whole.names]
    return Relation(frame.select(*picked, *gathered), result.names, frozenset(whole.names))


def _gathered(aggregate: Aggregate, argument: Column | None, whole: list[Column]) -> Column:
    if aggregate.function == "COUNT":
        value = f.lit(1) if argument is None else argument
        if argument is None and aggregate.distinct:
            value = f.struct(f.lit(1), *whole)
        return f.count_distinct(value) if aggregate.distinct else f.count(value)
    value = f.coalesce(argument, f.lit(_ERROR)) if argument is not None else f.lit(_ERROR)
    return f.collect_set(value) if aggregate.distinct or aggregate.function in _ONCE else f.collect_list(value)


def _finished(aggregate: Aggregate, gathered: Column) -> Column:
    if aggregate.function == "COUNT":
        number = f.coalesce(gathered, f.lit(0)).cast("string")
        return f.concat(f.lit('"'), number, f.lit(f'"^^<{XSD}integer>'))

    def evaluate(column: pa.Array) -> pa.Array:
        return pa.array([_result(aggregate, values) for values in column.to_pylist()], pa.string())

    return vectorised(evaluate, "string")(gathered)


def _result(aggregate: Aggregate, values: list[Term] | None) -> Term | None:
    found = accumulator(aggregate)
    for value in values or ():
        found.add(value or None)
    return found.result()
