"""Queries over a DataFrame of quads give what the engine gives on a store of the same quads."""

import os
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias, get_args

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from spark.histories import log_with
from strategies.data import BLANKS, EX, GRAPHS, LITERALS, PREDICATES, PREFIX, RESOURCES, ex
from strategies.data import quads as dataset_quads
from strategies.graph_names import named_inside
from strategies.queries import asks, ordered, selects
from tidings.engine.store.store import Store
from tidings.engine.updates.executor import Core
from tidings.log.entry import Entry
from tidings.model.results import Boolean, Row, Solutions
from tidings.model.terms import XSD, Quad
from tidings.model.zset import ZSet
from tidings.sparql import algebra
from tidings.sparql.algebra import (
    Aggregate,
    Exists,
    Expression,
    Graph,
    Node,
    Not,
    PathPattern,
    Service,
    every_expression,
    expressions,
    inputs,
)
from tidings.sparql.parser import parse_query

pytest.importorskip("pyspark")

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from tidings.spark.lake import travel
from tidings.spark.lake.lake import Lake
from tidings.spark.lake.writing import append
from tidings.spark.log_source.data_source import FORMAT, TidingsLog
from tidings.spark.sparql.errors import NotCompilable
from tidings.spark.sparql.query import ask, run

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("unhurried")]

Question: TypeAlias = tuple[str, Sequence[Quad]]
States: TypeAlias = Sequence[tuple[list[Quad], DataFrame]]

EXAMPLES = int(os.environ.get("TIDINGS_QUERIES", "25"))
"""Random queries in a run; a campaign asks thousands."""
MOST_ROWS = 400
BATCH = 12
"""Questions of one job: with more, Spark takes longer to plan it than it saves."""

filled = st.lists(dataset_quads, min_size=24, max_size=48)
"""Datasets in which patterns find something."""


def table(spark: SparkSession, quads: Iterable[Quad]) -> DataFrame:
    rows = list(quads)
    cells = [pa.array([quad[at] for quad in rows], pa.string()) for at in range(4)]
    return spark.createDataFrame(pa.table(cells, names=list("spog")))


def expected(text: str, quads: Sequence[Quad]) -> list[Row]:
    answer = Core(Store(quads)).query(text, now=0)
    assert isinstance(answer, Solutions)
    return list(answer.rows)


def answers(
    spark: SparkSession, questions: Sequence[Question], known: Mapping[int, DataFrame] = MappingProxyType({})
) -> list[Counter[Row]]:
    """Every answer as a multiset of rows, all of them from one job."""
    tables = {id(quads): table(spark, quads) for _, quads in questions if id(quads) not in known} | dict(known)
    found: list[Counter[Row]] = [Counter() for _ in questions]
    numbered: DataFrame | None = None
    for number, (text, quads) in enumerate(questions):
        _, frame = run(tables[id(quads)], text, now=0)
        cells = f.array(*[frame[f"`{name}`"] for name in frame.columns]).cast("array<string>")
        rows = frame.select(f.lit(number), cells)
        numbered = rows if numbered is None else numbered.union(rows)
    assert numbered is not None
    for number, row in numbered.collect():
        found[number][tuple(row)] += 1
    return found


def check(
    spark: SparkSession, questions: Sequence[Question], known: Mapping[int, DataFrame] = MappingProxyType({})
) -> int:
    """All answers are the engine's; how many rows they have."""
    rows = 0
    for start in range(0, len(questions), BATCH):
        rows += _checked(spark, questions[start : start + BATCH], known)
    return rows


def _checked(spark: SparkSession, questions: Sequence[Question], known: Mapping[int, DataFrame]) -> int:
    rows = 0
    for (text, quads), found in zip(questions, answers(spark, questions, known), strict=True):
        wanted = Counter(expected(text, quads))
        assert found == wanted, f"{text}\n{quads}\n  too much: {found - wanted}\n  missing: {wanted - found}"
        rows += wanted.total()
    return rows


def parts(node: Node) -> Iterator[Node]:
    """A pattern and all below it, those inside EXISTS included."""
    yield node
    for inner in inputs(node):
        yield from parts(inner)
    for expression in expressions(node):
        for each in every_expression(algebra.Filter(expression, algebra.UNIT)):
            if isinstance(each, algebra.Exists):
                yield from parts(each.pattern)


def is_compilable(text: str) -> bool:
    return not any(
        isinstance(part, PathPattern) and not isinstance(part.path, algebra.Negated)
        for part in parts(parse_query(text).pattern)
    )


# -- random queries ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def states(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[States]:
    """The quads after each commit of a lake: as the engine has them, and as the lake does."""
    folder = tmp_path_factory.mktemp("states")
    there, entries = commits(8)
    data = log_with(folder / "data", entries)
    lake = Lake.make(folder / "lake")
    spark.dataSource.register(TidingsLog)
    append(lake, spark.read.format(FORMAT).load(str(data)))
    frames = [travel.quads(spark, lake, entry.commit).coalesce(1).cache() for entry in entries]
    yield list(zip(there, frames, strict=True))
    for frame in frames:
        frame.unpersist()


