"""Restricts a lake to the graphs that a client may read, as if no others existed.

It selects the quads before a query is planned, so the whole answer depends on readable quads only. This protects only
queries that go through it: anyone who can open the files of a lake can read all of it.
"""

from functools import reduce
from operator import or_

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from tidings.model.access import Graphs


def visible(frame: DataFrame, readable: Graphs) -> DataFrame:
    """The rows of quads or changes whose graph (column g) is readable."""
    if readable.everything:
        return frame
    graph = f.col("g")
    conditions = [graph.startswith(f"<{prefix}") for prefix in readable.prefixes]
    if readable.names:
        conditions.append(graph.isin(*sorted(readable.names)))
    return frame.where(reduce(or_, conditions, f.lit(False)))
