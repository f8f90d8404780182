"""Queries over a DataFrame of quads give what the engine gives on a store of the same quads."""

from typing import get_args

import pytest

from strategies.data import EX, GRAPHS, PREFIX, ex
from tidings.model.access import Graphs
from tidings.model.terms import XSD, Quad
from tidings.sparql.algebra import Expression, Node, Service, every_expression
from tidings.sparql.parser import parse_query

pytest.importorskip("pyspark")

from pyspark.errors.utils import is_debugging_enabled
from pyspark.sql import SparkSession

from spark.questions import check, expected, parts, table
from tidings.spark.sparql.errors import NotCompilable
from tidings.spark.sparql.query import ask, run

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("unhurried")]


# -- every construct --------------------------------------------------------------------------------------------


def typed(text: str, kind: str) -> str:
    return f'"{text}"^^<{XSD}{kind}>'


TERMS = (
    *(typed(text, "integer") for text in ("1", "01", "-7", "20")),
    *(typed(text, "decimal") for text in ("1.0", "1.50", "-0.5")),
    *(typed(text, "double") for text in ("1.5E0", "NaN", "INF", "-INF", "1e-3")),
    *(typed(text, "dateTime") for text in ("2024-02-29T23:30:00Z", "2024-03-01T00:30:00+01:00", "2024-02-29T23:30:00")),
    *(typed(text, "date") for text in ("2024-02-29", "2024-03-01Z")),
    *(typed(text, "boolean") for text in ("true", "0", "nonsense")),
    *(typed("P1D", "dayTimeDuration"), typed("nonsense", "integer"), f'"x"^^<{EX}type>'),
    *('""', '"s"', '"S"', '"st\\nre\\"et\\\\"', '"été"', '"😀b"', '"chat"@fr', '"Chat"@FR-be', '"s"@en'),
    *(ex("a"), ex("s"), "_:b"),
)
VARIED: list[Quad] = [
    *((ex(f"n{number}"), ex("v"), term, "") for number, term in enumerate(TERMS)),
    *((ex(f"n{number}"), ex("next"), ex(f"n{number + 1}"), "") for number in range(0, len(TERMS), 2)),
    *((ex(f"n{number}"), ex("kind"), ex(f"k{number % 3}"), "") for number in range(len(TERMS))),
    *((ex("a"), ex("v"), typed(str(number), "integer"), ex("g")) for number in range(3)),
    *((ex("b"), ex("v"), typed(str(number), "integer"), ex("h")) for number in range(2)),
    (ex("a"), ex("likes"), ex("a"), ex("g")),
    (ex("a"), ex("likes"), ex("b"), ex("h")),
    *((ex("c"), ex("likes"), other, "") for other in (ex("c"), ex("g"), ex("a"))),
    (ex("g"), ex("likes"), ex("b"), ""),
    (ex("c"), ex("likes"), ex("h"), ex("h")),
    (ex("b"), ex("likes"), ex("b"), ex("h")),
    (ex("c"), ex("v"), typed("0", "integer"), ex("h")),
]

ONLY_G, NOT_G = Graphs(names=frozenset((ex("g"),))), Graphs(names=frozenset(("", ex("h"))))
BY_PREFIX = Graphs(names=frozenset(("",)), prefixes=(f"{EX}g",))

