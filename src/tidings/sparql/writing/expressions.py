"""Expressions and property paths as text. Parentheses around all compound parts make precedence irrelevant."""

from collections.abc import Callable
from typing import TypeAlias, assert_never

from tidings.model.terms import lexical_form, literal
from tidings.sparql.algebra import (
    Aggregate,
    Alternative,
    And,
    Arithmetic,
    Call,
    Compare,
    Exists,
    Expression,
    In,
    Inverse,
    Negated,
    Node,
    Not,
    Or,
    Path,
    Repeat,
    Sequence,
    Sign,
)
from tidings.sparql.writing.surroundings import Surroundings

Group: TypeAlias = Callable[[Node], str]
"""Writes a pattern between braces, for EXISTS."""


def written_expression(expression: Expression, around: Surroundings, group: Group) -> str:
    def write(part: Expression) -> str:
        return written_expression(part, around, group)

    match expression:
        case str():
            return around.term(expression)
        case And(left, right):
            return f"({write(left)} && {write(right)})"
        case Or(left, right):
            return f"({write(left)} || {write(right)})"
        case Not(inner):
            return f"(!{write(inner)})"
        case Compare(operator, left, right):
            return f"({write(left)} {operator} {write(right)})"
        case Arithmetic(first, rest):
            return f"({write(first)}{''.join(f' {operator} {write(each)}' for operator, each in rest)})"
        case Sign(operator, inner):
            return f"({operator} {write(inner)})"
        case In(item, choices):
            return f"({write(item)} IN ({', '.join(map(write, choices))}))"
        case Exists(pattern):
            return f"(EXISTS {group(pattern)})"
        case Call(function, arguments):
            return _call(function, arguments, around, write)
        case Aggregate(function, argument, distinct, separator):
            inner = "*" if argument is None else write(argument)
            mark = f"; SEPARATOR={literal(separator)}" if function == "GROUP_CONCAT" else ""
            return f"{function}({'DISTINCT ' if distinct else ''}{inner}{mark})"
        case _:
            assert_never(expression)


def _call(
    function: str, arguments: tuple[Expression, ...], around: Surroundings, write: Callable[[Expression], str]
) -> str:
    if function == "IRI":  # the last argument is the base IRI, which the parser adds
        *arguments_, base = arguments
        if isinstance(base, str) and lexical_form(base):
            around.bases[lexical_form(base)] = None
        return f"IRI({', '.join(map(write, arguments_))})"
    return f"{function}({', '.join(map(write, arguments))})"


def written_path(path: Path) -> str:
    match path:
        case str():
            return path
        case Inverse(inner):
            return f"(^{written_path(inner)})"
        case Sequence(first, second):
            return f"({written_path(first)}/{written_path(second)})"
        case Alternative(left, right):
            return f"({written_path(left)}|{written_path(right)})"
        case Repeat(inner, least, many):
            mark = ("+" if least else "*") if many else "?"
            return f"({written_path(inner)}{mark})"
        case Negated(forward, backward):
            steps = [*(forward or ()), *(f"^{each}" for each in backward or ())]
            return f"!({'|'.join(steps)})"
        case _:
            assert_never(path)
