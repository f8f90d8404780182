"""Operators that pass changes on, one row at a time: filters, BIND and projection."""

from collections.abc import Iterable

from tidings.engine.operators.base import (
    Changes,
    Explanation,
    Hits,
    Operator,
    Route,
    Stateless,
    States,
    absorb,
    add,
    is_hit,
    shown,
)
from tidings.model.terms import Var
from tidings.sparql.algebra import Expression, Node
from tidings.sparql.evaluate.layout import Layout, Plan, Row, picker


class Nothing(Stateless):
    """VALUES and the like, which no update changes."""

    __slots__ = ("layout",)

    def __init__(self, layout: Layout) -> None:
        self.layout = layout

    def delta(self, hits: Hits) -> Changes:
        return {}

    def explain(self) -> Explanation:
        return Explanation("constant", "never changes", True)


class _Unary:
    """An operator over one other, which alone may keep state."""

    __slots__ = ("_inner",)

    def __init__(self, inner: Operator) -> None:
        self._inner = inner

    def admit(self, parameters: Row) -> None:
        self._inner.admit(parameters)

    def dismiss(self, parameters: Row) -> None:
        self._inner.dismiss(parameters)


class Select(_Unary):
    """σ without EXISTS: the changed rows that pass."""

    __slots__ = ("_test", "layout")

    def __init__(self, inner: Operator, condition: Expression, states: States) -> None:
        super().__init__(inner)
        self.layout = inner.layout
        self._test = states.compiler(states.new).test(condition, inner.layout)

    def delta(self, hits: Hits) -> Changes:
        test = self._test
        return {row: weight for row, weight in self._inner.delta(hits).items() if test(row)}

    def explain(self) -> Explanation:
        return Explanation("filter", "tests the changed rows", True, (self._inner.explain(),))


class SelectExists(_Unary):
    """σ with EXISTS: Δ = σ'(ΔA) + (σ' - σ) of those rows of A that a change inside EXISTS concerns."""

    __slots__ = ("_before", "_now", "_suspects", "_witnesses", "layout")

    def __init__(
        self, inner: Operator, node: Node, condition: Expression, witnesses: list["Witness"], states: States
    ) -> None:
        super().__init__(inner)
        self.layout = inner.layout
        self._now = states.compiler(states.new).test(condition, inner.layout)
        self._before = states.compiler(states.old).test(condition, inner.layout)
        self._witnesses = witnesses
        self._suspects = [Suspects(node, inner.layout, witness.shared, states) for witness in witnesses]

    def delta(self, hits: Hits) -> Changes:
        now, before = self._now, self._before
        changes = {row: weight for row, weight in self._inner.delta(hits).items() if now(row)}
        # A row may be suspected by several witnesses, but it changes once: the counts of one finding are enough.
        suspected: dict[Row, int] = {}
        for witness, suspects in zip(self._witnesses, self._suspects, strict=True):
            suspected.update(suspects.of(witness.changed(hits)))
        for row, count in suspected.items():
            passes, passed = bool(now(row)), bool(before(row))
            if passes != passed:
                add(changes, row, count if passes else -count)
        return changes

    def explain(self) -> Explanation:
        inside = tuple(witness.explain() for witness in self._witnesses)
        detail = "tests the changed rows, and those that a change inside EXISTS concerns"
        return Explanation("filter exists", detail, True, (self._inner.explain(), *inside))


class Witness:
    """Watches a pattern on the right of EXISTS, OPTIONAL or MINUS: which bindings of shared variables changed."""

    __slots__ = ("_coarse", "_operator", "_pick", "shared")

    def __init__(self, operator: Operator | None, shared: list[Var], coarse: tuple[Route, ...]) -> None:
        self.shared = tuple(shared) if operator is not None else ()
        self._operator = operator
        self._coarse = coarse
        self._pick = picker([] if operator is None else [operator.layout.index[v] for v in shared])

    def changed(self, hits: Hits) -> Iterable[Row]:
        """The bindings, each once; the empty row means that any row may be concerned."""
        if self._operator is None:
            return ((),) if is_hit(self._coarse, hits) else ()
        return dict.fromkeys(self._pick(row) for row in self._operator.delta(hits))

    def explain(self) -> Explanation:
        if self._operator is None:
            return Explanation("witness", "any change here re-tests every row", False)
        names = ", ".join(map(shown, self.shared))
        return Explanation(
            "witness", f"changes lead to rows by {names or 'nothing'}", True, (self._operator.explain(),)
        )


class Suspects:
    """The rows of a pattern, before the change, that have given values in given columns."""

    __slots__ = ("_align", "_plan")

    def __init__(self, node: Node, layout: Layout, shared: tuple[Var, ...], states: States) -> None:
        given = Layout(shared, frozenset(shared)) if shared else None
        self._plan: Plan = states.plan(node, states.old, given)
        self._align = picker([self._plan.layout.index.get(variable) for variable in layout.variables])

    def of(self, bindings: Iterable[Row]) -> Changes:
        rows = list(bindings)
        found: Changes = {}
        if rows:
            absorb(found, ((self._align(row), 1) for row in self._plan.run(rows)))
        return found


class Extend(_Unary):
    """BIND: a column more."""

    __slots__ = ("_value", "layout")

    def __init__(self, inner: Operator, variable: Var, expression: Expression, states: States) -> None:
        super().__init__(inner)
        constant = isinstance(expression, str) and (expression[0] != "?" or expression in inner.layout.certain)
        self.layout = inner.layout.extended((variable,), (variable,) if constant else ())
        self._value = states.compiler(states.new).value(expression, inner.layout)

    def delta(self, hits: Hits) -> Changes:
        value = self._value
        return {(*row, value(row)): weight for row, weight in self._inner.delta(hits).items()}

    def explain(self) -> Explanation:
        return Explanation("extend", shown(self.layout.variables[-1]), True, (self._inner.explain(),))


class Project(_Unary):
    """π as a multiset: rows that become equal add up."""

    __slots__ = ("_pick", "layout")

    def __init__(self, inner: Operator, variables: tuple[Var, ...]) -> None:
        super().__init__(inner)
        self.layout = Layout(variables, inner.layout.certain.intersection(variables))
        self._pick = picker([inner.layout.index.get(variable) for variable in variables])

    def delta(self, hits: Hits) -> Changes:
        pick = self._pick
        changes: Changes = {}
        absorb(changes, ((pick(row), weight) for row, weight in self._inner.delta(hits).items()))
        return changes

    def explain(self) -> Explanation:
        names = ", ".join(map(shown, self.layout.variables))
        return Explanation("project", names, True, (self._inner.explain(),))
