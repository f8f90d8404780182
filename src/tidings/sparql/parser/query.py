"""The four query forms and their solution modifiers (section 18.2.4)."""

from msgspec.structs import replace

from tidings.model.terms import Term, Var
from tidings.sparql.algebra import (
    BGP,
    UNIT,
    WHOLE,
    Aggregate,
    Ask,
    Construct,
    Dataset,
    Describe,
    Distinct,
    Expression,
    Extend,
    Filter,
    Group,
    Node,
    OrderBy,
    Project,
    Query,
    Select,
    Slice,
    TriplePattern,
    conjunction,
    join,
    operands,
    visible,
)
from tidings.sparql.parser import expressions, patterns
from tidings.sparql.parser.cursor import Cursor
from tidings.sparql.parser.triples import at_triple, triples_block


def parse_query(text: str, base: str | None = None, dataset: Dataset | None = None) -> Query:
    """The algebra of a query. A dataset given with the request replaces FROM clauses (SPARQL Protocol, 2.1.4)."""
    return read_query(Cursor(text, base), dataset)


def read_query(c: Cursor, dataset: Dataset | None = None) -> Query:
    """A query from its first token to its last."""
    with c.nesting():
        return _read_query(c, dataset)


def _read_query(c: Cursor, dataset: Dataset | None) -> Query:
    c.read_prologue()
    query: Query
    match c.keyword():
        case "SELECT":
            query = _select(c, dataset)
        case "ASK":
            c.i += 1
            seen = _dataset(c, dataset)
            query = Ask(_modified(c, _where(c)), seen)
        case "CONSTRUCT":
            query = _construct(c, dataset)
        case "DESCRIBE":
            query = _describe(c, dataset)
        case _:
            c.fail("SELECT, ASK, CONSTRUCT or DESCRIBE")
    if c.toks[c.i]:
        c.fail("the end of the query")
    return replace(query, warnings=tuple(c.warnings)) if c.warnings else query


def _dataset(c: Cursor, given: Dataset | None) -> Dataset:
    default: list[Term] = []
    named: list[Term] = []
    while c.accept_word("FROM"):
        (named if c.accept_word("NAMED") else default).append(c.iri())
    if given is not None:
        return given
    return Dataset(tuple(default), tuple(named)) if default or named else WHOLE


def _where(c: Cursor) -> Node:
    c.accept_word("WHERE")
    return patterns.group(c)


# -- SELECT -----------------------------------------------------------------------------------------------------


class _Selection:
    """The SELECT clause as read, before its pattern is known."""

    __slots__ = ("aggregates", "distinct", "items", "star")

    def __init__(self) -> None:
        self.distinct = False
        self.star: int | None = None
        """Where the asterisk stands, if there is one."""
        self.items: list[tuple[Var, Expression | None, int]] = []
        self.aggregates: dict[Aggregate, Var] = {}


def _select(c: Cursor, given: Dataset | None) -> Select:
    selection = _selection(c)
    dataset = _dataset(c, given)
    node, variables = _selected(c, selection, _where(c))
    return Select(node, variables, dataset)


def sub_select(c: Cursor) -> Node:
    outer = c.aggregates
    node, _ = _selected(c, _selection(c), _where(c))
    c.aggregates = outer
    return node


def _selection(c: Cursor) -> _Selection:
    c.expect_word("SELECT")
    selection = _Selection()
    selection.distinct = c.accept_word("DISTINCT")
    if not selection.distinct:
        c.accept_word("REDUCED")  # it allows dropping duplicates (18.2.5.4); Tidings keeps all of them
    if c.accept("*"):
        selection.star = c.i - 1
        return selection
    c.aggregates = selection.aggregates
    while c.toks[c.i] == "(" or c.toks[c.i][:1] in {"?", "$"}:
        selection.items.append(_selected_item(c))
    c.aggregates = None
    if not selection.items:
        c.fail("a variable, '(' or '*'")
    return selection


def _selected_item(c: Cursor) -> tuple[Var, Expression | None, int]:
    at = c.i
    if not c.accept("("):
        return c.variable(), None, at
    value = expressions.expression(c)
    c.expect_word("AS")
    at = c.i
    variable = c.variable()
    c.expect(")")
    return variable, value, at


