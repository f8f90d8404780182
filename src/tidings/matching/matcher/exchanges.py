"""The K cheapest assignments by a search for exchanges of columns that cost little more than the cheapest one.

Two assignments differ by exchanges: cycles of rows, each of which takes the column of the next, and chains, the last
row of which takes a free column. With the dual prices of the cheapest assignment no step costs less than 0, so the
search goes no further where it costs more than the K-th best that is known. Nor does it go where there is no cheap
enough way to the end: the least costs of all ways between rows are found beforehand (Floyd and Warshall).

Each assignment is found once: exchanges come in the order of their first rows, which is the least one of a cycle.
"""

from functools import lru_cache
from heapq import heappush, heapreplace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Matrix: TypeAlias = NDArray[np.floating[Any]]
Columns: TypeAlias = NDArray[np.intp]
Assigned: TypeAlias = tuple[tuple[int, ...], float]

STEPS = 20_000
"""Of a search: some 5 ms. Ten rows and columns take some 200 to 700, 64 of random scores 3,000 to 8,000."""
_SAME = 1e-9
"""Costs that differ by less are the same: sums are rounded."""
_FINITE = 1e300


def cheapest(costs: Matrix, first: Columns, k: int, steps: int = STEPS) -> list[Assigned] | None:
    """Up to k > 1 assignments, the cheapest first; `first` is the cheapest. None if that takes too many steps."""
    paid = costs[np.arange(len(first)), first]
    search = _Search(_ways(costs - paid[:, None], first, k), first.tolist(), k, steps)
    search.begin(0, 0.0)
    if search.left < 0:
        return None
    total = float(paid.sum())
    ordered = sorted([(-cost, columns) for cost, _, columns in search.found])
    return [(columns, total + cost) for cost, columns in ordered]


class _Ways(NamedTuple):
    """What rows may take, and where that leads. The place after the last row stands for whoever has a free column."""

    out: list[list[tuple[float, int]]]
    """Of each row, the other columns that it might take, the cheapest first."""
    owner: list[int]
    """Of each column, the row that has it."""
    back: list[list[float]]
    """For each row that begins an exchange: what it takes, at least, to come from each place to the end."""
    limit: float
    """What the K-th best costs more than the cheapest, at most."""


def _ways(more: Matrix, first: Columns, k: int) -> _Ways:
    """`more`: what each row pays for each column, beyond what it pays now."""
    rows, columns = more.shape
    owner = np.full(columns, rows)
    owner[first] = np.arange(rows)
    direct, spare = more[:, first], more[:, owner == rows]
    limit = _limit(direct, spare, k)
    least = _least(direct, spare)
    prices = np.minimum(least.min(axis=0), 0)
    prices -= prices[-1]  # those of free columns are 0, and no other is more
    reduced = more + prices[:-1, None]
    reduced[:, first] -= prices[:-1]
    reduced[np.arange(rows), first] = np.inf
    back = (least + prices[:, None] - prices).T[:-1]
    back[:, -1] = -prices[:-1]  # the column where the exchange began is left to nobody
    return _Ways(_cheap(reduced, limit), owner.tolist(), back.tolist(), limit)


def _least(direct: Matrix, spare: Matrix) -> Matrix:
    """What the least way from each row to each costs, and from and to the place of all free columns: Floyd, Warshall.
    No cycle costs less than 0, as the assignment is the cheapest. The least way to a row is its dual price."""
    rows = len(direct)
    least = np.zeros((rows + 1, rows + 1))
    least[:-1, :-1] = direct
    least[:-1, -1] = spare.min(axis=1, initial=np.inf)
    least.flat[:: rows + 2] = np.inf
    for place in range(rows + 1):
        np.minimum(least, least[:, place, None] + least[place], out=least)
    return least


def _limit(direct: Matrix, spare: Matrix, k: int) -> float:
    """The K-th best is no dearer than the K-th of those in which two rows exchange, or one takes a free column."""
    changes = np.concatenate([(direct + direct.T)[_pairs(len(direct))], spare.ravel()])
    if len(changes) < k - 1:
        return _FINITE
    changes.partition(k - 2)
    return min(float(changes[k - 2]) + _SAME, _FINITE)


@lru_cache
def _pairs(rows: int) -> tuple[Columns, Columns]:
    above, right = np.triu_indices(rows, 1)
    return above, right


def _cheap(reduced: Matrix, limit: float) -> list[list[tuple[float, int]]]:
    rows, columns = np.nonzero(reduced <= limit)
    costs = reduced[rows, columns]
    order = np.lexsort((costs, rows))
    out: list[list[tuple[float, int]]] = [[] for _ in reduced]
    for row, cost, column in zip(rows[order].tolist(), costs[order].tolist(), columns[order].tolist(), strict=True):
        out[row].append((cost, column))
    return out


class _Search:
    """Depth first; `found` is a heap with the dearest of the K best on top."""

    __slots__ = ("_back", "_columns", "_k", "_limit", "_now", "_out", "_owner", "_taken", "found", "left")

    def __init__(self, ways: _Ways, columns: list[int], k: int, steps: int) -> None:
        self._out, self._owner, self._back, self._limit = ways
        self._columns, self._k = columns, k
        self._now = columns.copy()
        self._taken = [False] * len(ways.owner)
        self.left = steps
        self.found: list[tuple[float, int, tuple[int, ...]]] = [(0.0, 0, tuple(columns))]

    def begin(self, after: int, cost: float) -> None:
        """Exchanges that begin at a row from `after` on, beside those that cost so much already."""
        columns, taken = self._columns, self._taken
        for row in range(after, len(columns)):
            if not taken[columns[row]] and cost + self._back[row][row] <= self._limit:
                taken[columns[row]] = True
                self._extend(row, row, cost, True)
                taken[columns[row]] = False

    def _extend(self, start: int, row: int, cost: float, closes: bool) -> None:
        """By one more row; `closes`: the exchange may end as a cycle."""
        columns, taken, owner, now = self._columns, self._taken, self._owner, self._now
        back, free = self._back[start], len(columns)
        mine = columns[row]
        for more, column in self._out[row]:
            reached = cost + more
            if reached > self._limit or self.left < 0:
                break
            self.left -= 1
            other = owner[column]
            if other == start:
                if closes:
                    now[row] = column
                    self._end(start, reached)
            elif not taken[column] and reached + back[other] <= self._limit:
                taken[column] = True
                now[row] = column
                if other == free:
                    self._end(start, reached + back[free])
                else:
                    self._extend(start, other, reached, closes and other > start)
                taken[column] = False
        now[row] = mine

    def _end(self, start: int, cost: float) -> None:
        entry = (-cost, self.left, tuple(self._now))
        if len(self.found) < self._k:
            heappush(self.found, entry)
        else:
            heapreplace(self.found, entry)
        if len(self.found) == self._k:
            self._limit = min(self._limit, -self.found[0][0] - _SAME)
        self.begin(start + 1, cost)
