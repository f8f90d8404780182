"""What was found of late is not looked for again, and never takes more than its share of memory."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tidings.matching.matcher.recent import Recent


class Finding:
    def __init__(self) -> None:
        self.asked: list[int] = []

    def __call__(self, asked: Sequence[int]) -> NDArray[np.float32]:
        self.asked += asked
        return np.array([[each, each + 1] for each in asked], np.float32)


def test_each_is_looked_for_once() -> None:
    recent: Recent[int] = Recent(10_000, 2)
    find = Finding()
    found = [recent.of([3, 4, 3], find), recent.of([4, 5], find), recent.of([], find)]
    assert [[row.tolist() for row in each] for each in found] == [[[3, 4], [4, 5], [3, 4]], [[4, 5], [5, 6]], []]
    assert find.asked == [3, 4, 5]


def test_what_is_full_is_emptied_and_answers_all_the_same() -> None:
    recent: Recent[int] = Recent(100 * 2 * 4, 2)  # a hundred rows
    find = Finding()
    for start in range(0, 1_000, 70):
        asked = [*range(start, start + 70), start]
        assert [row[0] for row in recent.of(asked, find)] == asked
        assert len(recent) <= 100
    assert [row[0] for row in recent.of(range(500), find)] == list(range(500))
    assert len(recent) <= 100
