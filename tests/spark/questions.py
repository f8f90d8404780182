"""Questions to quads in a DataFrame, whose answers must be those that the engine gives on a store of the same quads."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from tidings.engine.store.store import Store
from tidings.engine.updates.executor import Core
from tidings.model.access import Graphs
from tidings.model.results import Row, Solutions
from tidings.model.terms import Quad
from tidings.spark.sparql.query import run
from tidings.sparql import algebra
from tidings.sparql.algebra import Node, every_expression, expressions, inputs

Question: TypeAlias = tuple[str, Sequence[Quad]]

BATCH = 12
"""Questions of one job: with more, Spark takes longer to plan it than it saves."""


def table(spark: SparkSession, quads: Iterable[Quad]) -> DataFrame:
    rows = list(quads)
    cells = [pa.array([quad[at] for quad in rows], pa.string()) for at in range(4)]
    return spark.createDataFrame(pa.table(cells, names=list("spog")))


def expected(text: str, quads: Sequence[Quad]) -> list[Row]:
    answer = Core(Store(quads)).query(text, now=0)
    assert isinstance(answer, Solutions)
    return list(answer.rows)


def answers(
    spark: SparkSession,
    questions: Sequence[Question],
    known: Mapping[int, DataFrame] = MappingProxyType({}),
    readable: Graphs = Graphs.ALL,
) -> list[Counter[Row]]:
    """Every answer as a multiset of rows, all of them from one job."""
    tables = {id(quads): table(spark, quads) for _, quads in questions if id(quads) not in known} | dict(known)
    found: list[Counter[Row]] = [Counter() for _ in questions]
    numbered: DataFrame | None = None
    for number, (text, quads) in enumerate(questions):
        _, frame = run(tables[id(quads)], text, now=0, readable=readable)
        cells = f.array(*[frame[f"`{name}`"] for name in frame.columns]).cast("array<string>")
        rows = frame.select(f.lit(number), cells)
        numbered = rows if numbered is None else numbered.union(rows)
    assert numbered is not None
    for number, row in numbered.collect():
        found[number][tuple(row)] += 1
    return found


def check(
    spark: SparkSession,
    questions: Sequence[Question],
    known: Mapping[int, DataFrame] = MappingProxyType({}),
    readable: Graphs = Graphs.ALL,
) -> int:
    """All answers are the engine's where there are just the readable graphs; how many rows they have."""
    rows = 0
    for start in range(0, len(questions), BATCH):
        rows += _checked(spark, questions[start : start + BATCH], known, readable)
    return rows


def seen(quads: Iterable[Quad], readable: Graphs) -> list[Quad]:
    return [quad for quad in quads if readable.has(quad[3])]


def _checked(
    spark: SparkSession, questions: Sequence[Question], known: Mapping[int, DataFrame], readable: Graphs
) -> int:
    rows = 0
    for (text, quads), found in zip(questions, answers(spark, questions, known, readable), strict=True):
        wanted = Counter(expected(text, seen(quads, readable)))
        assert found == wanted, f"{text}\n{quads}\n  too much: {found - wanted}\n  missing: {wanted - found}"
        rows += wanted.total()
    return rows


def parts(node: Node) -> Iterator[Node]:
    """A pattern and all below it, those inside EXISTS included."""
    yield node
    for inner in inputs(node):
        yield from parts(inner)
    for expression in expressions(node):
        for each in every_expression(algebra.Filter(expression, algebra.UNIT)):
            if isinstance(each, algebra.Exists):
                yield from parts(each.pattern)
