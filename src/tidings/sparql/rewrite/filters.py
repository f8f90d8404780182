"""Filter push-down: a condition is tested as soon as the variables it reads are bound, and never later."""

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


def push_filters(node: Node) -> Node:
    node = rebuilt(node, push_filters)
    if not isinstance(node, Filter):
        return node
    inner = node.inner
    kept: list[Expression] = []
    for condition in conjuncts(node.condition):
        lower = _pushed(inner, condition) if _movable(condition) else None
        if lower is None:
            kept.append(condition)
        else:
            inner = lower
    remaining = conjunction(kept)
    if remaining is None:
        return inner
    return node if inner is node.inner else Filter(remaining, inner)


def _movable(condition: Expression) -> bool:
    """Whether it gives the same for the same bindings wherever it stands."""
    return not _has_exists(condition) and not is_momentary(condition)


def _has_exists(expression: Expression) -> bool:
    return isinstance(expression, Exists) or any(map(_has_exists, operands(expression)))


def _pushed(node: Node, condition: Expression) -> Node | None:
    """The pattern with the condition below its top; None if it belongs on top."""
    match node:
        case BGP(patterns):
            return _split(patterns, condition)
        case Join(left, right):
            reads = set(mentioned(condition))
            if reads <= certain(left):
                return Join(_under(left, condition), right)
            return Join(left, _under(right, condition)) if reads <= certain(right) else None
        case Union(left, right):
            return Union(_under(left, condition), _under(right, condition))
        case LeftJoin(left, right, test) if set(mentioned(condition)) <= certain(left):
            return LeftJoin(_under(left, condition), right, test)
        case Minus(left, right):
            return Minus(_under(left, condition), right)
        case Extend(inner, variable, expression) if variable not in set(mentioned(condition)):
            return Extend(_under(inner, condition), variable, expression)
        case Graph(name, inner) if set(mentioned(condition)) <= certain(inner) - {name}:
            return Graph(name, _under(inner, condition))
        case Filter(test, inner):
            below = _pushed(inner, condition)
            return None if below is None else Filter(test, below)
        case _:
            return None


def _under(node: Node, condition: Expression) -> Node:
    return _pushed(node, condition) or Filter(condition, node)


def _split(patterns: tuple[tuple[str, str, str], ...], condition: Expression) -> Node | None:
    """Behind the first triple patterns that bind all it reads."""
    waiting = set(mentioned(condition))
    for number, pattern in enumerate(patterns[:-1], start=1):
        waiting.difference_update(pattern)
        if not waiting:
            return Join(Filter(condition, BGP(patterns[:number])), BGP(patterns[number:]))
    return None