def commits(count: int) -> tuple[list[list[Quad]], list[Entry]]:
    """A history in which patterns find something: the quads after each commit, and what it changes."""
    chance = random.Random(0)
    store, states, entries = Store(), [], []
    for seq in range(1, count + 1):
        old = chance.sample(sorted(store), len(store) // 3)
        delta = ZSet.change(removed=old, added={_quad(chance) for _ in range(24)} - set(store))
        store.apply(delta)
        states.append(list(store))
        entries.append(Entry(seq, seq * 1_000_000, delta))
    return states, entries


def _quad(chance: random.Random) -> Quad:
    subject = chance.choice((*RESOURCES, *BLANKS, *GRAPHS))
    object_ = chance.choice((*RESOURCES, *RESOURCES, *LITERALS, *BLANKS, *GRAPHS))
    return subject, chance.choice(PREDICATES), object_, chance.choice(("", "", *GRAPHS))


def features(text: str) -> set[object]:
    """What a query has in it: kinds of nodes, kinds of expressions, aggregates, and graphs by name or by variable."""
    pattern = parse_query(text).pattern
    found: set[object] = {type(part) for part in parts(pattern)}
    found |= {(Graph, part.name[0]) for part in parts(pattern) if isinstance(part, Graph)}
    found |= {type(each) for each in every_expression(pattern)}
    found |= {each.function for each in every_expression(pattern) if isinstance(each, Aggregate)}
    return found | {
        (Not, Exists) for each in every_expression(pattern) if isinstance(each, Not) and isinstance(each.inner, Exists)
    }


ALL = {
    *(set(get_args(Node)) - {Service}),
    *get_args(Expression),
    *((Graph, "?"), (Graph, "<"), (Not, Exists)),
    *("COUNT", "SUM", "AVG", "MIN", "MAX"),
}


def drawn(count: int, datasets: Sequence[Sequence[Quad]]) -> tuple[list[Question], set[object]]:
    """Random queries that can be compiled, each with a dataset, always the same ones: so many, and until all features
    are there; and the features that they have.

    Most queries have no answer or a trivial one: one in eight is of those.
    """
    questions: list[Question] = []
    seen: set[object] = set()
    for number in range(40 * count):
        quads = datasets[number % len(datasets)]
        for text in _texts(number):
            new = features(text) - seen
            wanted = new if len(questions) >= count else is_telling(text, quads) or not number % 8
            if wanted and is_settled(text, quads):
                questions.append((text, quads))
                seen |= new
        if len(questions) >= count and seen >= ALL:
            break
    return questions, seen


def _texts(number: int) -> list[str]:
    """A few queries; more of one seed would be much alike."""
    found: list[str] = []

    @seed(number)
    @settings(max_examples=3, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    @given(windows() if number % 4 == 3 else named_inside() if number % 4 == 1 else selects())
    def draw(text: str) -> None:
        text = text.replace("DISTINCT", "REDUCED") if number % 3 == 0 and "(DISTINCT" not in text else text
        if is_compilable(text):
            found.append(text)

    draw()
    return found


@st.composite
def windows(draw: st.DrawFn) -> str:
    """A query in order, and some of its rows."""
    query = draw(ordered())
    return f"{query.text} LIMIT {query.limit + 2} OFFSET {query.offset}"


def is_telling(text: str, quads: Sequence[Quad]) -> bool:
    """Whether an answer has different rows, and the query more than a plain join."""
    kinds = {type(part) for part in parts(parse_query(text).pattern)}
    return len(kinds) > 2 and len(set(expected(text, quads))) > 1


def is_settled(text: str, quads: Sequence[Quad]) -> bool:
    """Whether the answer is small, and the same in whatever order quads are found."""
    rows = Counter(expected(text, quads))
    return rows.total() <= MOST_ROWS and rows == Counter(expected(text, quads[::-1]))


def test_random_queries_at_any_commit_are_answered_as_the_engine_does(spark: SparkSession, states: States) -> None:
    """TIDINGS_QUERIES=1000 for a campaign."""
    questions, seen = drawn(EXAMPLES, [quads for quads, _ in states])
    assert ALL - seen == set()
    assert len(questions) >= EXAMPLES
    rows = check(spark, questions, {id(quads): frame for quads, frame in states})
    assert rows > 2 * EXAMPLES


def test_random_questions_are_answered_as_the_engine_does(spark: SparkSession) -> None:
    found: list[Question] = []

    @settings(max_examples=20, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    @given(asks(), filled)
    def draw(text: str, quads: list[Quad]) -> None:
        if len(found) < 5 and is_compilable(text):
            found.append((text, list(Store(quads))))

    draw()
    for text, quads in found:
        wanted = Core(Store(quads)).query(text, now=0)
        assert isinstance(wanted, Boolean)
        assert ask(table(spark, quads), text, now=0) is wanted.value, text


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
