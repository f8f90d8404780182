"""What can go wrong with subscriptions on Spark; branches of the tree in `model/errors.py`.

TidingsError
├── BadRequest
│   └── DependsOnChance   depends_on_chance   400   a query whose answer is another each time it is asked
├── ContextTooLarge       context_too_large   507   more quads concern a subscription than one task can keep
└── StreamUnusable        stream_unusable     500   a folder that is no stream, or that cannot be used
"""

from tidings.model.errors import BadRequest, TidingsError


class DependsOnChance(BadRequest):
    code = "depends_on_chance"

    def __init__(self) -> None:
        super().__init__("RAND, UUID and STRUUID give another answer each time, and a batch may be done twice")


class ContextTooLarge(TidingsError):
    status = 507
    code = "context_too_large"

    def __init__(self, quads: int, most: int) -> None:
        super().__init__(f"{quads:,} quads concern it, and a task keeps {most:,} at most")


class StreamUnusable(TidingsError):
    code = "stream_unusable"
