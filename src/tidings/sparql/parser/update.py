"""SPARQL 1.1 Update: the operations, and their sequence in one request."""

from typing import cast

from msgspec.structs import replace

from tidings.model.terms import DEFAULT_GRAPH, Quad, Term
from tidings.sparql.algebra import (
    BGP,
    UNIT,
    WHOLE,
    Clear,
    Create,
    Dataset,
    DeleteData,
    Graph,
    GraphTarget,
    InsertData,
    Load,
    Modify,
    Node,
    Operation,
    QuadPattern,
    Transfer,
    TriplePattern,
    join,
)
from tidings.sparql.parser import patterns
from tidings.sparql.parser.cursor import Cursor
from tidings.sparql.parser.triples import at_triple, triples_block


def parse_update(text: str, base: str | None = None, dataset: Dataset | None = None) -> tuple[Operation, ...]:
    """The operations of a request. A dataset given with the request stands in for USING (SPARQL Protocol, 2.2.3)."""
    return read_update(Cursor(text, base), dataset)


def read_update(c: Cursor, dataset: Dataset | None = None) -> tuple[Operation, ...]:
    """A request from its first token to its last."""
    with c.nesting():
        return _read_update(c, dataset)


def _read_update(c: Cursor, dataset: Dataset | None) -> tuple[Operation, ...]:
    operations: list[Operation] = []
    c.read_prologue()
    while c.toks[c.i]:
        c.warnings = {}
        operation = _operation(c, dataset)
        if c.warnings and isinstance(operation, Modify):
            operation = replace(operation, warnings=tuple(c.warnings))
        operations.append(operation)
        if c.toks[c.i] != ";":
            break
        c.i += 1
        c.read_prologue()
    if c.toks[c.i]:
        c.fail("';' or the end of the request")
    return tuple(operations)


def _operation(c: Cursor, dataset: Dataset | None) -> Operation:
    at = c.i
    word = c.keyword()
    c.i += 1
    match word:
        case "INSERT":
            if c.accept_word("DATA"):
                return InsertData(_data(c, blanks=True))
            return _modify(c, at, None, dataset)
        case "DELETE":
            if c.accept_word("DATA"):
                return DeleteData(_data(c, blanks=False))
            if c.accept_word("WHERE"):
                return _delete_where(c, dataset)
            return _modify(c, at, None, dataset)
        case "WITH":
            graph = c.iri()
            return _modify(c, c.i, graph, dataset)
        case "LOAD":
            return _load(c)
        case "CLEAR" | "DROP":
            silent = c.accept_word("SILENT")
            return Clear(_target(c), silent)
        case "CREATE":
            silent = c.accept_word("SILENT")
            c.expect_word("GRAPH")
            return Create(c.iri(), silent)
        case "ADD" | "COPY" | "MOVE":
            silent = c.accept_word("SILENT")
            source = _graph_or_default(c)
            c.expect_word("TO")
            return Transfer(word, source, _graph_or_default(c), silent)
    c.i = at
    c.fail("an update operation such as INSERT, DELETE, LOAD or CLEAR")


# -- quads ------------------------------------------------------------------------------------------------------


def _quads(c: Cursor, graph: Term, *, variables: bool, blanks: bool) -> tuple[QuadPattern, ...]:
    """`{ triples  GRAPH g { triples } ... }`; the triples outside of GRAPH belong to `graph`."""
    found: list[QuadPattern] = []
    at = c.i
    with c.outside_patterns():
        c.expect("{")
        closed = True
        while not c.accept("}"):
            if at_triple(c):
                if not closed:
                    c.fail("'.' or '}'")
                _triples_into(c, graph, found)
                closed = c.toks[c.i - 1] == "."
            elif c.accept_word("GRAPH"):
                name = c.variable() if c.toks[c.i][:1] in {"?", "$"} else c.iri()
                c.expect("{")
                if at_triple(c):
                    _triples_into(c, name, found)
                c.expect("}")
                c.accept(".")
                closed = True
            else:
                c.fail("a triple, GRAPH or '}'")
    _check_quads(c, at, found, variables=variables, blanks=blanks)
    return tuple(found)


