"""The intervals for which rows held, from the lifetimes of quads.

    a quad holds from the commit that added it to the one that removed it
    a row of a join holds in the intersection of the spans of its two rows
    a row holds in the union of the spans of all its derivations, as the fewest intervals

This applies to the monotone fragment, in which more quads never mean fewer rows. Any other query is evaluated at every
commit that touches its patterns, in one job, with the commit as a key (see `scans`). This multiplies its quads by the
number of these commits, so there may be at most `MOST_POINTS`.
"""

from functools import reduce
from operator import or_

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as f

from tidings.spark.sparql.expressions import has_exists
from tidings.spark.sparql.relations import ALWAYS, every
from tidings.spark.sparql.scans import same_term
from tidings.sparql.algebra import (
    BGP,
    Distinct,
    Exists,
    Extend,
    Filter,
    Graph,
    Join,
    Negated,
    Node,
    OrderBy,
    PathPattern,
    Project,
    TriplePattern,
    Union,
    Values,
    every_expression,
    expressions,
    inputs,
)
from tidings.sparql.evaluate.pushing import needs_triples

MOST_POINTS = 1_000
"""The most commits at which a query that is not monotone is evaluated."""

SPAN = ("since", "until")
_QUAD = ("s", "p", "o", "g")


def lifetimes(history: DataFrame) -> DataFrame:
    """Quads with the commit that added them and the one that removed them, once for each time that they existed."""
    by_quad = Window.partitionBy(*_QUAD).orderBy("seq")
    turns = history.select(*_QUAD, "seq", "op", f.lag("op").over(by_quad).alias("before"))
    turns = turns.where(f.col("before").isNull() | (f.col("before") != f.col("op")))
    ends = turns.withColumn(SPAN[1], f.coalesce(f.lead("seq").over(by_quad), f.lit(ALWAYS[1])))
    return ends.where(f.col("op") == "add").select(*_QUAD, f.col("seq").alias(SPAN[0]), SPAN[1])


def clipped(quads: DataFrame, first: int, last: int) -> DataFrame:
    """Lifetimes from the state after one commit to the state after another."""
    inside = quads.where((f.col(SPAN[0]) <= last) & (f.col(SPAN[1]) > first))
    since, until = f.greatest(f.col(SPAN[0]), f.lit(first)), f.least(f.col(SPAN[1]), f.lit(last + 1))
    return inside.select(*_QUAD, since.alias(SPAN[0]), until.alias(SPAN[1]))


def coalesced(rows: DataFrame, names: list[str]) -> DataFrame:
    """The rows with the fewest intervals that cover their spans."""
    since, until = SPAN
    by_row = Window.partitionBy(*names).orderBy(since, until)
    reached = f.max(until).over(by_row.rowsBetween(Window.unboundedPreceding, -1))
    starts = (reached.isNull() | (f.col(since) > reached)).cast("long")
    islands = rows.withColumn("start", starts).withColumn("island", f.sum("start").over(by_row))
    whole = islands.groupBy(*names, "island").agg(f.min(since).alias(since), f.max(until).alias(until))
    return whole.drop("island")


def is_monotone(node: Node) -> bool:
    """Whether more quads never mean fewer rows, so that a row holds while the rows and quads that it is made of do."""
    match node:
        case BGP() | Values():
            return True
        case PathPattern(_, path, _):
            return isinstance(path, Negated)
        case Join() | Union() | Extend() | Filter() | Graph() | Project() | Distinct() | OrderBy():
            return not any(map(has_exists, expressions(node))) and all(map(is_monotone, inputs(node)))
        case _:
            return False


def unordered(node: Node) -> Node:
    """A pattern without ORDER BY, because intervals have no order of rows."""
    match node:
        case OrderBy(inner):
            return unordered(inner)
        case Project(inner, variables):
            return Project(unordered(inner), variables)
        case Distinct(inner):
            return type(node)(unordered(inner))
        case _:
            return node


def touches(node: Node) -> Column:
    """Whether a change may affect the answer of a pattern."""
    patterns = _patterns(node)
    if patterns is None:
        return f.lit(True)
    return reduce(or_, map(_matches, patterns), f.lit(False))


def _matches(pattern: TriplePattern) -> Column:
    return every(same_term(f.col(place), term) for place, term in zip("spo", pattern, strict=True) if term[0] != "?")


def _patterns(node: Node) -> list[TriplePattern] | None:
    """All triple patterns; None if the existence of a graph may matter, because then any quad does."""
    below = [*inputs(node), *(each.pattern for each in every_expression(node) if isinstance(each, Exists))]
    found: list[TriplePattern] = []
    match node:
        case BGP(patterns):
            found.extend(patterns)
        case PathPattern(subject, _, object_):
            found += [(subject, "?:verb", object_), (object_, "?:verb", subject)]
        case Graph(_, inner) if not needs_triples(inner):
            return None
    for inner in below:
        more = _patterns(inner)
        if more is None:
            return None
        found += more
    return found
