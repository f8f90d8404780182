"""SPARQL over history: compiles a query to a Spark job over the quads after one commit, or between two instants.

The answer is the engine's, as a multiset and in its order. A construct that cannot be compiled is refused by name. With
`readable` graphs, the answer is as if no others existed.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from time import time_ns
from typing import cast

import pyarrow as pa
from msgspec import Struct
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from tidings.model.access import Graphs
from tidings.model.errors import BadRequest
from tidings.model.terms import Term, Var, fold, is_tagged
from tidings.spark.lake.visible import visible
from tidings.spark.session import translated
from tidings.spark.sparql.compilable import INTERVAL, read_lasting, read_query, read_select
from tidings.spark.sparql.errors import NotCompilable
from tidings.spark.sparql.intervals import (
    MOST_POINTS,
    SPAN,
    clipped,
    coalesced,
    is_monotone,
    lifetimes,
    touches,
    unordered,
)
from tidings.spark.sparql.nodes import Compiler, rewritten, sort_columns
from tidings.spark.sparql.relations import Relation, new_name
from tidings.spark.sparql.scans import Scope, Source, one_row, same_term
from tidings.sparql.algebra import (
    Aggregate,
    Ask,
    Dataset,
    Node,
    Select,
    Values,
    every_expression,
    inputs,
)

_AT = "?:at"


def run(
    quads: DataFrame,
    text: str,
    base: str | None = None,
    *,
    now: int | None = None,
    readable: Graphs = Graphs.ALL,
    dataset: Dataset | None = None,
) -> tuple[tuple[str, ...], DataFrame]:
    """The answer to a SELECT over quads (columns s, p, o, g): its variables, and a DataFrame of terms, null if unbound.

    `now` is what NOW() gives, in microseconds since 1970; a `dataset` replaces FROM and FROM NAMED. Raises
    SparqlSyntaxError, NotCompilable.
    """
    query = read_select(text, base, dataset)
    with _compiling():
        relation = _relation(query, visible(quads, readable), now)
    order = [] if relation.rank is None else sort_columns(relation)
    frame = relation.frame.orderBy(*order) if order else relation.frame
    return _shown(query), frame.select(*[relation[each].alias(each[1:]) for each in query.variables])


def ask(
    quads: DataFrame,
    text: str,
    base: str | None = None,
    *,
    now: int | None = None,
    readable: Graphs = Graphs.ALL,
    dataset: Dataset | None = None,
) -> bool:
    """The answer to an ASK. Raises SparqlSyntaxError, NotCompilable, SparkFailed."""
    query = read_query(text, base, dataset)
    if not isinstance(query, Ask):
        raise BadRequest("this query is no ASK")
    with _compiling():
        return not _relation(query, visible(quads, readable), now).frame.isEmpty()


def between(
    history: DataFrame, text: str, t1: int, t2: int, base: str | None = None, *, readable: Graphs = Graphs.ALL
) -> tuple[tuple[str, ...], DataFrame]:
    """The rows of a SELECT between two instants, in microseconds since 1970, with the intervals for which they held.

    `history` has all changes since the first commit (seq, time, op, s, p, o, g). The answer has a row once for each
    interval [valid_from, valid_to) for which it held without a break, regardless of its multiplicity; intervals are
    clipped to the requested time. Raises SparqlSyntaxError, NotCompilable (also for too many commits), SparkFailed.
    """
    if t1 >= t2:
        raise BadRequest("the first instant must be before the second")
    query = read_lasting(text, base)
    history = visible(history, readable)
    with _compiling():
        first, last = _commits(history, t1, t2)
        rows = _spans(query, history, first, last)
    return _shown(query), _timed(rows, history, (first, t1), (last, t2), list(_shown(query)))


# -- one state --------------------------------------------------------------------------------------------------


def _shown(query: Select) -> tuple[str, ...]:
    return tuple(variable[1:] for variable in query.variables)


@contextmanager
def _compiling() -> Iterator[None]:
    try:
        with translated():
            yield
    except RecursionError:
        raise BadRequest("the pattern is nested too deeply to be evaluated") from None


def _relation(query: Select | Ask, quads: DataFrame, now: int | None) -> Relation:
    source = Source(quads, query.dataset, {})
    unit = one_row(quads)
    pattern = rewritten(_spelled(query.pattern, quads))
    instant = time_ns() // 1_000 if now is None else now
    return Compiler(instant).relation(pattern, Scope(source, unit, unit))


def _spelled(pattern: Node, quads: DataFrame) -> Node:
    """A pattern with its language-tagged constants spelled as in the quads, or else as at their first occurrence.

    Triple patterns match any spelling; this is for the constants of VALUES, BIND and comparisons. It takes a job, but
    only if there are such constants.
    """
    written = {fold(term): term for term in reversed(list(_tagged(pattern)))}
    if not written:
        return pattern
    any_of = f.lit(False)
    for term in written.values():
        any_of = any_of | same_term(f.col("o"), term)
    found = quads.where(any_of).select("o").distinct().collect()
    spellings = written | {fold(row[0]): row[0] for row in found}
    return cast(Node, _mapped(pattern, lambda term: spellings.get(fold(term), term)))


def _tagged(node: Node) -> Iterator[Term]:
    if isinstance(node, Values):
        yield from (term for row in node.rows for term in row if term is not None and is_tagged(term))
    for expression in every_expression(node):
        if isinstance(expression, str) and is_tagged(expression):
            yield expression
    for inner in inputs(node):
        yield from _tagged(inner)


def _mapped(value: object, change: Callable[[Term], Term]) -> object:
    """A structure with every language-tagged literal in it replaced by `change`."""
    if isinstance(value, str):
        return change(value) if value[:1] == '"' and is_tagged(value) else value
    if isinstance(value, tuple):
        return tuple([_mapped(each, change) for each in value])
    if isinstance(value, Aggregate):
        return value  # its separator is not a term, and its argument already has the spelling of its values
    if isinstance(value, Struct):
        return type(value)(*[_mapped(getattr(value, name), change) for name in value.__struct_fields__])
    return value


# -- many states ------------------------------------------------------------------------------------------------


def _commits(history: DataFrame, t1: int, t2: int) -> tuple[int, int]:
    """The last commit up to the first instant, and the last one before the second instant; 0 if there is none."""
    micros = f.unix_micros("time")
    last_of = [f.max(f.when(micros <= t1, f.col("seq"))), f.max(f.when(micros < t2, f.col("seq")))]
    first, last = history.select(*last_of).collect()[0]
    return first or 0, last or 0


def _spans(query: Select, history: DataFrame, first: int, last: int) -> DataFrame:
    """The rows of a query, with the commits between which they held."""
    alive = clipped(lifetimes(history.where(f.col("seq") <= last)), first, last)
    pattern = unordered(query.pattern)
    if is_monotone(pattern):
        unit = one_row(history)
        scope = Scope(Source(alive, query.dataset, {}, SPAN), unit, unit)
        relation = Compiler(0).relation(rewritten(pattern), scope)
        since, until = (f.lit(first), f.lit(last + 1)) if relation.span is None else map(f.col, relation.span)
        spans = [since.alias(SPAN[0]), until.alias(SPAN[1])]
        return relation.frame.select(*_terms(relation, query.variables), *spans)
    points = _points(pattern, history, first, last)
    return _at_points(query, pattern, alive, points)


def _terms(relation: Relation, variables: tuple[Var, ...]) -> list[Column]:
    return [relation[variable].alias(variable[1:]) for variable in variables]


def _points(pattern: Node, history: DataFrame, first: int, last: int) -> DataFrame:
    """The commits at which the answer may change, each with the next one. The first is that of the initial state."""
    within = (f.col("seq") > first) & (f.col("seq") <= last)
    found = history.where(within & touches(pattern)).select("seq").distinct().limit(MOST_POINTS + 1).collect()
    if len(found) > MOST_POINTS:
        raise NotCompilable(
            f"OPTIONAL, MINUS, EXISTS, a group or LIMIT at more than {MOST_POINTS:,} commits that make a difference"
        )
    starts = [first, *sorted(row[0] for row in found)]
    ends = [*starts[1:], last + 1]
    table = pa.table([pa.array(starts, pa.int64()), pa.array(ends, pa.int64())], names=list(SPAN))
    return history.sparkSession.createDataFrame(table)


def _at_points(query: Select, pattern: Node, alive: DataFrame, points: DataFrame) -> DataFrame:
    at, until = new_name(), new_name()
    moments = points.select(f.col(SPAN[0]).alias(at), f.col(SPAN[1]).alias(until))
    there = (f.col(SPAN[0]) <= f.col(at)) & (f.col(at) < f.col(SPAN[1]))
    quads = alive.join(f.broadcast(moments.select(at)), there).select("s", "p", "o", "g", at)
    key = new_name()
    unit = Relation(moments.select(f.col(at).alias(key)), {_AT: key}, frozenset((_AT,)))
    scope = Scope(Source(quads, query.dataset, {_AT: at}), unit, unit)
    relation = Compiler(0).relation(rewritten(pattern), scope)
    found = replace(relation, rank=None).projected((_AT, *query.variables)).distinct()
    spans = moments.select(f.col(at).alias(SPAN[0]), f.col(until).alias(SPAN[1]))
    joined = found.frame.join(f.broadcast(spans), found[_AT] == f.col(SPAN[0]))
    return joined.select(*_terms(found, query.variables), *SPAN)


def _timed(
    rows: DataFrame, history: DataFrame, start: tuple[int, int], end: tuple[int, int], names: list[str]
) -> DataFrame:
    """Intervals of commits as intervals of time, clipped to the requested time."""
    commits = history.select(f.col("seq"), f.col("time")).distinct()
    begins = commits.select(f.col("seq").alias("begin"), f.col("time").alias("began"))
    ends = commits.select(f.col("seq").alias("end"), f.col("time").alias("ended"))
    since, until = (f.col(name).cast("long") for name in SPAN)  # for a query that reads no quads, they are literal ints
    (first, t1), (last, t2) = start, end
    found = (
        coalesced(rows, names)
        .join(begins, (since == f.col("begin")) & (since > first), "left_outer")
        .join(ends, (until == f.col("end")) & (until <= last), "left_outer")
    )
    values = (
        f.coalesce("began", f.timestamp_micros(f.lit(t1))),
        f.coalesce("ended", f.timestamp_micros(f.lit(t2))),
        since,
        f.when(until <= last, until),
    )
    shown = [value.alias(name) for value, name in zip(values, INTERVAL, strict=True)]
    return found.select(*[f.col(name) for name in names], *shown)
