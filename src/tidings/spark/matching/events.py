"""Events as rows with a JSON document: of JSON lines, of the rows of Parquet files, whose columns are attributes, or of
the subjects of a history lake.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pyarrow as pa
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from tidings.matching.language.descriptions import LABEL, described
from tidings.model.terms import lexical_form
from tidings.spark.errors import SparkFailed
from tidings.spark.lake import travel
from tidings.spark.lake.lake import Lake

_EVENT = pa.schema([("event", pa.string())])


def from_lines(spark: SparkSession, path: str) -> DataFrame:
    """Raises SparkFailed."""
    return _events(_read(lambda: spark.read.text(path), path))


def following_lines(spark: SparkSession, folder: str, files: int) -> DataFrame:
    """Those of files that come into a folder, so many at a time. A file has to be whole when it comes."""
    return _events(spark.readStream.option("maxFilesPerTrigger", files).text(folder))


def from_parquet(spark: SparkSession, path: str) -> DataFrame:
    """Raises SparkFailed."""
    frame = _read(lambda: spark.read.parquet(path), path)
    return frame.select(f.to_json(f.struct(*(f"`{name}`" for name in frame.columns))).alias("event"))


def from_lake(spark: SparkSession, folder: Path, commit: int | None = None) -> DataFrame:
    """An event for each subject of the graph after a commit, or the last."""
    lake = Lake(folder)
    quads = travel.quads(spark, lake, lake.end().commit if commit is None else commit)
    labels = quads.where(f.col("p") == LABEL).groupBy("s").agg(f.min("o").alias("label"))
    facts = quads.where(f.col("p") != LABEL).select("s", "p", "o").distinct()
    named = facts.join(labels.toDF("p", "p_label"), "p", "left").join(labels.toDF("o", "o_label"), "o", "left")
    fact = f.struct("p", "p_label", "o", "o_label")
    return named.groupBy("s").agg(f.collect_list(fact).alias("facts")).mapInArrow(_described, "event string")


def _described(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        documents = [
            described(
                subject, [(each["p"], _text(each["p_label"]), each["o"], _text(each["o_label"])) for each in facts]
            )
            for subject, facts in zip(*(column.to_pylist() for column in batch.columns), strict=True)
        ]
        texts = [msgspec.json.encode(document).decode() for document in documents]
        yield pa.RecordBatch.from_arrays([pa.array(texts, pa.string())], schema=_EVENT)


def _text(label: str | None) -> str | None:
    return None if label is None else lexical_form(label)


def _events(lines: DataFrame) -> DataFrame:
    return lines.where(f.trim("value") != "").select(f.col("value").alias("event"))


def _read(read: Callable[[], DataFrame], path: str) -> DataFrame:
    try:
        return read()
    except AnalysisException as error:
        raise SparkFailed(f"{path} cannot be read: {str(error).splitlines()[0][:200]}") from error