def _triples_into(c: Cursor, graph: str, found: list[QuadPattern]) -> None:
    triples: list[TriplePattern] = []
    triples_block(c, triples, None)
    found.extend([(*triple, graph) for triple in triples])


def _check_quads(c: Cursor, at: int, quads: list[QuadPattern], *, variables: bool, blanks: bool) -> None:
    if variables and blanks:
        return
    for quad in quads:
        if not variables and (quad[0][0] == '"' or quad[0][:2] in {"$s", "$x", "$n"}):
            c.fail("an IRI or a blank node", at=at, message="a literal cannot be the subject of DATA")
        for term in quad:
            if not variables and term[:1] == "?":
                c.fail("ground terms", at=at, message=f"the variable {term} cannot stand in DATA")
            if not blanks and term[:1] == "_":
                c.fail("no blank nodes", at=at, message="a blank node cannot stand in what is deleted")


def _data(c: Cursor, *, blanks: bool) -> tuple[Quad, ...]:
    """Quads without variables. A blank node label may be used in only one DATA block of a request."""
    at = c.i
    c.labels.clear()
    quads = _quads(c, DEFAULT_GRAPH, variables=False, blanks=blanks)
    for label in c.labels:
        if label in c.data_labels:
            c.fail("a new label", at=at, message=f"the blank node {label} is already used in another operation")
    c.data_labels.update(c.labels)
    return quads


# -- operations -------------------------------------------------------------------------------------------------


def _modify(c: Cursor, at: int, graph: Term | None, given: Dataset | None) -> Modify:
    """DELETE {} INSERT {} USING WHERE {}, with either template left out; `at` is where the templates start."""
    c.i = at
    c.labels.clear()
    home = DEFAULT_GRAPH if graph is None else graph
    delete: tuple[QuadPattern, ...] = ()
    insert: tuple[QuadPattern, ...] = ()
    has_delete = c.accept_word("DELETE")
    if has_delete:
        delete = _quads(c, home, variables=True, blanks=False)
    if c.accept_word("INSERT"):
        insert = _quads(c, home, variables=True, blanks=True)
    elif not has_delete:
        c.fail("DELETE or INSERT")
    using = _using(c)
    if given is not None:
        if using is not None or graph is not None:
            c.fail("no USING or WITH", at=at, message="the dataset is given twice: with the request and inside it")
        using = given
    if using is None:
        using = WHOLE if graph is None else Dataset((graph,), None)
    c.expect_word("WHERE")
    c.labels.clear()
    return Modify(delete, insert, patterns.group(c), using)


def _using(c: Cursor) -> Dataset | None:
    default: list[Term] = []
    named: list[Term] = []
    while c.accept_word("USING"):
        (named if c.accept_word("NAMED") else default).append(c.iri())
    return Dataset(tuple(default), tuple(named)) if default or named else None


def _delete_where(c: Cursor, given: Dataset | None) -> Modify:
    """The template is the pattern."""
    quads = _quads(c, DEFAULT_GRAPH, variables=True, blanks=False)
    by_graph: dict[str, list[TriplePattern]] = {}
    for s, p, o, g in quads:
        by_graph.setdefault(g, []).append((s, p, o))
    node: Node = UNIT
    for graph, triples in by_graph.items():
        block = BGP(tuple(triples))
        node = join(node, Graph(graph, block) if graph else block)
    return Modify(quads, (), node, given or WHOLE)


def _load(c: Cursor) -> Load:
    silent = c.accept_word("SILENT")
    source = c.iri()[1:-1]
    graph = DEFAULT_GRAPH
    if c.accept_word("INTO"):
        c.expect_word("GRAPH")
        graph = c.iri()
    return Load(source, graph, silent)


def _target(c: Cursor) -> GraphTarget:
    match c.keyword():
        case "DEFAULT" | "NAMED" | "ALL" as word:
            c.i += 1
            return cast(GraphTarget, word)
        case _:
            c.expect_word("GRAPH")
            return c.iri()


def _graph_or_default(c: Cursor) -> Term:
    if c.accept_word("DEFAULT"):
        return DEFAULT_GRAPH
    c.accept_word("GRAPH")
    return c.iri()
