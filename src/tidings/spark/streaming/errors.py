"""Errors of subscriptions on Spark; branches of the tree in `model/errors.py`.

TidingsError
├── BadRequest
│   └── DependsOnChance   depends_on_chance   400   a query with a different answer for each evaluation
└── StreamUnusable        stream_unusable     500   a folder is not that of a stream, or cannot be used
"""

from tidings.model.errors import BadRequest, TidingsError


class DependsOnChance(BadRequest):
    code = "depends_on_chance"

    def __init__(self) -> None:
        super().__init__("RAND, UUID and STRUUID give another answer each time, and a batch may be done twice")


class StreamUnusable(TidingsError):
    code = "stream_unusable"
