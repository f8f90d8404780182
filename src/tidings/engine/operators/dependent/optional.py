"""OPTIONAL: a row of A with its rows of B, or alone if there are none."""

from collections.abc import Iterator, Sequence

from tidings.engine.operators.base import States
from tidings.engine.operators.dependent.dependent import Dependent, DependentOnKept
from tidings.engine.operators.dependent.witness import Witness
from tidings.engine.operators.side import Kept, Side
from tidings.model.terms import Var
from tidings.sparql.algebra import Expression, LeftJoin, Node
from tidings.sparql.evaluate.context import Context
from tidings.sparql.evaluate.layout import Layout, Plan, Row
from tidings.sparql.rewrite import rewrite


def optional(
    left: Side, right: Node, condition: Expression | None, witnesses: Sequence[Witness], states: States
) -> Dependent:
    """A ⟕ B, with witnesses of B."""

    def plan(context: Context) -> Plan:
        ordered = rewrite(right, context.view, left.layout.certain)
        return states.compiler(context).left_join(Plan(left.layout, iter), ordered, condition)

    whole = LeftJoin(left.node, right, condition)
    return Dependent("optional", left, witnesses, plan, whole, states)


def optional_kept(
    left: Side, right: Side, shared: tuple[Var, ...], condition: Expression | None, states: States
) -> DependentOnKept:
    """A ⟕ B where B cannot be evaluated from rows of A."""
    kept = Kept(left.layout, right, states)
    test = None if condition is None else states.compiler(states.new).test(condition, kept.layout)
    padding = (None,) * (len(kept.layout.variables) - len(left.layout.variables))

    def become(row: Row) -> Iterator[tuple[Row, int]]:
        alone = True
        for together, count in kept.matches(row):
            if test is None or test(together):
                alone = False
                yield together, count
        if alone:
            yield row + padding, 1

    layout = Layout(kept.layout.variables, left.layout.certain)
    whole = LeftJoin(left.node, right.node, condition)
    return DependentOnKept("optional", left, right, shared, kept, become, layout, whole, states)
