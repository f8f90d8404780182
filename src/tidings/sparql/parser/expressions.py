"""Expressions: operators by precedence, builtin calls with their arities, function calls and aggregates."""

from typing import cast

from tidings.model.terms import Term, literal
from tidings.sparql.algebra import (
    Aggregate,
    And,
    Arithmetic,
    Call,
    Comparator,
    Compare,
    Exists,
    Expression,
    In,
    Not,
    Operator,
    Or,
    Sign,
    balanced,
)
from tidings.sparql.functions import CASTS, FUNCTIONS, MICROS
from tidings.sparql.parser import patterns
from tidings.sparql.parser.cursor import Cursor

_ARITY: dict[str, tuple[int, int | None]] = {
    **{name: (function.least, function.most) for name, function in FUNCTIONS.items()},
    "BOUND": (1, 1),
    "IF": (3, 3),
    "COALESCE": (0, None),
    "NOW": (0, 0),
    "RAND": (0, 0),
    "UUID": (0, 0),
    "STRUUID": (0, 0),
    "BNODE": (0, 1),
    "IRI": (1, 1),
    "URI": (1, 1),
}
_AGGREGATES = frozenset({"COUNT", "SUM", "MIN", "MAX", "AVG", "SAMPLE", "GROUP_CONCAT"})
_COMPARATORS = frozenset({"=", "!=", "<", ">", "<=", ">="})


def expression(c: Cursor) -> Expression:
    """ConditionalOrExpression."""
    terms = [_and(c)]
    while c.accept("||"):
        terms.append(_and(c))
    return terms[0] if len(terms) == 1 else balanced(terms, Or)  # 17.3.1: associative, for errors as well


def _and(c: Cursor) -> Expression:
    terms = [_relational(c)]
    while c.accept("&&"):
        terms.append(_relational(c))
    return terms[0] if len(terms) == 1 else balanced(terms, And)


def _relational(c: Cursor) -> Expression:
    left = _additive(c)
    token = c.toks[c.i]
    if token in _COMPARATORS:
        c.i += 1
        return Compare(cast(Comparator, token), left, _additive(c))
    word = token.upper()
    if word == "IN":
        c.i += 1
        return In(left, _arguments(c))
    if word == "NOT" and c.toks[c.i + 1].upper() == "IN":
        c.i += 2
        return Not(In(left, _arguments(c)))
    return left


def _additive(c: Cursor) -> Expression:
    first = _multiplicative(c, _unary(c))
    rest: list[tuple[Operator, Expression]] = []
    while True:
        token = c.toks[c.i]
        if token in {"+", "-"}:
            c.i += 1
            rest.append((cast(Operator, token), _multiplicative(c, _unary(c))))
        elif token[:1] in {"+", "-"}:
            # `?x -1` has two tokens, ?x and -1; its value is their sum
            rest.append(("+", _multiplicative(c, c.number())))
        else:
            return Arithmetic(first, tuple(rest)) if rest else first


def _multiplicative(c: Cursor, first: Expression) -> Expression:
    rest: list[tuple[Operator, Expression]] = []
    while c.toks[c.i] in {"*", "/"}:
        operator = cast(Operator, c.toks[c.i])
        c.i += 1
        rest.append((operator, _unary(c)))
    return Arithmetic(first, tuple(rest)) if rest else first


def _unary(c: Cursor) -> Expression:
    if c.accept("!"):
        return Not(_primary(c))
    if c.accept("-"):
        return Sign("-", _primary(c))
    if c.accept("+"):
        return Sign("+", _primary(c))
    return _primary(c)


def _primary(c: Cursor) -> Expression:
    token = c.toks[c.i]
    if token == "(":
        return bracketted(c)
    first = token[:1]
    if first.isalpha() and ":" not in token:
        return _word(c, token.upper())
    if first == "_" and token[1:2] == ":":
        c.fail("an expression", message="a blank node cannot stand in an expression")
    if not first or first in ")}],;":
        c.fail("an expression")
    if c.at_iri() and c.toks[c.i + 1] == "(":
        return iri_or_call(c)
    return c.term()


def bracketted(c: Cursor) -> Expression:
    c.expect("(")
    inner = expression(c)
    c.expect(")")
    return inner


