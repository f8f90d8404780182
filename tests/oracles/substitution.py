"""substitute(pattern, μ) of section 18.6, for EXISTS: every variable that μ binds becomes its value.

Where the recommendation does not say what that means (a variable that the pattern itself assigns, or the hidden
variables of a sub-select) nothing is substituted; the strategies do not go there.
"""

from typing import assert_never

from tidings.model.terms import Term
from tidings.sparql.algebra import (
    BGP,
    Aggregate,
    And,
    Arithmetic,
    Call,
    Compare,
    Exists,
    Expression,
    Extend,
    Filter,
    Graph,
    In,
    LeftJoin,
    Node,
    Not,
    Or,
    PathPattern,
    Sign,
    rebuilt,
)

Binding = dict[str, Term]


def substituted(node: Node, mu: Binding) -> Node:
    match node:
        case BGP(patterns):
            return BGP(tuple((mu.get(s, s), mu.get(p, p), mu.get(o, o)) for s, p, o in patterns))
        case PathPattern(subject, path, object_):
            return PathPattern(mu.get(subject, subject), path, mu.get(object_, object_))
        case Filter(condition, inner):
            return Filter(_replaced(condition, mu), substituted(inner, mu))
        case LeftJoin(left, right, condition):
            test = None if condition is None else _replaced(condition, mu)
            return LeftJoin(substituted(left, mu), substituted(right, mu), test)
        case Extend(inner, variable, expression):
            return Extend(substituted(inner, mu), variable, _replaced(expression, mu))
        case Graph(name, inner):
            return Graph(mu.get(name, name), substituted(inner, mu))
        case _:
            return rebuilt(node, lambda inner: substituted(inner, mu))


def _replaced(expression: Expression, mu: Binding) -> Expression:
    match expression:
        case str():
            return mu.get(expression, expression)
        case And(left, right) | Or(left, right):
            return type(expression)(_replaced(left, mu), _replaced(right, mu))
        case Compare(operator, left, right):
            return Compare(operator, _replaced(left, mu), _replaced(right, mu))
        case Arithmetic(first, rest):
            return Arithmetic(_replaced(first, mu), tuple((sign, _replaced(each, mu)) for sign, each in rest))
        case Not(inner):
            return Not(_replaced(inner, mu))
        case Sign(plus, inner):
            return Sign(plus, _replaced(inner, mu))
        case In(item, choices):
            return In(_replaced(item, mu), tuple(_replaced(choice, mu) for choice in choices))
        case Exists(pattern):
            return Exists(substituted(pattern, mu))
        case Call("BOUND", (str() as variable,)):
            return '"true"^^<http://www.w3.org/2001/XMLSchema#boolean>' if variable in mu else expression
        case Call(function, arguments):
            return Call(function, tuple(_replaced(argument, mu) for argument in arguments))
        case Aggregate():
            return expression
        case _:
            assert_never(expression)
