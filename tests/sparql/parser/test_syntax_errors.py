"""What is refused, where, and what would have been welcome there."""

import pytest

from tidings.model.errors import SparqlSyntaxError
from tidings.sparql.nesting import DEEPEST
from tidings.sparql.parser import parse_query, parse_update


def refusal_of_query(text: str) -> SparqlSyntaxError:
    with pytest.raises(SparqlSyntaxError) as refusal:
        parse_query(text)
    return refusal.value


def refusal_of_update(text: str) -> SparqlSyntaxError:
    with pytest.raises(SparqlSyntaxError) as refusal:
        parse_update(text)
    return refusal.value


@pytest.mark.parametrize(
    ("text", "line", "column", "expected"),
    [
        ("", 1, 1, "SELECT, ASK, CONSTRUCT or DESCRIBE"),
        ("SELECT {}", 1, 8, "a variable, '(' or '*'"),
        ("SELECT * WHERE", 1, 15, "'{'"),
        ("SELECT * {\n  ?s ?p\n}", 3, 1, "a term"),
        ("SELECT *\n{ ?s ?p ?o . . }", 2, 14, "a graph pattern or '}'"),
        ("SELECT * { ?s 'p' ?o }", 1, 15, "a predicate"),
        ("SELECT * { ?s ^?p ?o }", 1, 16, "a property path"),
        ("SELECT * { ?s x:p ?o }", 1, 15, "a declared prefix"),
        ("SELECT * { OPTIONAL ?s }", 1, 21, "'{'"),
        ("SELECT * {\r\n\t# a comment\n\tFILTER ?x }", 3, 9, "'(' or a function call"),
        ("SELECT (1 ?x) {}", 1, 11, "AS"),
        ("SELECT * {} LIMIT -1", 1, 19, "a whole number"),
        ("SELECT * {} LIMIT 1 LIMIT 2", 1, 21, "the end of the query"),
        ("SELECT * { ?s ?p ?o } extra", 1, 23, "the end of the query"),
        ("SELECT * { FILTER(STR()) }", 1, 19, "1 argument"),
        ("SELECT * { FILTER(NOPE(1)) }", 1, 19, "an expression"),
        ("SELECT * { ?s ?p 'abc }", 1, 18, "a string"),
        ("SELECT * { GRAPH 'g' {} }", 1, 18, "an IRI"),
        ("PREFIX x <urn:> SELECT * {}", 1, 8, "a prefix ending in ':'"),
        ("BASE x:y SELECT * {}", 1, 6, "an IRI in angle brackets"),
    ],
)
def test_an_error_says_where_and_what_was_expected(text: str, line: int, column: int, expected: str) -> None:
    error = refusal_of_query(text)
    assert (error.line, error.column, error.expected) == (line, column, expected)
    assert str(error).startswith(f"line {line}, column {column}: ")


def test_an_error_shows_the_line_with_a_caret() -> None:
    error = refusal_of_query("SELECT *\nWHERE {\n\t?s ?p .\n}")
    assert error.excerpt() == " ?s ?p .\n       ^"


def test_an_error_is_one_code_for_programs() -> None:
    body = refusal_of_query("SELECT * { ").to_json()
    assert body["error"] == "sparql_syntax_error"
    assert body["status_code"] == 400
    assert (body["line"], body["column"]) == (1, 12)