def _selected(c: Cursor, selection: _Selection, pattern: Node) -> tuple[Node, tuple[Var, ...]]:
    """Grouping, HAVING, VALUES, SELECT expressions, ORDER BY, projection, DISTINCT and slice, in that order."""
    node, grouped, order, window = _modifiers(c, pattern, selection.aggregates)
    if grouped and selection.star is not None:
        c.fail("variables", at=selection.star, message="SELECT * cannot be combined with grouping")
    node, variables = _extended(c, selection, node, grouped)
    if order:
        node = OrderBy(node, order)
    node = Project(node, variables)
    if selection.distinct:
        node = Distinct(node)
    return _sliced(node, window), variables


def _extended(c: Cursor, selection: _Selection, node: Node, grouped: bool) -> tuple[Node, tuple[Var, ...]]:
    if selection.star is not None:
        return node, tuple(variable for variable in visible(node) if not variable.startswith("?:"))
    scope = set(visible(node))
    variables: dict[Var, None] = {}
    for variable, value, at in selection.items:
        if value is None:
            if grouped and variable not in scope:
                c.fail("a grouped variable", at=at, message=f"{variable} is neither grouped nor aggregated")
        else:
            if variable in scope:
                c.fail("a new variable", at=at, message=f"{variable} is already in scope and cannot be assigned")
            if grouped:
                _check_grouped(c, value, scope, at)
            node = Extend(node, variable, value)
            scope.add(variable)
        if variable in variables and value is not None:
            c.fail("a new variable", at=at, message=f"{variable} is selected twice")
        variables[variable] = None
    return node, tuple(variables)


def _check_grouped(c: Cursor, value: Expression, scope: set[Var], at: int) -> None:
    if isinstance(value, str) and value[0] == "?" and value not in scope:
        c.fail("a grouped variable", at=at, message=f"{value} is neither grouped nor aggregated")
    for part in operands(value):
        _check_grouped(c, part, scope, at)


def _group_by(c: Cursor, node: Node) -> tuple[Node, list[Var] | None]:
    if not c.accept_word("GROUP"):
        return node, None
    c.expect_word("BY")
    noted, c.aggregates = c.aggregates, None
    keys: list[Var] = []
    while not keys or c.toks[c.i][:1] in {"?", "$"} or _at_condition(c):
        if c.toks[c.i][:1] in {"?", "$"}:
            keys.append(c.variable())
            continue
        variable, value = _group_condition(c, node)
        if variable != value:
            node = Extend(node, variable, value)
        keys.append(variable)
    c.aggregates = noted
    return node, list(dict.fromkeys(keys))


def _group_condition(c: Cursor, node: Node) -> tuple[Var, Expression]:
    if c.toks[c.i] != "(":
        return c.new_variable(), expressions.constraint(c)
    c.i += 1
    value = expressions.expression(c)
    if isinstance(value, str) and value[0] == "?" and c.accept(")"):
        return value, value  # section 11.4: such a variable may be projected
    variable = c.new_variable()
    if c.accept_word("AS"):
        at = c.i
        variable = c.variable()
        if variable in visible(node):
            c.fail("a new variable", at=at, message=f"{variable} is already in scope and cannot be assigned")
    c.expect(")")
    return variable, value


def _at_call(c: Cursor) -> bool:
    """Whether a function call starts here, rather than the next clause."""
    token = c.toks[c.i]
    following = c.toks[c.i + 1] if token else ""
    if token.upper() in {"HAVING", "ORDER", "LIMIT", "OFFSET", "VALUES"}:
        return False
    return following == "(" and (token[:1].isalpha() or c.at_iri())


def _at_condition(c: Cursor) -> bool:
    return c.toks[c.i] == "(" or _at_call(c) or c.keyword() in {"NOT", "EXISTS"}


def _having(c: Cursor) -> Expression | None:
    if not c.accept_word("HAVING"):
        return None
    found = [expressions.constraint(c)]
    while _at_condition(c):
        found.append(expressions.constraint(c))
    return conjunction(found)


