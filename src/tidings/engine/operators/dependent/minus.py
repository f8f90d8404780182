"""MINUS: the rows of A that no row of B excludes."""

from collections.abc import Iterator, Sequence

from tidings.engine.operators.base import States
from tidings.engine.operators.dependent.dependent import Dependent, DependentOnKept
from tidings.engine.operators.dependent.witness import Witness
from tidings.engine.operators.side import Kept, Side
from tidings.model.terms import Var
from tidings.sparql.algebra import Minus, Node
from tidings.sparql.evaluate.context import Context
from tidings.sparql.evaluate.joins import excluded
from tidings.sparql.evaluate.layout import Plan, Row, picker
from tidings.sparql.evaluate.pushing import shared_variables
from tidings.sparql.rewrite import rewrite


def minus(left: Side, right: Node, witnesses: Sequence[Witness], states: States) -> Dependent:
    """A - B, with witnesses of B."""

    def plan(context: Context) -> Plan:
        bound = frozenset(shared_variables(left.node, right))
        ordered = rewrite(right, context.view, bound)
        return states.compiler(context).minus(Plan(left.layout, iter), left.node, ordered)

    return Dependent("minus", left, witnesses, plan, Minus(left.node, right), states)


def minus_kept(left: Side, right: Side, shared: tuple[Var, ...], states: States) -> DependentOnKept:
    """A - B where B cannot be evaluated from rows of A."""
    kept = Kept(left.layout, right, states)
    both = shared_variables(left.node, right.node)
    ours = picker([left.layout.index[variable] for variable in both])
    theirs = picker([right.layout.index[variable] for variable in both])

    def become(row: Row) -> Iterator[tuple[Row, int]]:
        mine = ours(row)
        if mine.count(None) == len(mine) or not excluded(mine, (theirs(other) for other, _ in kept.candidates(row))):
            yield row, 1

    whole = Minus(left.node, right.node)
    overlapping = len(shared) == len(both)
    layout = left.layout
    return DependentOnKept("minus", left, right, shared, kept, become, layout, whole, states, overlapping=overlapping)