def _word(c: Cursor, word: str) -> Expression:
    if word in {"TRUE", "FALSE"}:
        return c.term()
    return call(c, word)


def call(c: Cursor, word: str) -> Expression:
    """BuiltInCall; `word` is the current token in upper case."""
    if word == "EXISTS":
        c.i += 1
        return _exists(c)
    if word == "NOT" and c.toks[c.i + 1].upper() == "EXISTS":
        c.i += 2
        return Not(_exists(c))
    if word in _AGGREGATES:
        return _aggregate(c, word)
    arity = _ARITY.get(word)
    if arity is None:
        c.fail("an expression")
    start = c.i
    c.i += 1
    arguments = _arguments(c)
    least, most = arity
    if len(arguments) < least or (most is not None and len(arguments) > most):
        wanted = str(least) if least == most else f"{least} to {most}" if most is not None else f"at least {least}"
        noun = "argument" if wanted == "1" else "arguments"
        c.fail(f"{wanted} {noun}", at=start, message=f"{word} takes {wanted} {noun}, not {len(arguments)}")
    if word == "BOUND" and not (isinstance(arguments[0], str) and arguments[0][0] == "?"):
        c.fail("a variable", at=start, message="BOUND takes a variable")
    if word in {"IRI", "URI"}:
        return Call("IRI", (*arguments, literal(c.base)))
    return Call(word, arguments)


def _exists(c: Cursor) -> Expression:
    outer = c.aggregates, c.block
    c.aggregates = None
    c.new_block()
    pattern = patterns.group(c)
    c.aggregates, c.block = outer
    return Exists(pattern)


def _arguments(c: Cursor) -> tuple[Expression, ...]:
    c.expect("(")
    if c.accept(")"):
        return ()
    found = [expression(c)]
    while c.accept(","):
        found.append(expression(c))
    c.expect(")")
    return tuple(found)


def iri_or_call(c: Cursor) -> Expression:
    name: Term = c.iri()
    if c.toks[c.i] != "(":
        return name
    if c.toks[c.i + 1].upper() == "DISTINCT":
        c.fail("an expression", at=c.i + 1, message="no aggregate function of that name is known")
    arguments = _arguments(c)
    if name != MICROS:
        _note_unknown(c, name, len(arguments))
    return Call(name, arguments)


def _note_unknown(c: Cursor, name: Term, given: int) -> None:
    """Warn about a call of a function that does not exist: valid SPARQL, but always an error (17.6)."""
    cast = CASTS.get(name[1:-1])
    if cast is None:
        c.warnings[f"the function {name} is not known: every call of it is an error"] = None
    elif given != cast.least:
        wanted = f"takes {cast.least} argument, not {given}"
        c.warnings[f"the function {name} {wanted}: every such call is an error"] = None


def _aggregate(c: Cursor, word: str) -> Expression:
    """The variable that stands for an aggregate; the cursor collects the aggregates for the Group node."""
    if c.aggregates is None:
        c.fail("an expression without aggregates", message=f"the aggregate {word} cannot stand here")
    c.i += 1
    c.expect("(")
    distinct = c.accept_word("DISTINCT")
    argument: Expression | None = None
    noted, c.aggregates = c.aggregates, None
    if word == "COUNT" and c.accept("*"):
        pass
    else:
        argument = expression(c)
    c.aggregates = noted
    separator = " "
    if word == "GROUP_CONCAT" and c.accept(";"):
        c.expect_word("SEPARATOR")
        c.expect("=")
        separator = c.string()
    c.expect(")")
    aggregate = Aggregate(word, argument, distinct, separator)
    if aggregate not in noted:
        noted[aggregate] = c.new_variable()
    return noted[aggregate]


def constraint(c: Cursor) -> Expression:
    """What may follow FILTER, HAVING and ORDER BY: a bracketted expression or a call."""
    token = c.toks[c.i]
    if token == "(":
        return bracketted(c)
    if token[:1].isalpha() and ":" not in token and token.upper() not in {"TRUE", "FALSE"}:
        return call(c, token.upper())
    if c.at_iri():
        name = iri_or_call(c)
        if isinstance(name, Call):
            return name
    c.fail("'(' or a function call")
