"""Properties of algebra nodes: their variables, sub-patterns and sub-expressions; and functions that rebuild nodes."""

from collections.abc import Callable, Iterable, Iterator
from collections.abc import Sequence as Series
from typing import TypeVar, assert_never

from msgspec.structs import replace

from tidings.model.terms import Var
from tidings.sparql.algebra.nodes import (
    BGP,
    UNIT,
    Aggregate,
    Alternative,
    And,
    Arithmetic,
    Call,
    Compare,
    Distinct,
    Exists,
    Expression,
    Extend,
    Filter,
    Graph,
    Group,
    In,
    Inverse,
    Join,
    LeftJoin,
    Minus,
    Negated,
    Node,
    Not,
    Or,
    OrderBy,
    Path,
    PathPattern,
    Project,
    QuadPattern,
    Repeat,
    Sequence,
    Service,
    Sign,
    Slice,
    Union,
    Values,
)

T = TypeVar("T")


def join(left: Node, right: Node) -> Node:
    """A join without unit patterns; adjacent triple patterns become one basic graph pattern."""
    if left is UNIT or left == UNIT:
        return right
    if right is UNIT or right == UNIT:
        return left
    return Join(left, right)


def visible(node: Node) -> dict[Var, None]:
    """The in-scope variables of section 18.2.1, in order of appearance, with those that the parser generated."""
    found: dict[Var, None] = {}
    _collect_visible(node, found)
    return found


def matched(node: Node, graph: str | None) -> Iterator[QuadPattern]:
    """Quad patterns that, for each solution of the node, are quads of the dataset once its terms are filled in.
    `graph` is where the node is evaluated; None is a default graph that is not one graph of the store."""
    match node:
        case BGP(patterns):
            if graph is not None:
                yield from ((s, p, o, graph) for s, p, o in patterns)
        case Join(left, right):
            yield from matched(left, graph)
            yield from matched(right, graph)
        case LeftJoin(inner) | Minus(inner) | Filter(_, inner) | Extend(inner):
            yield from matched(inner, graph)
        case Graph(name, inner):
            yield from matched(inner, name)
        case PathPattern() | Union() | Values() | Service():
            pass
        case Group() | OrderBy() | Project() | Distinct() | Slice():
            pass  # variables inside may have the same names as others outside
        case _:
            assert_never(node)


def _collect_visible(node: Node, found: dict[Var, None]) -> None:
    match node:
        case BGP(patterns):
            found.update((term, None) for pattern in patterns for term in pattern if term[0] == "?")
        case PathPattern(subject, _, object_):
            found.update((term, None) for term in (subject, object_) if term[0] == "?")
        case Join(left, right) | LeftJoin(left, right) | Union(left, right):
            _collect_visible(left, found)
            _collect_visible(right, found)
        case Minus(left, _):
            _collect_visible(left, found)
        case Filter(_, inner) | OrderBy(inner) | Distinct(inner) | Slice(inner):
            _collect_visible(inner, found)
        case Extend(inner, variable):
            _collect_visible(inner, found)
            found[variable] = None
        case Graph(name, inner) | Service(name, inner):
            if name[0] == "?":
                found[name] = None
            _collect_visible(inner, found)
        case Values(variables) | Project(_, variables):
            found.update((variable, None) for variable in variables)
        case Group(_, keys, aggregates):
            found.update((variable, None) for variable in keys)
            found.update((variable, None) for variable, _ in aggregates)
        case _:
            assert_never(node)


def certain(node: Node) -> frozenset[Var]:
    """Variables bound in every solution of the node."""
    match node:
        case BGP() | PathPattern():
            return frozenset(visible(node))
        case Join(left, right):
            return certain(left) | certain(right)
        case LeftJoin(left, _) | Minus(left, _):
            return certain(left)
        case Union(left, right):
            return certain(left) & certain(right)
        case Filter(_, inner) | OrderBy(inner) | Distinct(inner) | Slice(inner):
            return certain(inner)
        case Extend(inner, variable, expression):
            sure = certain(inner)
            constant = isinstance(expression, str) and (expression[0] != "?" or expression in sure)
            return sure | {variable} if constant else sure
        case Graph(name, inner):
            return certain(inner) | {name} if name[0] == "?" else certain(inner)
        case Service():
            return frozenset()
        case Values(variables, rows):
            return frozenset(v for i, v in enumerate(variables) if all(row[i] is not None for row in rows))
        case Group(inner, keys, _):
            return certain(inner) & frozenset(keys)
        case Project(inner, variables):
            return certain(inner) & frozenset(variables)
        case _:
            assert_never(node)