FUNCTIONS = (
    *("STR(?o)", "LANG(?o)", "DATATYPE(?o)", "ISIRI(?o)", "ISBLANK(?o)", "ISLITERAL(?o)", "ISNUMERIC(?o)"),
    *("STRLEN(?o)", "UCASE(?o)", "LCASE(?o)", "SUBSTR(?o, 2)", "ENCODE_FOR_URI(?o)", 'CONTAINS(?o, "s")'),
    *('STRSTARTS(?o, "s")', 'STRSTARTS(STR(?o), "http://")', 'STRENDS(?o, "t")', 'STRBEFORE(?o, "a")'),
    *('CONCAT(?o, "!")', 'REGEX(STR(?o), "^[s-z]", "i")', 'REPLACE(?o, "s", "z")', 'LANGMATCHES(LANG(?o), "fr")'),
    *("YEAR(?o)", "MONTH(?o)", "DAY(?o)", "HOURS(?o)", "SECONDS(?o)", "TZ(?o)", "TIMEZONE(?o)", "NOW()"),
    *("?o + 1", "?o - 1.5", "?o * 2e0", "1 / ?o", "-?o", "+?o", "ABS(?o)", "ROUND(?o)", "MD5(STR(?o))"),
    *("?o = 1", "?o != 1.0", "?o < 2", "?o >= 1.5", '?o = "s"', '?o <= "t"', "?o = :a", "?o != :a", ":a = ?s"),
    *('?o < "2024-03-01T00:00:00Z"^^xsd:dateTime', '?o = "2024-02-29"^^xsd:date', "?o = ?o", "?o = ?unbound"),
    *('SAMETERM(?o, "chat"@FR)', "SAMETERM(?o, 1)", "SAMETERM(?s, ?o)", '?o = "chat"@FR', "?o IN (1, :a)"),
    *("?o IN (:a, :s)", '?o NOT IN ("s", 1)', "?s NOT IN (:a)", "?o && true", "?o || false", "!?o"),
    *("COALESCE(?unbound, ?o)", "COALESCE(1 / ?o, :a)", "IF(?o, 1, 2)", "IF(ISIRI(?o), ?o, :b)"),
    *("ISIRI(?o) && ?o = :a", "ISIRI(?o) || 1 / 0", "xsd:integer(?o)", "xsd:string(?o)", "IRI(?o)", "1 + 1"),
    *('STRDT(?o, xsd:integer)', 'STRLANG(?o, "de")', "?o = 1 || EXISTS { ?s :next ?n }"),
)  # fmt: skip
AGGREGATES = " ".join(
    f"({function} AS ?a{number})"
    for number, function in enumerate((
        *("COUNT(?o)", "COUNT(DISTINCT ?k)", "SUM(?o)", "AVG(?o)", "MIN(?o)", "MAX(?o)", "SAMPLE(?o)"),
        *('GROUP_CONCAT(?o; SEPARATOR="|")', "SUM(DISTINCT ?o)", "GROUP_CONCAT(DISTINCT STR(?o))"),
    ))
)  # fmt: skip
PATTERNS = (
    "SELECT * { ?s :next ?n . ?n :v ?o . ?n :kind ?k }",
    "SELECT * { ?s ?p ?s }",
    "SELECT * { ?s !(:next|^:v) ?o }",
    "SELECT * { ?s ^:next/:v ?o }",
    "SELECT * { ?s :v ?o OPTIONAL { ?s :next ?n . ?n :v ?x FILTER(?x > ?o) } }",
    "SELECT * { ?s :v ?o OPTIONAL { ?s :next ?n FILTER(ISIRI(?o)) } }",
    "SELECT * { ?s :v ?o OPTIONAL { ?o :v ?n } OPTIONAL { ?s :next ?n } }",
    "SELECT * { ?s :v ?o OPTIONAL { ?o :v ?n } OPTIONAL { ?s :next ?n FILTER(STRLEN(STR(?n)) > 1) } }",
    "SELECT * { { ?s :v 1 } UNION { ?n :v ?o FILTER(?o > 1) } }",
    "SELECT * { ?s :v ?o MINUS { ?s :next ?n } }",
    "SELECT * { { ?s :v ?o } UNION { ?x :next ?s } MINUS { { ?s :kind :k1 } UNION { ?o :kind ?x } } }",
    "SELECT * { { ?s :kind :k1 } UNION { ?o :kind :k2 } MINUS { ?o :kind :k2 } }",
    "SELECT * { ?s :v ?o BIND(?o + 1 AS ?x) FILTER(?x > 2) }",
    "SELECT * { VALUES (?s ?o) { (:n0 UNDEF) (UNDEF 1) (:n9 2) } ?s :v ?o }",
    "SELECT * { VALUES () { () () } }",
    'SELECT * { VALUES ?o { "chat"@FR "none"@FR } ?s :v ?o }',
    'SELECT * { ?s :v "chat"@FR BIND("none"@X-y AS ?o) }',
    "SELECT DISTINCT ?k { ?s :kind ?k }",
    "SELECT REDUCED ?k { ?s :kind ?k } ORDER BY ?k",
    "SELECT * { ?s :kind :k1 { SELECT ?s (COUNT(*) AS ?n) { ?s :v ?o } GROUP BY ?s } }",
    "SELECT * { ?s :v ?o } ORDER BY ?s LIMIT 5 OFFSET 3",
    "SELECT * { ?s :kind :k0 { SELECT ?s { ?s :v ?o } ORDER BY DESC(?s) LIMIT 9 } }",
    "SELECT (COUNT(*) AS ?n) { }",
    "SELECT (COUNT(*) AS ?n) (SUM(?o) AS ?t) (MIN(?o) AS ?l) (SAMPLE(?o) AS ?x) { ?s :nothing ?o }",
    "SELECT (COUNT(DISTINCT *) AS ?n) { ?s :kind ?k OPTIONAL { ?s :next ?x } }",
    f"SELECT ?k {AGGREGATES} {{ ?s :kind ?k ; :v ?o }} GROUP BY ?k",
    f"SELECT ?k {AGGREGATES} {{ ?s :kind ?k ; :v ?o FILTER(ISNUMERIC(?o)) }} GROUP BY ?k",
    "SELECT ?k ?u (AVG(?o) AS ?x) { ?s :kind ?k ; :v ?o } GROUP BY ?k ?u HAVING (COUNT(*) > 9 && COUNT(?o + 1) > 1)",
    "SELECT ?y (COUNT(*) AS ?n) { ?s :v ?o } GROUP BY (DATATYPE(?o) AS ?y)",
    "SELECT * { GRAPH :g { ?s :v ?o } }",
    "SELECT * { GRAPH ?g { ?s :v ?o } }",
    "SELECT * { GRAPH ?g { ?s :likes ?g } }",
    "SELECT * { GRAPH ?g { } }",
    "SELECT * { GRAPH :nowhere { } }",
    "SELECT * { GRAPH :g { SELECT (COUNT(*) AS ?n) { ?s :nothing ?o } } }",
    "SELECT * { GRAPH ?g { SELECT (COUNT(*) AS ?n) (SUM(?o) AS ?t) { ?s :v ?o FILTER(?o > 1) } } }",
    "SELECT * { GRAPH ?g { ?s :v ?o OPTIONAL { ?s :likes ?x FILTER(?o < 2) } MINUS { ?s :v 1 } } }",
    "SELECT * { GRAPH ?g { SELECT ?s ?o { ?s :v ?o } ORDER BY DESC(?o) LIMIT 1 } }",
    "SELECT * { GRAPH ?g { ?s :v ?o GRAPH ?h { ?s :likes ?x } } }",
    "SELECT * { GRAPH ?g { VALUES ?s { :a :b } FILTER EXISTS { ?s :v ?o } GRAPH :h { ?s ?p ?o } } }",
    "SELECT * FROM :g FROM :h { ?s ?p ?o }",
    "SELECT * FROM :g FROM NAMED :h { ?s ?p ?o GRAPH ?g { ?x ?y ?z } }",
    "SELECT * FROM NAMED :h { GRAPH :g { ?s ?p ?o } }",
    "SELECT * { ?s :v ?o FILTER EXISTS { ?s :next ?n } }",
    "SELECT * { ?s :v ?o ; :kind ?k FILTER NOT EXISTS { ?n :v ?x ; :kind ?k FILTER(?x > ?o) } }",
    "SELECT * { ?s :v ?o FILTER EXISTS { OPTIONAL { ?s :next ?n } FILTER(BOUND(?n) || ?o = 1) } }",
    "SELECT * { ?s :kind ?k BIND(EXISTS { ?s :next ?n MINUS { ?n :kind :k1 } } AS ?e) FILTER(?e || ?k = :k0) }",
    "SELECT * { ?s :kind ?k FILTER(EXISTS { } && ?k = :k0 || EXISTS { ?s :next ?n }) }",
    "SELECT (SUM(IF(EXISTS { ?s :next ?n }, 1, 0)) AS ?x) { ?s :kind ?k } GROUP BY ?k ORDER BY EXISTS { ?k ?p ?o }",
    "SELECT * { ?s :likes ?o GRAPH ?s { } }",
    "SELECT * { ?s :v ?o FILTER EXISTS { GRAPH ?g { ?x :v ?o } } }",
    "SELECT * { ?s :kind ?k FILTER EXISTS { ?x :next ?n MINUS { ?n :kind ?k } MINUS { ?x :v ?w FILTER(?k = :k1) } } }",
)  # fmt: skip
PROLOGUE = f"{PREFIX}PREFIX xsd: <{XSD}>\n"


