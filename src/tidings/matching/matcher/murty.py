"""All assignments, the cheapest first, by Murty's algorithm: for each it takes a time that is bounded.

It divides what is left after each solution into a part for each row, in which the rows before keep their columns and
this row must take another. What the best of a part costs is the cheapest alternating cycle through its row; one pass of
Floyd and Warshall over the rows finds all of them.
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
    """Those of finite cost; `first` is the cheapest."""
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
    """The best assignment in which the first rows keep their columns; there is one."""
    rest = allowed[fixed:]
    if fixed:
        rest[:, before[:fixed]] = np.inf  # also for all parts of this one, in which these rows keep theirs as well
    columns = before.copy()
    columns[fixed:] = linear_sum_assignment(rest)[1]
    return columns


def _detours(allowed: Matrix, columns: Columns, fixed: int) -> list[tuple[int, float]]:
    """What each row from `fixed` on has to pay to leave its column, if the rows before it keep theirs.

    In the graph of rows, r -> s costs what r pays to take the column of s; the last node stands for all free columns.
    A cycle through a row is an exchange; there is no negative one, as the assignment is optimal. Nodes are taken out
    from the last to the first, and leave the paths through them behind."""
    rest, mine = allowed[fixed:], columns[fixed:]
    distance = rest[:, mine]
    paid = distance.diagonal().copy()
    distance -= paid[:, None]
    distance.flat[:: len(mine) + 1] = np.inf
    if allowed.shape[1] > len(columns):
        untaken = rest.copy()
        untaken[:, columns] = np.inf
        np.minimum(distance, (untaken.min(axis=1) - paid)[:, None], out=distance)  # its column is then free for any
    found: list[tuple[int, float]] = []
    for row in range(len(mine) - 1, -1, -1):
        cycle = distance.item(row, row)
        if cycle != np.inf:
            found.append((fixed + row, max(cycle, 0.0)))
        if row:
            left = distance[:row, :row]
            np.minimum(left, distance[:row, row, None] + distance[row, :row], out=left)
    return found
