"""Counts to an inverted index, in Spark's SQL: the formulas of `matching/esa/formulas.py` on tables.

    vocabulary   the terms that enough documents have, and not too many; idf = ln(n / df)
    weights      (1 + ln count) · idf, the terms of a document of length 1
    postings     of each term the `most` documents that weigh most, of length 1

A document's counts stay in one partition until the weights are made; then one shuffle brings those of a term together,
after most of what nobody needs is gone.
"""

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as f

BROADCAST = 1_000_000
"""Terms up to which every worker gets the whole vocabulary; a larger one is joined by shuffling."""
COLUMNS = ("id", "term", "df", "idf", "size", "pages", "weights")


def vocabulary(counts: DataFrame, documents: int, rarest: int, commonest: float, most: int) -> DataFrame:
    """term, df, idf: in the order of their bytes."""
    found = counts.select(f.explode("terms").alias("term", "count")).groupBy("term").agg(f.count("*").alias("df"))
    kept = found.where((f.col("df") >= rarest) & (f.col("df") <= max(1.0, commonest * documents)))
    kept = kept.orderBy(f.col("df").desc(), "term").limit(most)
    return kept.select("term", "df", f.log(f.lit(float(documents)) / f.col("df")).alias("idf"))


def postings(counts: DataFrame, words: DataFrame, known: int, most: int, least: float) -> DataFrame:
    """A row for each term; its pages ascend. `words` is the vocabulary with an id for each term."""
    ids = words.select("term", "id", "idf")
    if known <= BROADCAST:
        ids = f.broadcast(ids)
    flat = counts.repartition("page").select("page", f.explode("terms").alias("term", "count"))
    weighed = (
        flat.join(ids, "term")
        .select("page", "id", ((1.0 + f.log(f.col("count").cast("double"))) * f.col("idf")).alias("weight"))
        .where("weight > 0")
    )
    entries = f.collect_list(f.struct("id", "weight")).alias("entries")
    lengths = weighed.groupBy("page").agg(f.sqrt(f.sum(f.col("weight") * f.col("weight"))).alias("length"), entries)
    normal = lengths.select("page", "length", f.explode("entries").alias("entry"))
    entry = normal.select(
        f.col("entry.id").alias("id"), "page", (f.col("entry.weight") / f.col("length")).cast("float").alias("weight")
    )
    vectors = _vectors(_pruned(entry, most, least))
    return vectors.join(f.broadcast(words) if known <= BROADCAST else words, "id").select(*COLUMNS)


def _pruned(entries: DataFrame, most: int, least: float) -> DataFrame:
    """Of documents that weigh the same, the first ones: an index is the same however it is built."""
    by_weight = Window.partitionBy("id").orderBy(f.col("weight").desc(), "page")
    ranked = entries.withColumn("rank", f.row_number().over(by_weight)).where(f.col("rank") <= most)
    if least <= 0:
        return ranked
    greatest = f.first("weight").over(by_weight)
    return ranked.withColumn("greatest", greatest).where(f.col("weight") >= least * f.col("greatest"))


def _vectors(entries: DataFrame) -> DataFrame:
    found = entries.groupBy("id").agg(
        f.sort_array(f.collect_list(f.struct("page", "weight"))).alias("entries"),
        f.sqrt(f.sum(f.col("weight").cast("double") * f.col("weight"))).alias("length"),
    )
    return found.select(
        "id",
        f.size("entries").alias("size"),
        f.col("entries.page").alias("pages"),
        f.transform(f.col("entries.weight"), lambda weight: (weight / f.col("length")).cast("float")).alias("weights"),
    )