def test_every_function_gives_what_it_gives_in_the_engine(spark: SparkSession) -> None:
    """A dozen at once: every function is a column."""
    texts = []
    for start in range(0, len(FUNCTIONS), 12):
        columns = " ".join(f"({each} AS ?f{number})" for number, each in enumerate(FUNCTIONS[start : start + 12]))
        texts.append(f"{PROLOGUE}SELECT ?s ?o {columns} {{ ?s :v ?o }}")
    assert check(spark, [(text, VARIED) for text in texts]) == len(TERMS) * len(texts)


def test_every_condition_holds_where_it_does_in_the_engine(spark: SparkSession) -> None:
    tests = [each for each in FUNCTIONS if each[0] in "!:IS" or each.startswith(("?o ", "?s "))]
    texts = [f"{PROLOGUE}SELECT ?s {{ ?s :v ?o FILTER({test}) }}" for test in (*tests, "BOUND(?o)", "BOUND(?unbound)")]
    assert check(spark, [(text, VARIED) for text in texts]) > len(TERMS)


def test_every_construct_gives_what_it_gives_in_the_engine(spark: SparkSession) -> None:
    questions = [(PROLOGUE + text, VARIED) for text in PATTERNS]
    seen = {type(part) for text, _ in questions for part in parts(parse_query(text).pattern)}
    assert seen == {*get_args(Node)} - {Service}
    said = {type(each) for text, _ in questions for each in every_expression(parse_query(text).pattern)}
    said |= {type(each) for each in map(expression, FUNCTIONS)}
    assert said == {*get_args(Expression)}
    assert check(spark, questions) > 200