def may_stand_still(path: Path) -> bool:
    """Whether a path of zero steps matches."""
    match path:
        case str() | Negated():
            return False
        case Repeat(inner, least, _):
            return least == 0 or may_stand_still(inner)
        case Inverse(inner):
            return may_stand_still(inner)
        case Sequence(first, second):
            return may_stand_still(first) and may_stand_still(second)
        case Alternative(left, right):
            return may_stand_still(left) or may_stand_still(right)
        case _:
            assert_never(path)


def mentioned(expression: Expression) -> Iterator[Var]:
    """Every variable that an expression reads, those inside EXISTS and aggregates included."""
    match expression:
        case str():
            if expression[0] == "?":
                yield expression
        case Exists(pattern):
            yield from every_variable(pattern)
        case _:
            for part in operands(expression):
                yield from mentioned(part)


def operands(expression: Expression) -> tuple[Expression, ...]:
    """The sub-expressions one level down, without the pattern of EXISTS."""
    match expression:
        case str() | Exists():
            return ()
        case And(left, right) | Or(left, right):
            return (left, right)
        case Compare(_, left, right):
            return (left, right)
        case Arithmetic(first, rest):
            return (first, *[each for _, each in rest])
        case Not(inner) | Sign(_, inner):
            return (inner,)
        case In(item, choices):
            return (item, *choices)
        case Call(_, arguments):
            return arguments
        case Aggregate(_, argument):
            return () if argument is None else (argument,)
        case _:
            assert_never(expression)


def inputs(node: Node) -> tuple[Node, ...]:
    """The patterns one level down, without those inside EXISTS."""
    match node:
        case BGP() | PathPattern() | Values():
            return ()
        case Join(left, right) | LeftJoin(left, right) | Union(left, right) | Minus(left, right):
            return (left, right)
        case Filter(_, inner) | Graph(_, inner) | Service(_, inner):
            return (inner,)
        case Extend(inner) | Group(inner) | OrderBy(inner) | Project(inner) | Distinct(inner):
            return (inner,)
        case Slice(inner):
            return (inner,)
        case _:
            assert_never(node)


def rebuilt(node: Node, change: Callable[["Node"], "Node"]) -> Node:
    """The node with each of its inputs replaced by `change`; the node itself if no input changed."""
    match node:
        case BGP() | PathPattern() | Values() | Service():
            return node
        case LeftJoin(left, right, condition):
            new_left, new_right = change(left), change(right)
            return node if new_left is left and new_right is right else LeftJoin(new_left, new_right, condition)
        case Join(left, right) | Union(left, right) | Minus(left, right):
            new_left, new_right = change(left), change(right)
            return node if new_left is left and new_right is right else type(node)(new_left, new_right)
        case _:
            inner = change(node.inner)
            return node if inner is node.inner else replace(node, inner=inner)


def expressions(node: Node) -> tuple[Expression, ...]:
    """The expressions that a node itself evaluates."""
    match node:
        case Filter(condition, _):
            return (condition,)
        case LeftJoin(_, _, condition):
            return () if condition is None else (condition,)
        case Extend(_, _, expression):
            return (expression,)
        case Group(_, _, aggregates):
            return tuple(aggregate for _, aggregate in aggregates)
        case OrderBy(_, conditions):
            return tuple(expression for expression, _ in conditions)
        case _:
            return ()


def every_expression(node: Node) -> Iterator[Expression]:
    """Every expression anywhere in a pattern, those inside EXISTS included."""
    for expression in expressions(node):
        yield from _expressions_within(expression)
    for inner in inputs(node):
        yield from every_expression(inner)


def _expressions_within(expression: Expression) -> Iterator[Expression]:
    yield expression
    if isinstance(expression, Exists):
        yield from every_expression(expression.pattern)
    for part in operands(expression):
        yield from _expressions_within(part)


def every_variable(node: Node) -> Iterator[Var]:
    """Every variable that occurs anywhere in a pattern, in scope or not."""
    yield from visible(node)
    for expression in expressions(node):
        yield from mentioned(expression)
    for inner in inputs(node):
        yield from every_variable(inner)


def balanced(parts: Series[T], combine: Callable[[T, T], T]) -> T:
    """One or more parts combined in pairs by an associative operator, in their order: a thousand nest only ten deep."""
    while len(parts) > 1:
        pairs = [combine(*pair) for pair in zip(parts[::2], parts[1::2], strict=False)]
        parts = [*pairs, parts[-1]] if len(parts) % 2 else pairs
    return parts[0]


def conjunction(conditions: Iterable[Expression]) -> Expression | None:
    """All of the conditions as one, or None if there is none."""
    found = list(conditions)
    return balanced(found, And) if found else None


def conjuncts(condition: Expression) -> Iterator[Expression]:
    """The conditions that a condition is the conjunction of: the inverse of `conjunction`."""
    if isinstance(condition, And):
        yield from conjuncts(condition.left)
        yield from conjuncts(condition.right)
    else:
        yield condition
