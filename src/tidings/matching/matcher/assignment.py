"""Finds the K best mappings, which give each predicate a tuple of its own: the K best assignments of a score matrix.

Mappings are compared by the product of their scores, computed as a sum of logarithms, because the match degree is their
geometric mean. A mapping with a score of 0 is not one. The search of `exchanges` is fast, unless very many mappings are
about as good as the best one; then Murty's algorithm takes over, whose time is bounded. With ten rows and columns, the
search takes 0.24 ms for the ten best, and Murty 0.47 ms; for two, 0.14 and 0.09 ms.
"""

from itertools import islice
from math import exp

import numpy as np
from scipy.optimize import linear_sum_assignment

from tidings.matching.matcher.exchanges import Columns, Matrix, cheapest
from tidings.matching.matcher.murty import ranked

_FEW = 3
"""For up to this many mappings, Murty's algorithm is done before the search is set up."""
_MANY = 1_000
"""Rows times mappings above which a search without free columns would run out of steps, and waste its time."""


def best(scores: Matrix) -> Columns | None:
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
    return _solved(_costs(scores))


def k_best(scores: Matrix, k: int) -> list[tuple[tuple[int, ...], float]]:
    """Up to k assignments with the product of their scores, the best first."""
    if k == 1 or not len(scores):
        only = best(scores)
        return [] if only is None else [(tuple(only.tolist()), float(np.prod(scores[np.arange(len(only)), only])))]
    costs = _costs(scores)
    first = _solved(costs) if len(scores) <= scores.shape[1] else None
    if first is None:
        return []
    found = cheapest(costs, first, k) if _is_short(len(scores), scores.shape[1], k) else None
    if found is None:
        found = list(islice(ranked(costs, first), k))
    return [(columns, exp(-cost)) for columns, cost in found]


def _is_short(rows: int, columns: int, k: int) -> bool:
    """Whether the search is likely to be short: many free columns allow cheap exchanges."""
    return k > _FEW and (rows * k <= _MANY or columns - rows >= rows / 8)


def _costs(scores: Matrix) -> Matrix:
    with np.errstate(divide="ignore"):
        return np.asarray(-np.log(scores))


def _solved(costs: Matrix) -> Columns | None:
    try:
        columns: Columns = linear_sum_assignment(costs)[1]
    except ValueError:  # infeasible: a row or a set of rows has no finite cost left
        return None
    return columns
