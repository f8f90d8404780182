"""The K best ways to give each predicate a tuple of its own: the K best assignments of a matrix of scores.

A mapping is worth the product of its scores (the K best by sum of logarithms), as its match degree is their geometric
mean; a mapping with a score of 0 is none. Murty's algorithm divides what is left after each solution into a part for
each row, in which the rows before keep their columns and this row must take another. What the best of a part costs is
the cheapest alternating cycle through its row; one pass of Floyd and Warshall over the rows finds all of them.
"""

from collections.abc import Iterator
from heapq import heapify, heappop, heappush
from itertools import count
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

Scores: TypeAlias = NDArray[np.floating[Any]]
Columns: TypeAlias = NDArray[np.intp]


def best(scores: Scores) -> Columns | None:
    """The column of each row in the best assignment; None if every assignment has a score of 0.

    Where the greatest scores of the rows are in different columns, they are the best assignment."""
    rows, columns = scores.shape
    if rows == 0:
        return np.empty(0, np.intp)
    if rows > columns:
        return None
    greatest = scores.argmax(axis=1)
    if len(set(greatest.tolist())) == rows:
        return greatest if scores[np.arange(rows), greatest].min() > 0 else None
    with np.errstate(divide="ignore"):
        return _solved(-np.log(scores))


def k_best(scores: Scores, k: int) -> list[tuple[Columns, float]]:
    """Up to k assignments with the product of their scores, the best first."""
    first = best(scores)
    if first is None:
        return []
    if k == 1 or not len(scores):
        return [(first, float(np.prod(scores[np.arange(len(scores)), first])))]
    with np.errstate(divide="ignore"):
        costs = -np.log(scores)
    found = []
    for columns, cost in _ranked(costs, first):
        found.append((columns, float(np.exp(-cost))))
        if len(found) == k:
            break
    return found


def _solved(costs: Scores) -> Columns | None:
    try:
        columns: Columns = linear_sum_assignment(costs)[1]
    except ValueError:  # infeasible: a row or a set of rows has no finite cost left
        return None
    return columns


class _Part(NamedTuple):
    """The assignments in which the first `fixed` rows keep the columns of `before`, and the next one does not."""

    cost: float
    tie: int
    costs: Scores
    fixed: int
    before: Columns


def _ranked(costs: Scores, first: Columns) -> Iterator[tuple[Columns, float]]:
    """All assignments of finite cost, the cheapest first."""
    ties = count()
    total = float(costs[np.arange(len(first)), first].sum())
    yield first, total
    parts = [_Part(total + more, next(ties), costs, row, first) for row, more in _detours(costs, first, 0)]
    heapify(parts)
    while parts:
        cost, _, wider, fixed, before = heappop(parts)
        allowed = wider.copy()
        allowed[fixed, before[fixed]] = np.inf
        columns = _solved_rest(allowed, fixed, before)
        yield columns, cost
        for row, more in _detours(allowed, columns, fixed):
            heappush(parts, _Part(cost + more, next(ties), allowed, row, columns))


def _solved_rest(allowed: Scores, fixed: int, before: Columns) -> Columns:
    """The best assignment in which the first rows keep their columns; there is one."""
    rest = allowed[fixed:]
    if fixed:
        rest[:, before[:fixed]] = np.inf  # also for all parts of this one, in which these rows keep theirs as well
    columns = before.copy()
    columns[fixed:] = linear_sum_assignment(rest)[1]
    return columns


def _detours(allowed: Scores, columns: Columns, fixed: int) -> list[tuple[int, float]]:
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