@pytest.mark.parametrize(
    ("readable", "turn"),
    [(ONLY_G, 1), (NOT_G, 0), (BY_PREFIX, 3), (Graphs.NONE, 2)],
    ids=["g", "not g", "prefix", "none"],
)
def test_every_construct_sees_the_graphs_that_may_be_read_and_no_others(
    spark: SparkSession, readable: Graphs, turn: int
) -> None:
    """Each of them once, with these or those graphs."""
    texts = [text for text in PATTERNS if any(word in text for word in ("GRAPH", "FROM", "COUNT", "EXISTS", "@FR"))]
    texts = texts[turn::4]
    rows = check(spark, [(PROLOGUE + text, VARIED) for text in texts], readable=readable)
    assert (rows > len(texts) // 2) is bool(readable)


def test_a_question_is_answered_from_the_graphs_that_may_be_read(spark: SparkSession) -> None:
    quads = table(spark, VARIED)
    for text, told in (
        ("ASK { GRAPH ?g { :b :v ?o } }", [True, False]),
        ("ASK { GRAPH :h { } }", [True, False]),
        ("ASK FROM :h { ?s ?p ?o }", [True, False]),
        ("ASK { ?s :kind ?k }", [True, False]),
        ("ASK { GRAPH :g { :a :likes :a } }", [True, True]),
    ):
        assert [ask(quads, PROLOGUE + text, readable=each) for each in (Graphs.ALL, ONLY_G)] == told, text


def expression(text: str) -> Expression:
    pattern = parse_query(f"{PROLOGUE}SELECT ?s {{ ?s :v ?o FILTER({text}) }}").pattern
    return next(every_expression(pattern))


def test_rows_come_in_the_order_asked_for(spark: SparkSession) -> None:
    quads = table(spark, VARIED)
    for text in (
        "SELECT ?o ?s { ?s :v ?o } ORDER BY ?o ?s",
        "SELECT ?s { ?s :v ?o } ORDER BY DESC(?o) ?s LIMIT 9 OFFSET 2",
        "SELECT ?o { ?s :kind ?k OPTIONAL { ?s :v ?o FILTER(?o > 0) } } ORDER BY DESC(?k) DESC(STR(?o))",
        "SELECT DISTINCT ?k { ?s :kind ?k ; :v ?o } ORDER BY DESC(?o) ?s LIMIT 2",
    ):
        _, frame = run(quads, PROLOGUE + text)
        assert [tuple(row) for row in frame.collect()] == expected(PROLOGUE + text, VARIED), text


def test_a_limit_without_an_order_takes_as_many_rows_as_there_are(spark: SparkSession) -> None:
    _, frame = run(table(spark, VARIED), f"{PREFIX}SELECT * {{ ?s :kind ?k }} LIMIT 4")
    assert frame.count() == 4


def test_nobody_asks_where_in_python_a_column_was_made(spark: SparkSession) -> None:
    run(table(spark, VARIED), "SELECT * { ?s ?p ?o }")
    assert not is_debugging_enabled()


def test_variables_are_named_in_the_order_of_the_query(spark: SparkSession) -> None:
    variables, frame = run(table(spark, VARIED), f"{PREFIX}SELECT ?o (1 AS ?n) ?unbound {{ ?s :likes ?o }}")
    assert variables == ("o", "n", "unbound") == tuple(frame.columns)


def test_iris_are_resolved_against_the_base(spark: SparkSession) -> None:
    _, frame = run(table(spark, VARIED), "SELECT (IRI('x') AS ?i) { GRAPH <g> { ?s <likes> ?o } }", EX)
    assert [tuple(row) for row in frame.collect()] == [(ex("x"),)]


def test_nothing_is_found_where_there_is_nothing(spark: SparkSession) -> None:
    nothing = table(spark, [])
    assert not ask(nothing, "ASK { ?s ?p ?o }")
    assert ask(nothing, "ASK { }")
    assert not ask(nothing, f"ASK {{ GRAPH {GRAPHS[0]} {{ }} }}")


# -- what cannot be compiled ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("SELECT * { ?s :p* ?o }", "a property path with *, + or ?"),
        ("SELECT * {\n ?s ?p ?o\n SERVICE :x { ?s ?p ?o } }", "SERVICE (line 4)"),
        ("SELECT * { ?s ?p ?o\n BIND(rand() AS ?x) }", "the function RAND (line 3)"),
        ("SELECT * { ?s ?p ?o FILTER(BNODE() = ?s) }", "the function BNODE (line 2)"),
        ("CONSTRUCT WHERE { ?s ?p ?o }", "CONSTRUCT"),
        ("DESCRIBE :x", "DESCRIBE"),
    ],
)
def test_what_cannot_be_compiled_is_named(spark: SparkSession, text: str, named: str) -> None:
    with pytest.raises(NotCompilable) as refused:
        run(table(spark, []), PREFIX + text)
    assert str(refused.value).startswith(named)
    assert refused.value.to_json()["error"] == "not_compilable"
    assert refused.value.status == 400


def test_a_function_that_nobody_knows_is_an_error_in_every_row(spark: SparkSession) -> None:
    quads = [(ex("a"), ex("p"), ex("b"), ""), (ex("a"), ex("q"), ex("c"), "")]
    texts = (
        "SELECT * { ?s ?p ?o FILTER(:unknown(?o)) }",
        "SELECT * { ?s ?p ?o FILTER(:unknown(?o) || ?o = :b) }",
        "SELECT * { ?s ?p ?o BIND(:unknown(?o) AS ?x) }",
    )
    assert check(spark, [(PREFIX + text, quads) for text in texts]) == 3
