"""Makes the witnesses of OPTIONAL, MINUS and EXISTS, which lead from changes of the right side to rows of the left."""

from collections.abc import Callable

from tidings.engine.operators.base import Route, States
from tidings.engine.operators.dependent.witness import Turned, Witness, leading_back, turning
from tidings.engine.operators.side import Side
from tidings.engine.plans.built import Built
from tidings.engine.plans.regrouping.by_the_clock import parted
from tidings.engine.plans.regrouping.comparisons import as_seen
from tidings.engine.plans.regrouping.signs import (
    bound_by,
    condition_signs,
    has_loose_end,
    signs_of,
    turning_between,
)
from tidings.engine.plans.regrouping.surpassing import is_plain
from tidings.engine.plans.routes import exists_patterns, has_exists, routes_in
from tidings.model.terms import Var
from tidings.sparql import algebra
from tidings.sparql.algebra import Expression, Node, certain, visible
from tidings.sparql.evaluate.pushing import pushable


class Witnessing:
    """Makes witnesses. `build` makes the operators that they watch; `routes` are those of the plan."""

    __slots__ = ("_build", "_routes")

    def __init__(self, build: Callable[[Node, States], Built], routes: list[Route]) -> None:
        self._build = build
        self._routes = routes

    def of(
        self,
        node: Node,
        left: Side,
        states: States,
        *,
        inside: Node | None = None,
        with_left: bool = False,
        turned: Turned | None = None,
    ) -> Witness:
        """Watch the right side, or one of its signs; then the right side is `inside`. A variable of a sign leads to the
        left only if values from there may be handed down into the right side: otherwise, it may be another variable of
        the same name."""
        others = set[Var]()
        if inside is not None:
            others = {each for each in visible(node) if each in left.layout.index and not pushable(inside, {each})}
        sign = node if others or states.graph[:1] == "?" else bound_by(left.node, node)
        operator = self._build(sign, states).operator
        shared = leading_back(operator.layout, left.layout, certain(sign) - others)
        return Witness(operator, shared, (), with_left=with_left or sign is not node, turned=turned)

    def beside(self, right: Node, left: Side, states: States) -> list[Witness]:
        """Watch the right side of OPTIONAL or MINUS. If it has OPTIONAL, MINUS or EXISTS itself, watch only its signs:
        the delta of the whole may have far more rows than concern the left."""
        signs = signs_of(right) if _is_nested(right) else None
        if signs is None:
            return [self.of(right, left, states)]
        return [self.of(sign, left, states, inside=right) for sign in signs]

    def optional(self, condition: Expression | None, right: Node, left: Side, states: States) -> list[Witness]:
        """Watch the right side of OPTIONAL, patterns of EXISTS in its condition, and what the clock changes in that."""
        witnesses = self.beside(right, left, states)
        if condition is None:
            return witnesses
        timed, _ = parted(condition)
        if timed is not None:
            witnesses.append(self.of(turning_between(timed, left.node, right), left, states, with_left=True))
        if has_exists(condition):
            signs = condition_signs(condition, algebra.Join(left.node, right))
            witnesses += self._of_exists(list(exists_patterns(condition)), signs, left, states)
        return witnesses

    def asked(self, expression: Expression, left: Side, states: States) -> list[Witness]:
        """Watch the patterns of every EXISTS in an expression."""
        witnesses: list[Witness] = []
        for pattern in exists_patterns(expression):
            is_same = left.layout.index.keys().isdisjoint(algebra.every_variable(pattern))
            turned = turning(pattern, states) if is_same else None
            compared = as_seen(pattern, left.layout.index.keys()) if is_plain(pattern) else pattern
            signs = signs_of(pattern) if compared is pattern or states.graph[:1] == "?" else [compared]
            witnesses += self._of_exists([pattern], signs, left, states, turned)
        return witnesses

    def _of_exists(
        self, asked: list[Node], signs: list[Node] | None, left: Side, states: States, turned: Turned | None = None
    ) -> list[Witness]:
        if signs is not None and not any(has_loose_end(sign, left.node, states.graph) for sign in signs):
            return [self.of(sign, left, states, with_left=True, turned=turned) for sign in signs]
        routes = tuple(route for pattern in asked for route in routes_in(pattern, states.graph))
        self._routes.extend(routes)
        return [Witness(None, (), routes, turned=turned)]


def _is_nested(node: Node) -> bool:
    """Whether there is OPTIONAL, MINUS or EXISTS in a pattern."""
    if isinstance(node, algebra.LeftJoin | algebra.Minus) or any(map(has_exists, algebra.expressions(node))):
        return True
    return any(map(_is_nested, algebra.inputs(node)))
