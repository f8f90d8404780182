"""Finds the K cheapest assignments by a search for cheap exchanges of columns, starting from the cheapest assignment.

Two assignments differ by exchanges: cycles of rows, in which each row takes the column of the next, and chains, whose
last row takes a free column. With the dual prices of the cheapest assignment, no step has a negative cost. So the
search stops where the cost exceeds that of the K-th best assignment known so far. It also stops where no path to the
end of the exchange is cheap enough: Floyd-Warshall computes the costs of all cheapest paths between rows beforehand.

Each assignment is found once: the search adds exchanges in the order of their first rows, and a cycle begins at its
lowest row.
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
"""The most steps of a search, about 5 ms. A matrix of 10 × 10 takes 200 to 700, one of 64 × 64 random scores 3,000 to
8,000."""
_SAME = 1e-9
"""Costs that differ by less count as equal, because sums are rounded."""
_FINITE = 1e300


def cheapest(costs: Matrix, first: Columns, k: int, steps: int = STEPS) -> list[Assigned] | None:
    """The k > 1 cheapest assignments, or all if there are fewer, the cheapest first; `first` is the cheapest. None if
    the search takes too many steps."""
    paid = costs[np.arange(len(first)), first]
    search = _Search(_ways(costs - paid[:, None], first, k), first.tolist(), k, steps)
    search.begin(0, 0.0)
    if search.left < 0:
        return None
    total = float(paid.sum())
    ordered = sorted([(-cost, columns) for cost, _, columns in search.found])
    return [(columns, total + cost) for cost, columns in ordered]


class _Ways(NamedTuple):
    """The steps of a search, with their costs. The index after the last row stands for all free columns."""

    out: list[list[tuple[float, int]]]
    """For each row, the other columns that it may take, with their costs, the cheapest first."""
    owner: list[int]
    """For each column, the row that has it."""
    back: list[list[float]]
    """For each row that begins an exchange, the cost of the cheapest path from each index to the end."""
    limit: float
    """An upper bound for the cost of the K-th best assignment above that of the cheapest."""


def _ways(more: Matrix, first: Columns, k: int) -> _Ways:
    """The steps for a matrix of additional costs: those of each row for each column, above those of its own column."""
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
    back[:, -1] = -prices[:-1]  # at the end of a chain, the column where it began stays free
    return _Ways(_cheap(reduced, limit), owner.tolist(), back.tolist(), limit)


def _least(direct: Matrix, spare: Matrix) -> Matrix:
    """The costs of the cheapest paths between all rows, and to and from the free columns, by Floyd-Warshall. No cycle
    is negative, because the assignment is the cheapest. The cheapest path to a row is its dual price."""
    rows = len(direct)
    least = np.zeros((rows + 1, rows + 1))
    least[:-1, :-1] = direct
    least[:-1, -1] = spare.min(axis=1, initial=np.inf)
    least.flat[:: rows + 2] = np.inf
    for place in range(rows + 1):
        np.minimum(least, least[:, place, None] + least[place], out=least)
    return least


def _limit(direct: Matrix, spare: Matrix, k: int) -> float:
    """The K-th best assignment costs at most as much as the K-th best of the simplest ones, in which two rows swap
    their columns, or one row takes a free column."""
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
    """A depth-first search; `found` is a heap of the K best assignments, with the most expensive one on top."""

    __slots__ = ("_back", "_columns", "_k", "_limit", "_now", "_out", "_owner", "_taken", "found", "left")

    def __init__(self, ways: _Ways, columns: list[int], k: int, steps: int) -> None:
        self._out, self._owner, self._back, self._limit = ways
        self._columns, self._k = columns, k
        self._now = columns.copy()
        self._taken = [False] * len(ways.owner)
        self.left = steps
        self.found: list[tuple[float, int, tuple[int, ...]]] = [(0.0, 0, tuple(columns))]

    def begin(self, after: int, cost: float) -> None:
        """Add exchanges that begin at a row from `after` on. `cost`: that of the exchanges made so far."""
        columns, taken = self._columns, self._taken
        for row in range(after, len(columns)):
            if not taken[columns[row]] and cost + self._back[row][row] <= self._limit:
                taken[columns[row]] = True
                self._extend(row, row, cost, True)
                taken[columns[row]] = False

    def _extend(self, start: int, row: int, cost: float, closes: bool) -> None:
        """Extend an exchange by one more row; `closes`: it may end as a cycle."""
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
