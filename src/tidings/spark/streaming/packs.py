"""Packs: all that goes to one unit, or comes from it, in one binary cell.

What keyed state costs Spark, it costs for every row and every column of it (docs/decisions/0018).
"""

import pyarrow as pa

PACKED = "unit bigint, pack binary"
PACKED_ARROW = pa.schema([("unit", pa.int64()), ("pack", pa.binary())])
