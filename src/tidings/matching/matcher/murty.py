"""Yields all assignments, the cheapest first, by Murty's algorithm, with bounded time for each.

After each solution, the algorithm divides the remaining assignments into a part for each row: the rows before keep
their columns, and this row must take another one. The best assignment of a part costs more by the cheapest alternating
cycle through its row. One pass of Floyd-Warshall over the rows finds all of these cycles.
"""

from collections.abc import Iterator
from heapq import heapify, heappop, heappush
from itertools import count
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from tidings.matching.matcher.exchanges import Assigned, Columns, Matrix


class _Part(NamedTuple):
    """The assignments in which the first `fixed` rows keep the columns of `before`, and the next one does not."""

    cost: float
    tie: int
    costs: Matrix
    fixed: int
    before: Columns


def ranked(costs: Matrix, first: Columns) -> Iterator[Assigned]:
    """All assignments of finite cost, in the order of their costs; `first` is the cheapest."""
    ties = count()
    total = float(costs[np.arange(len(first)), first].sum())
    yield tuple(first.tolist()), total
    parts = [_Part(total + more, next(ties), costs, row, first) for row, more in _detours(costs, first, 0)]
    heapify(parts)
    while parts:
        cost, _, wider, fixed, before = heappop(parts)
        allowed = wider.copy()
        allowed[fixed, before[fixed]] = np.inf
        columns = _solved_rest(allowed, fixed, before)
        yield tuple(columns.tolist()), cost
        for row, more in _detours(allowed, columns, fixed):
            heappush(parts, _Part(cost + more, next(ties), allowed, row, columns))


def _solved_rest(allowed: Matrix, fixed: int, before: Columns) -> Columns:
    """The best assignment in which the first rows keep their columns. There is always one."""
    rest = allowed[fixed:]
    if fixed:
        rest[:, before[:fixed]] = np.inf  # in place: the parts of this part keep these rows fixed, too
    columns = before.copy()
    columns[fixed:] = linear_sum_assignment(rest)[1]
    return columns


def _detours(allowed: Matrix, columns: Columns, fixed: int) -> list[tuple[int, float]]:
    """For each row from `fixed` on, the additional cost if it leaves its column, and the rows before it keep theirs.

    In the graph of rows, the edge r -> s costs what r pays more to take the column of s, or a free column. A cycle is
    an exchange; no cycle is negative, because the assignment is optimal. The rows are eliminated from the last to the
    first; the distances of the others then include the paths through them."""
    rest, mine = allowed[fixed:], columns[fixed:]
    distance = rest[:, mine]
    paid = distance.diagonal().copy()
    distance -= paid[:, None]
    distance.flat[:: len(mine) + 1] = np.inf
    if allowed.shape[1] > len(columns):
        untaken = rest.copy()
        untaken[:, columns] = np.inf
        # A row may take the cheapest free column, and its own column is then free for any other row.
        np.minimum(distance, (untaken.min(axis=1) - paid)[:, None], out=distance)
    found: list[tuple[int, float]] = []
    for row in range(len(mine) - 1, -1, -1):
        cycle = distance.item(row, row)
        if cycle != np.inf:
            found.append((fixed + row, max(cycle, 0.0)))
        if row:
            left = distance[:row, :row]
            np.minimum(left, distance[:row, row, None] + distance[row, :row], out=left)
    return found
