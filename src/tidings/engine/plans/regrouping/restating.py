"""A pattern said in another way, for which there is a better rule: with the same solutions, as often."""

from tidings.engine.plans.regrouping.equalities import joined_by_value, optional_by_value
from tidings.engine.plans.regrouping.path_groups import spread_over, unlooped
from tidings.sparql.algebra import Filter, Join, LeftJoin, Node
from tidings.sparql.evaluate.calls import is_momentary
from tidings.sparql.rewrite.antijoins import antijoined
from tidings.sparql.rewrite.semijoins import semijoined


def restated(node: Node, graph: str) -> Node:
    """The pattern as it is better said at its top; the node itself, if it is well said."""
    everywhere = graph[:1] != "?"
    match node:
        case Join() if everywhere:
            straight = unlooped(node)
            return spread_over(node) if straight is node else straight
        case LeftJoin():
            return optional_by_value(node, graph)
        case Filter(condition) if not is_momentary(condition):
            alone = antijoined(node) if everywhere else node
            return joined_by_value(semijoined(node, stable=True), graph) if alone is node else alone
        case _:
            return node
