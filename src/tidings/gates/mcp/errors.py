"""What can be wrong with what an agent asks for; branches of the tree in `model/errors.py`.

NotFound
└── UnknownWatch      unknown_watch      404   there is no watch of this name
LimitExceeded
├── TooManyWatches    too_many_watches   429   the agent has as many watches as it may
└── AnswerTooLong     answer_too_long    413   rows: a watch keeps all rows that the agent has seen
"""

from typing import Any

from tidings.model.errors import LimitExceeded, NotFound


class UnknownWatch(NotFound):
    code = "unknown_watch"


class TooManyWatches(LimitExceeded):
    status = 429
    code = "too_many_watches"


class AnswerTooLong(LimitExceeded):
    status = 413
    code = "answer_too_long"

    def __init__(self, rows: int) -> None:
        super().__init__(f"the answer has more than {rows:,} rows, which are too many to watch; ask for less")
        self.rows = rows

    def data(self) -> dict[str, Any]:
        return {"rows": self.rows}
