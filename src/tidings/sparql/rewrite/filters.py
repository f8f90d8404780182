"""Filter push-down: moves each condition to where the variables that it reads are first bound."""

from tidings.model.terms import Var
from tidings.sparql.algebra import (
    BGP,
    Exists,
    Expression,
    Extend,
    Filter,
    Graph,
    Join,
    LeftJoin,
    Minus,
    Node,
    Union,
    certain,
    conjunction,
    conjuncts,
    mentioned,
    operands,
    rebuilt,
)
from tidings.sparql.evaluate.calls import is_momentary
from tidings.sparql.rewrite.looking import Look, unhurried


def push_filters(node: Node, look: Look = unhurried) -> Node:
    node = rebuilt(node, lambda inner: push_filters(inner, look))
    if not isinstance(node, Filter):
        return node
    descent = _Descent()
    inner = node.inner
    kept: list[Expression] = []
    for condition in conjuncts(node.condition):
        look()
        lower = descent.pushed(inner, condition, frozenset(mentioned(condition))) if _movable(condition) else None
        if lower is None:
            kept.append(condition)
        else:
            inner = lower
    remaining = conjunction(kept)
    if remaining is None:
        return inner
    return node if inner is node.inner else Filter(remaining, inner)


def _movable(condition: Expression) -> bool:
    """Whether a condition has the same value for the same bindings at any place of a pattern."""
    return not _has_exists(condition) and not is_momentary(condition)


def _has_exists(expression: Expression) -> bool:
    return isinstance(expression, Exists) or any(map(_has_exists, operands(expression)))


class _Descent:
    """Pushes conditions down one pattern. It computes the certain variables of each sub-pattern once: a condition
    inside does not change them, so a pattern with one more condition takes them over."""

    __slots__ = ("_certain",)

    def __init__(self) -> None:
        self._certain: dict[int, tuple[Node, frozenset[Var]]] = {}
        """By the id of the node. The entry keeps the node alive, so that no other node gets its id."""

    def _sure(self, node: Node) -> frozenset[Var]:
        found = self._certain.get(id(node))
        if found is None:
            found = self._certain[id(node)] = node, certain(node)
        return found[1]

    def _as_sure(self, changed: Node, before: Node) -> Node:
        """The changed pattern, which has the same certain variables as before."""
        found = self._certain.get(id(before))
        if found is not None:
            self._certain[id(changed)] = changed, found[1]
        return changed

    def pushed(self, node: Node, condition: Expression, reads: frozenset[Var]) -> Node | None:
        """The pattern with the condition below its top; None if it belongs on top."""
        lower = self._pushed(node, condition, reads)
        return None if lower is None else self._as_sure(lower, node)

    def _pushed(self, node: Node, condition: Expression, reads: frozenset[Var]) -> Node | None:
        match node:
            case BGP(patterns):
                return _split(patterns, condition, reads)
            case Join(left, right):
                if reads <= self._sure(left):
                    return Join(self._under(left, condition, reads), right)
                return Join(left, self._under(right, condition, reads)) if reads <= self._sure(right) else None
            case Union(left, right):
                return Union(self._under(left, condition, reads), self._under(right, condition, reads))
            case LeftJoin(left, right, test) if reads <= self._sure(left):
                return LeftJoin(self._under(left, condition, reads), right, test)
            case Minus(left, right):
                return Minus(self._under(left, condition, reads), right)
            case Extend(inner, variable, expression) if variable not in reads:
                return Extend(self._under(inner, condition, reads), variable, expression)
            case Graph(name, inner) if name not in reads and reads <= self._sure(inner):
                return Graph(name, self._under(inner, condition, reads))
            case Filter(test, inner):
                below = self.pushed(inner, condition, reads)
                return None if below is None else Filter(test, below)
            case _:
                return None

    def _under(self, node: Node, condition: Expression, reads: frozenset[Var]) -> Node:
        return self.pushed(node, condition, reads) or self._as_sure(Filter(condition, node), node)


def _split(patterns: tuple[tuple[str, str, str], ...], condition: Expression, reads: frozenset[Var]) -> Node | None:
    """The condition behind the first triple patterns that bind all variables that it reads."""
    waiting = set(reads)
    for number, pattern in enumerate(patterns[:-1], start=1):
        waiting.difference_update(pattern)
        if not waiting:
            return Join(Filter(condition, BGP(patterns[:number])), BGP(patterns[number:]))
    return None