@pytest.mark.parametrize(
    "text",
    [
        # Section 18.2.1 and the notes of 19.8: what may be assigned where
        "SELECT * { ?x ?p ?o BIND(1 AS ?x) }",
        "SELECT * { { ?x ?p ?o } BIND(1 AS ?x) }",
        "SELECT * { OPTIONAL { ?x ?p ?o } BIND(1 AS ?x) }",
        "SELECT * { GRAPH ?x {} BIND(1 AS ?x) }",
        "SELECT * { BIND(1 AS ?x) BIND(2 AS ?x) }",
        "SELECT * { VALUES ?x { 1 } BIND(2 AS ?x) }",
        "SELECT (1 AS ?x) { ?x ?p ?o }",
        "SELECT (1 AS ?x) (2 AS ?x) {}",
        "SELECT ?x (1 AS ?x) {}",
        "SELECT ?x { ?x ?p ?y } GROUP BY (?x AS ?y)",
        # 11.4: what may be selected of groups
        "SELECT * { ?x ?p ?o } GROUP BY ?x",
        "SELECT * { ?x ?p ?o } HAVING (COUNT(*) > 1)",
        "SELECT ?o { ?x ?p ?o } GROUP BY ?x",
        "SELECT (?o AS ?z) { ?x ?p ?o } GROUP BY ?x",
        "SELECT (STR(?o) AS ?z) { ?x ?p ?o } GROUP BY ?x",
        "SELECT (COUNT(?o) AS ?z) ?o { ?x ?p ?o }",
        "SELECT (COUNT(?x) + ?o AS ?z) { ?x ?p ?o }",
        "SELECT ?x { ?x ?p ?y } GROUP BY (?x + 1)",
        "SELECT (COUNT(COUNT(?o)) AS ?z) { ?x ?p ?o }",
        "SELECT * { FILTER(COUNT(?x) > 1) }",
        "SELECT * { BIND(SUM(?x) AS ?y) }",
        "SELECT ?x { ?x ?p ?o } GROUP BY COUNT(?o)",
        # 10: VALUES
        "SELECT * { VALUES (?x ?y) { (1) } }",
        "SELECT * { VALUES (?x ?y) { (1 2 3) } }",
        "SELECT * { VALUES ?x { ?y } }",
        "SELECT * { VALUES ?x { _:b } }",
        "SELECT * { VALUES ?x { (1) } }",
        "SELECT * { VALUES (?x ?x) { (1 2) } }",
        # 19.6: a blank node label belongs to one basic graph pattern
        "SELECT * { _:a ?p ?o OPTIONAL { ?x ?y ?z } _:a ?q ?r }",
        "SELECT * { _:a ?p ?o { _:a ?q ?r } }",
        "SELECT * { { _:a ?p ?o } UNION { _:a ?q ?r } }",
        "SELECT * { _:a ?p ?o FILTER EXISTS { _:a ?q ?r } }",
        "SELECT * { _:a ?p ?o BIND(1 AS ?x) _:a ?q ?r }",
        "SELECT * { GRAPH <g> { _:a ?p ?o } GRAPH <g> { _:a ?q ?r } }",
        # the grammar
        "SELECT * { [] }",
        "SELECT * { () }",
        "SELECT * { ?s ?p* ?o }",
        "SELECT * { ?s _:b ?o }",
        "SELECT * { ?s A ?o }",
        "SELECT * { FILTER(?a = ?b = ?c) }",
        "SELECT * { FILTER(!!?a) }",
        "SELECT * { FILTER(_:b) }",
        "SELECT * { FILTER(BOUND(1)) }",
        "SELECT * { SELECT * { ?s ?p ?o } ?s ?p ?o }",
        "SELECT * { ?s ?p 'a\nb' }",
        "SELECT * { ?s ?p '\\q' }",
        "SELECT * { ?s ?p '\\uD800' }",
        "SELECT * { ?s ?p '\\U00110000' }",
        "SELECT * { ?s ?p <a b> }",
        "SELECT * { ?s ?p <a\\u0020b> }",
        "SELECT DISTINCT REDUCED * {}",
        "CONSTRUCT { ?s <p>/<q> ?o } WHERE {}",
        "CONSTRUCT WHERE { ?s ?p ?o FILTER(1) }",
        "DESCRIBE",
        "SELECT * {} ;",
    ],
)
def test_a_query_that_breaks_a_rule_is_refused(text: str) -> None:
    assert refusal_of_query(text).expected


@pytest.mark.parametrize(
    "text",
    [
        "INSERT DATA { ?x <p> 1 }",
        "INSERT DATA { GRAPH ?g { <s> <p> 1 } }",
        "DELETE DATA { <s> <p> ?x }",
        "DELETE DATA { _:b <p> 1 }",
        "DELETE DATA { [] <p> 1 }",
        "DELETE DATA { <s> <p> (1) }",
        "DELETE WHERE { _:b <p> 1 }",
        "DELETE { [] <p> 1 } WHERE {}",
        "DELETE { <s> <p> (1 2) } WHERE {}",
        "INSERT DATA { 'a' <p> 1 }",  # no RDF triple has a literal for its subject
        "DELETE DATA { 'a' <p> 1 }",
        "INSERT DATA { _:b <p> 1 } ; INSERT DATA { _:b <p> 1 }",
        "INSERT DATA { _:b <p> 1 } ; INSERT { <s> <p> 1 } WHERE {} ; INSERT DATA { _:b <p> 1 }",
        "DELETE WHERE { ?s <p>/<q> ?o }",
        "DELETE WHERE { ?s ?p ?o FILTER(1) }",
        "INSERT DATA { GRAPH <g> { GRAPH <h> { <s> <p> 1 } } }",
        "INSERT DATA { <s> <p> 1 } INSERT DATA { <s> <p> 2 }",
        "INSERT DATA {} ;; INSERT DATA {}",
        "WITH <g> DELETE WHERE { ?s ?p ?o }",
        "WITH <g> INSERT DATA { <s> <p> 1 }",
        "INSERT {} DELETE {} WHERE {}",
        "INSERT { GRAPH _:g { ?s ?p ?o } } WHERE {}",
        "LOAD <a> INTO <g>",
        "CLEAR <g>",
        "CREATE <g>",
        "COPY <a> <b>",
        "ADD ALL TO <b>",
        "SELECT * {}",
    ],
)
def test_an_update_that_breaks_a_rule_is_refused(text: str) -> None:
    assert refusal_of_update(text).expected


DEEP = 2 * DEEPEST
"""Whatever else has run in this process, and let it follow more."""


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * " + "{" * DEEP + "}" * DEEP,
        "SELECT * { FILTER(" + "(" * DEEP + "1" + ")" * DEEP + ") }",
        "SELECT * " + "{ OPTIONAL " * DEEP + "{}" + "}" * DEEP,
        "SELECT * " + "{ SELECT * " * DEEP + "{}" + "}" * DEEP,
        "SELECT * " + "{ FILTER EXISTS " * DEEP + "{}" + "}" * DEEP,
        "SELECT * { ?s " + "(" * DEEP + "<p>" + ")" * DEEP + " ?o }",
        "SELECT * { ?s ?p " + "(" * DEEP + ")" * DEEP + " }",
        "SELECT * { ?s ?p " + "[ ?p " * DEEP + "1" + "]" * DEEP + " }",
    ],
)
def test_nesting_without_end_is_a_syntax_error(text: str) -> None:
    assert refusal_of_query(text).code == "sparql_syntax_error"
