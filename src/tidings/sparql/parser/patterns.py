"""Group graph patterns, translated to algebra as they are read (section 18.2.2)."""

from tidings.model.terms import Term, Var
from tidings.sparql.algebra import (
    BGP,
    UNIT,
    Expression,
    Extend,
    Filter,
    Graph,
    LeftJoin,
    Minus,
    Node,
    Service,
    TriplePattern,
    Union,
    Values,
    balanced,
    conjunction,
    join,
    visible,
)
from tidings.sparql.parser import expressions, query
from tidings.sparql.parser.cursor import Cursor
from tidings.sparql.parser.paths import merged
from tidings.sparql.parser.triples import at_triple, triples_block


def group(c: Cursor) -> Node:
    """GroupGraphPattern, from brace to brace."""
    node, condition = _group_parts(c)
    return node if condition is None else Filter(condition, node)


def _group_parts(c: Cursor) -> tuple[Node, Expression | None]:
    """The group without its filters, and its filters as one condition: OPTIONAL needs both separately."""
    c.expect("{")
    if c.toks[c.i].upper() == "SELECT":
        node = query.sub_select(c)
        c.expect("}")
        return node, None
    node = UNIT
    scope = _Scope()
    conditions: list[Expression] = []
    closed = True
    while not c.accept("}"):
        if at_triple(c):
            if not closed:
                c.fail("'.' or '}'")
            triples = _triples(c)
            node = merged(node, triples)
            scope.enter(triples)
            closed = c.toks[c.i - 1] == "."
            continue
        closed = True
        if c.accept_word("FILTER"):
            conditions.append(expressions.constraint(c))
        else:
            c.new_block()
            node = _element(c, node, scope)
            c.new_block()
        c.accept(".")
    return node, conjunction(conditions)


class _Scope:
    """The variables in scope after the elements so far of a group. They are collected lazily, once per element."""

    __slots__ = ("_found", "_recent")

    def __init__(self) -> None:
        self._found: dict[Var, None] = {}
        self._recent: list[Node] = []

    def enter(self, node: Node) -> None:
        self._recent.append(node)

    def __contains__(self, variable: Var) -> bool:
        for node in self._recent:
            self._found |= visible(node)
        self._recent.clear()
        return variable in self._found


def _triples(c: Cursor) -> Node:
    """Triples up to the end of a basic graph pattern, which a filter in between does not end."""
    triples: list[TriplePattern] = []
    paths: list[Node] = []
    triples_block(c, triples, paths)
    node: Node = BGP(tuple(triples))
    for walked in paths:
        node = merged(node, walked)
    return node


def _element(c: Cursor, before: Node, scope: _Scope) -> Node:
    """One element of a group that is neither triples nor a filter, applied to the elements before it."""
    word = c.toks[c.i].upper()
    match word:
        case "OPTIONAL":
            c.i += 1
            inner, condition = _group_parts(c)
            scope.enter(inner)
            return LeftJoin(before, inner, condition)
        case "MINUS":
            c.i += 1
            return Minus(before, group(c))
        case "BIND":
            bound = _bind(c, scope)
            scope.enter(Extend(UNIT, *bound))
            return Extend(before, *bound)
    element = _joined(c, word)
    scope.enter(element)
    return join(before, element)


def _joined(c: Cursor, word: str) -> Node:
    """An element that is joined with the elements before it, and otherwise independent of them."""
    match word:
        case "{":
            return _union(c)
        case "GRAPH":
            c.i += 1
            return Graph(_variable_or_iri(c), group(c))
        case "SERVICE":
            return _service(c)
        case "VALUES":
            c.i += 1
            return values(c)
    c.fail("a graph pattern or '}'")


def _union(c: Cursor) -> Node:
    alternatives = [group(c)]
    while c.accept_word("UNION"):
        c.new_block()
        alternatives.append(group(c))
    return alternatives[0] if len(alternatives) == 1 else balanced(alternatives, Union)


def _service(c: Cursor) -> Node:
    c.i += 1
    silent = c.accept_word("SILENT")
    name = _variable_or_iri(c)
    start = c.i
    lifted, c.lifted = c.lifted, None  # the endpoint gets the text as it is written, with its constants
    inner = group(c)
    c.lifted = lifted
    text = " ".join([f"BASE <{c.base}>", *c.prologue, "SELECT * WHERE", *c.toks[start : c.i]])
    return Service(name, inner, silent, text)


def _bind(c: Cursor, scope: _Scope) -> tuple[Var, Expression]:
    c.i += 1
    c.expect("(")
    value = expressions.expression(c)
    c.expect_word("AS")
    at = c.i
    variable = c.variable()
    if variable in scope:
        c.fail("a new variable", at=at, message=f"BIND cannot assign {variable}: it is already used in this group")
    c.expect(")")
    return variable, value


def _variable_or_iri(c: Cursor) -> str:
    token = c.toks[c.i]
    return c.variable() if token[:1] in {"?", "$"} else c.iri()


def values(c: Cursor) -> Values:
    """DataBlock: one variable without brackets, or several in brackets."""
    if c.toks[c.i] != "(":
        variable = c.variable()
        c.expect("{")
        column: list[tuple[Term | None, ...]] = []
        while not c.accept("}"):
            column.append((_data_value(c),))
        return Values((variable,), tuple(column))
    c.i += 1
    variables: dict[Var, None] = {}
    while not c.accept(")"):
        variable = c.variable()
        if variable in variables:
            c.fail("another variable", at=c.i - 1, message=f"VALUES names {variable} twice")
        variables[variable] = None
    c.expect("{")
    rows = []
    while not c.accept("}"):
        rows.append(_data_row(c, len(variables)))
    return Values(tuple(variables), tuple(rows))


def _data_row(c: Cursor, width: int) -> tuple[Term | None, ...]:
    at = c.i
    c.expect("(")
    row = []
    while not c.accept(")"):
        row.append(_data_value(c))
    if len(row) != width:
        c.fail(f"{width} values", at=at, message=f"this row of VALUES has {len(row)} values for {width} variables")
    return tuple(row)


def _data_value(c: Cursor) -> Term | None:
    if c.accept_word("UNDEF"):
        return None
    at = c.i
    term = c.plain_term()
    if term[0] == "?":
        c.fail("an IRI, a literal or UNDEF", at=at)
    return term