def _order_by(c: Cursor) -> tuple[tuple[Expression, bool], ...]:
    if not c.accept_word("ORDER"):
        return ()
    c.expect_word("BY")
    found: list[tuple[Expression, bool]] = []
    while not found or c.keyword() in {"ASC", "DESC"} or c.toks[c.i][:1] in {"?", "$"} or _at_condition(c):
        if c.keyword() in {"ASC", "DESC"}:
            descending = c.keyword() == "DESC"
            c.i += 1
            found.append((expressions.bracketted(c), descending))
        elif c.toks[c.i][:1] in {"?", "$"}:
            found.append((c.variable(), False))
        else:
            found.append((expressions.constraint(c), False))
    return tuple(found)


def _window(c: Cursor) -> tuple[int, int | None]:
    """OFFSET and LIMIT, in either order, each at most once."""
    found: dict[str, int] = {}
    while c.keyword() in {"LIMIT", "OFFSET"}:
        word = c.keyword()
        if word in found:
            c.fail("the end of the query")
        c.i += 1
        token = c.toks[c.i]
        if not (token.isascii() and token.isdigit()):
            c.fail("a whole number")
        found[word] = int(token)
        c.i += 1
    return found.get("OFFSET", 0), found.get("LIMIT")


def _sliced(node: Node, window: tuple[int, int | None]) -> Node:
    return node if window == (0, None) else Slice(node, *window)


def _modified(c: Cursor, node: Node) -> Node:
    """The solution modifiers of ASK, CONSTRUCT and DESCRIBE, which have no projection."""
    node, _, order, window = _modifiers(c, node, {})
    if order:
        node = OrderBy(node, order)
    return _sliced(node, window)


def _modifiers(
    c: Cursor, node: Node, aggregates: dict[Aggregate, Var]
) -> tuple[Node, bool, tuple[tuple[Expression, bool], ...], tuple[int, int | None]]:
    """The modifiers after a pattern: the grouped and filtered pattern, whether it is grouped, ORDER BY, the window."""
    c.aggregates = aggregates
    node, keys = _group_by(c, node)
    having = _having(c)
    order = _order_by(c)
    c.aggregates = None
    window = _window(c)
    grouped = keys is not None or bool(aggregates)
    if grouped:
        node = Group(node, tuple(keys or ()), tuple((variable, found) for found, variable in aggregates.items()))
    if having is not None:
        node = Filter(having, node)
    if c.accept_word("VALUES"):
        node = join(node, patterns.values(c))
    return node, grouped, order, window


# -- CONSTRUCT and DESCRIBE -------------------------------------------------------------------------------------


def _construct(c: Cursor, given: Dataset | None) -> Construct:
    c.expect_word("CONSTRUCT")
    if c.toks[c.i] == "{":
        template = _template(c)
        c.labels.clear()
        dataset = _dataset(c, given)
        return Construct(template, _modified(c, _where(c)), dataset)
    dataset = _dataset(c, given)
    c.expect_word("WHERE")
    start = c.i
    template = _template(c)
    c.i = start  # read the same tokens again, now as a pattern, in which blank nodes are variables
    c.labels.clear()
    pattern = _plain_pattern(c)
    return Construct(template, _modified(c, pattern), dataset)


def _template(c: Cursor) -> tuple[TriplePattern, ...]:
    triples: list[TriplePattern] = []
    with c.outside_patterns():
        c.expect("{")
        if at_triple(c):
            triples_block(c, triples, None)
        c.expect("}")
    return tuple(triples)


def _plain_pattern(c: Cursor) -> Node:
    triples: list[TriplePattern] = []
    c.expect("{")
    if at_triple(c):
        triples_block(c, triples, None)
    c.expect("}")
    return BGP(tuple(triples))


def _describe(c: Cursor, given: Dataset | None) -> Describe:
    c.expect_word("DESCRIBE")
    star = c.accept("*")
    targets: list[str] = []
    while not star and (c.toks[c.i][:1] in {"?", "$"} or c.at_iri()):
        targets.append(c.variable() if c.toks[c.i][:1] in {"?", "$"} else c.iri())
    if not star and not targets:
        c.fail("a variable, an IRI or '*'")
    dataset = _dataset(c, given)
    has_pattern = c.toks[c.i] == "{" or c.keyword() == "WHERE"
    node = _modified(c, _where(c) if has_pattern else UNIT)
    if star:
        targets = [variable for variable in visible(node) if not variable.startswith("?:")]
    return Describe(tuple(targets), node, dataset)
