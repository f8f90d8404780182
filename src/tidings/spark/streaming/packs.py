"""Packs: all rows to a unit, or from it, in one binary cell.

The cost of keyed state in Spark grows with the rows and the columns (docs/decisions/0018).
"""

import pyarrow as pa

PACKED = "unit bigint, pack binary"
PACKED_ARROW = pa.schema([("unit", pa.int64()), ("pack", pa.binary())])
