"""Groups over a join with a scalar, such as a total: the group goes below the join.

    γ(k, m; A × B)  =  γ(k; A) × B        where B always has one row, with m

Otherwise a change of m would remove all rows of A from their groups, and add them again.
"""

from functools import reduce

from tidings.engine.plans.regrouping.comparisons import is_scalar, joined_parts
from tidings.sparql.algebra import Group, Join, Node, Project, mentioned, visible


def scalars_aside(node: Group) -> Node:
    """The group of the other parts, joined with the scalars; the node itself if this is not possible."""
    parts = joined_parts(node.inner)
    scalars = [part for part in parts if is_scalar(part)]
    rows = [part for part in parts if not is_scalar(part)]
    if not scalars or not rows:
        return node
    inner: Node = reduce(Join, rows)
    told = {variable for part in scalars for variable in visible(part)}
    keys = tuple(key for key in node.keys if key not in told)
    counted = {variable for _, aggregate in node.aggregates for variable in mentioned(aggregate)}
    if not keys or told.intersection(counted) or told.intersection(visible(inner)):
        return node
    both: Node = reduce(Join, [Group(inner, keys, node.aggregates), *scalars])
    return Project(both, tuple(visible(node)))
