"""Counts the parts of a pattern before it is planned: planning takes longer with more of them."""

from tidings.model.errors import RequestTooComplex
from tidings.sparql.algebra.about import expressions, inputs, operands
from tidings.sparql.algebra.nodes import (
    BGP,
    Alternative,
    Exists,
    Expression,
    Inverse,
    Negated,
    Node,
    Path,
    PathPattern,
    Repeat,
    Sequence,
)


def parts_of(pattern: Node) -> int:
    """The number of triple patterns, path steps, operators, and terms and operators of expressions. The data of VALUES
    does not count, because nothing is planned for it."""
    count = 0
    nodes: list[Node] = [pattern]
    conditions: list[Expression] = []
    while nodes or conditions:
        if conditions:
            expression = conditions.pop()
            count += 1
            conditions += operands(expression)
            if isinstance(expression, Exists):
                nodes.append(expression.pattern)
            continue
        node = nodes.pop()
        count += len(node.patterns) if isinstance(node, BGP) else 1
        if isinstance(node, PathPattern):
            count += _steps(node.path)
        nodes += inputs(node)
        conditions += expressions(node)
    return count


def _steps(path: Path) -> int:
    count = 0
    paths = [path]
    while paths:
        each = paths.pop()
        count += 1
        match each:
            case str():
                pass
            case Negated(forward, backward):
                count += len(forward or ()) + len(backward or ())
            case Inverse(inner) | Repeat(inner):
                paths.append(inner)
            case Sequence(left, right) | Alternative(left, right):
                paths += (left, right)
    return count


def check_parts(parts: int, most: int | None) -> None:
    """Raises RequestTooComplex if there are more than `most` parts."""
    if most is not None and parts > most:
        said = f"the request has {parts:,} triple patterns, operators and terms, and the limit of max_parts is {most:,}"
        raise RequestTooComplex(said, measured=parts, limit=most)
