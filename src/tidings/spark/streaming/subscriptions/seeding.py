"""Finds the seeds of new subscriptions: the quads of the graph after their commit that their LUTT entries select."""

from collections.abc import Callable, Iterable, Iterator

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from tidings.spark.lake import travel
from tidings.spark.lake.lake import Found, Lake
from tidings.spark.lake.manifest import File
from tidings.spark.log_source.data_source import FORMAT, TidingsLog
from tidings.spark.log_source.origin import absolute
from tidings.spark.session import translated
from tidings.spark.streaming.router import Router
from tidings.spark.streaming.subscriptions.registry import Begin, Registry

SEEDS = "unit bigint, s string, p string, o string, g string"
_ARROW = pa.schema([("unit", pa.int64()), *((name, pa.string()) for name in "spog")])


def graph_at(spark: SparkSession, log: str, lake: Lake | None, commit: int) -> DataFrame:
    """The quads after a commit: from the lake as far as it reaches, and then from the log."""
    spark.dataSource.register(TidingsLog)
    reached = min(commit, lake.end().commit) if lake is not None else 0
    past = travel.quads(spark, lake, reached) if lake is not None and reached else None
    if past is not None and reached == commit:
        return past
    changes = spark.read.format(FORMAT).option("after", reached).option("last", commit).load(absolute(log))
    return travel.folded(changes, past, reached)


def write_seeds(graph: DataFrame, registry: Registry, begun: list[Begin]) -> tuple[File, ...]:
    """Write the quads that concern each unit to files of the registry's next version."""
    folder = registry.fresh_seeds()
    with translated():
        graph.mapInArrow(_selecting(begun), SEEDS).write.parquet(str(folder.absolute()))
    return Found(registry.path, folder).files


def _selecting(begun: list[Begin]) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def select(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        router = Router()
        for begin in begun:
            router.enter(begin.unit, begin.member)
        for batch in batches:
            quads = zip(*(column.to_pylist() for column in batch.columns), strict=True)
            found = router.find([(quad, 1) for quad in quads])
            rows = [(unit, *quad) for unit, items in found.items() for quad, _ in items]
            columns = list(zip(*rows, strict=True)) if rows else [()] * len(_ARROW)
            arrays = [pa.array(column, field.type) for column, field in zip(columns, _ARROW, strict=True)]
            yield pa.RecordBatch.from_arrays(arrays, schema=_ARROW)

    return select
