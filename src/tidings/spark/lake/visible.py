"""What one may see of a lake who may read some graphs only: the quads of these, as if there were no others.

It is a selection, before anything is planned: whatever is made of a frame is made of what may be seen. It binds whoever
asks through it, and nobody else: the files of a lake can be read by everybody who can open them.
"""

from functools import reduce
from operator import or_

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from tidings.model.access import Graphs


def visible(frame: DataFrame, readable: Graphs) -> DataFrame:
    """The rows of quads or changes (column g) in some graphs."""
    if readable.everything:
        return frame
    graph = f.col("g")
    conditions = [graph.startswith(f"<{prefix}") for prefix in readable.prefixes]
    if readable.names:
        conditions.append(graph.isin(*sorted(readable.names)))
    return frame.where(reduce(or_, conditions, f.lit(False)))
