"""Rewrite passes, algebra to algebra, in the order in which they are applied. Each keeps the multiset of solutions.

antijoins   OPTIONAL with a filter that it matched nothing becomes NOT EXISTS; only in whole queries
constants   FILTER(?x = <iri>) becomes the constant in the pattern
semijoins   EXISTS around a pattern that cannot see the outer row becomes a join
order       the most selective pattern first, by the store's counts
filters     tests each condition as soon as its variables are bound
"""

from tidings.model.terms import Var
from tidings.sparql.algebra import BGP, Node
from tidings.sparql.evaluate.dataset import View
from tidings.sparql.rewrite.constants import reveal_constants
from tidings.sparql.rewrite.filters import push_filters
from tidings.sparql.rewrite.looking import Look, unhurried
from tidings.sparql.rewrite.order import order_joins
from tidings.sparql.rewrite.semijoins import join_existence


def rewrite(node: Node, view: View, bound: frozenset[Var] = frozenset(), look: Look = unhurried) -> Node:
    """A pattern ready to be compiled. Input rows bind the variables `bound`. The passes call `look` now and then."""
    if isinstance(node, BGP) and len(node.patterns) < 2:
        return node
    revealed = reveal_constants(node, look)
    joined = join_existence(revealed, bound, look)
    ordered = order_joins(joined, view.default(), view, bound, look)
    return push_filters(ordered, look)
