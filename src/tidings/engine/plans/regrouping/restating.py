"""Rewrites a pattern into one with the same multiset of solutions, for which there is a better delta rule."""

from tidings.engine.plans.regrouping.equalities import joined_by_value, optional_by_value
from tidings.engine.plans.regrouping.path_groups import spread_over, unlooped
from tidings.engine.plans.regrouping.surpassing import is_plain, surpassing
from tidings.sparql.algebra import Exists, Filter, Join, LeftJoin, Node, Not, Union
from tidings.sparql.evaluate.calls import is_momentary
from tidings.sparql.rewrite.antijoins import antijoined
from tidings.sparql.rewrite.semijoins import semijoined


def restated(node: Node, graph: str) -> Node:
    """The pattern with its top rewritten; the node itself if no rewrite applies."""
    everywhere = graph[:1] != "?"
    match node:
        case Join() if everywhere:
            straight = unlooped(node)
            return spread_over(node) if straight is node else straight
        case LeftJoin():
            keyed = optional_by_value(node, graph)
            return _apart(node, graph) if keyed is node else keyed
        case Filter(condition) if not is_momentary(condition):
            alone = antijoined(node) if everywhere else node
            return joined_by_value(semijoined(node, stable=True), graph) if alone is node else alone
        case _:
            return node


def _apart(node: LeftJoin, graph: str) -> Node:
    """OPTIONAL that nothing but one comparison by `<` connects with its left side, as a join and an anti-join:
    A ⟕ B = (A ⋈ B) ∪ (A ▷ B). A changed row is then compared once with each row of the other side. In `optional`, a
    change of B would concern all rows of A, and each of them would be compared with all of B again."""
    left, right, condition = node.left, node.right, node.condition
    if condition is None or not is_plain(left):
        return node
    alone = Filter(Not(Exists(Filter(condition, right))), left)
    found = surpassing(alone, graph)
    return node if found is None or found.key else Union(Filter(condition, Join(left, right)), alone)
