"""When rows held, against replaying the history and asking the engine after every commit."""

import os
import random
from collections.abc import Iterator, Sequence
from typing import TypeAlias

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from endurance import often
from strategies.data import BLANKS, GRAPHS, NUMBERS, PREDICATES, PREFIX, RESOURCES, ex
from strategies.queries import selects
from tidings.engine.updates.executor import Core
from tidings.model.access import Graphs
from tidings.model.errors import BadRequest
from tidings.model.results import Row, Solutions
from tidings.model.terms import XSD, Quad
from tidings.model.zset import ZSet
from tidings.protocol.entries import within
from tidings.sparql.parser import parse_query

pytest.importorskip("pyspark")

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from tidings.spark.sparql import query as module
from tidings.spark.sparql.compilable import INTERVAL
from tidings.spark.sparql.errors import NotCompilable
from tidings.spark.sparql.intervals import is_monotone, unordered
from tidings.spark.sparql.query import between

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("unhurried")]

Interval: TypeAlias = tuple[int, int]
Held: TypeAlias = set[tuple[Row, Interval]]
Asked: TypeAlias = tuple[str, Sequence[ZSet[Quad]], int, int]
SECOND = 1_000_000
EXAMPLES = int(os.environ.get("TIDINGS_QUERIES", often(4))) // 2
"""Random queries of each kind; a campaign asks thousands."""
MOST_INTERVALS = 400
BATCH = 8
"""Questions of one job."""


def changes(spark: SparkSession, commits: Sequence[ZSet[Quad]]) -> DataFrame:
    """Commit n is made n seconds after 1970 began."""
    rows = [
        (seq, seq * SECOND, "add" if weight > 0 else "remove", *quad)
        for seq, delta in enumerate(commits, start=1)
        for quad, weight in delta.items()
    ]
    kinds = (pa.int64(), pa.timestamp("us", "UTC"), *[pa.string()] * 5)
    cells = [pa.array([row[at] for row in rows], kind) for at, kind in enumerate(kinds)]
    return spark.createDataFrame(pa.table(cells, names=["seq", "time", "op", *"spog"]))


def replayed(text: str, commits: Sequence[ZSet[Quad]], t1: int, t2: int) -> Held:
    """The intervals of every row, by asking after every commit."""
    core = Core()
    states: list[tuple[int, set[Row]]] = [(0, _rows(core, text))]
    for seq, delta in enumerate(commits, start=1):
        core.store.apply(delta)
        states.append((seq * SECOND, _rows(core, text)))
    ends = [time for time, _ in states[1:]] + [2**62]
    held: Held = set()
    since: dict[Row, int] = {}
    for (time, rows), end in zip(states, ends, strict=True):
        if end <= t1 or time >= t2:
            continue
        for row in since.keys() - rows:
            held.add((row, (since.pop(row), time)))
        for row in rows - since.keys():
            since[row] = max(time, t1)
    return held | {(row, (start, t2)) for row, start in since.items()}


def _rows(core: Core, text: str) -> set[Row]:
    answer = core.query(text, now=0)
    assert isinstance(answer, Solutions)
    return set(answer.rows)


def found(spark: SparkSession, asked: Sequence[Asked], readable: Graphs = Graphs.ALL) -> Iterator[Held]:
    """The intervals of every question, all from one job."""
    numbered: DataFrame | None = None
    for number, (text, commits, t1, t2) in enumerate(asked):
        variables, frame = between(changes(spark, commits), text, t1, t2, readable=readable)
        cells = f.array(*[f.col(f"`{name}`") for name in variables]).cast("array<string>")
        rows = frame.select(f.lit(number), cells, *[f.unix_micros(name) for name in INTERVAL[:2]])
        numbered = rows if numbered is None else numbered.union(rows)
    assert numbered is not None
    collected = numbered.collect()
    for number in range(len(asked)):
        rows_of = [(tuple(row), (start, end)) for at, row, start, end in collected if at == number]
        assert len(rows_of) == len(set(rows_of))
        yield set(rows_of)


def check(spark: SparkSession, asked: Sequence[Asked], readable: Graphs = Graphs.ALL) -> int:
    total = 0
    for question, held in zip(asked, found(spark, asked, readable), strict=True):
        text, commits, *span = question
        wanted = replayed(text, [within(delta, readable) for delta in commits], *span)
        assert held == wanted, f"{question}\n  too much: {held - wanted}\n  missing: {wanted - held}"
        total += len(wanted)
    return total


def drawn(count: int) -> dict[bool, list[Asked]]:
    """Random queries over random histories, always the same ones: some that are monotone, some that are not."""
    kinds: dict[bool, list[Asked]] = {True: [], False: []}
    for number in range(100 * count):
        commits = random_commits(number)
        for text in _texts(number):
            asked = text, commits, SECOND + number % 2, (4 + number % 7) * SECOND
            monotone = is_monotone(unordered(parse_query(text).pattern))
            if len(kinds[monotone]) < count and 2 < len(replayed(*asked)) < MOST_INTERVALS:
                kinds[monotone].append(asked)
        if min(map(len, kinds.values())) == count:
            break
    return kinds


def random_commits(number: int) -> list[ZSet[Quad]]:
    """Quads that come and go, some of them again and again."""
    chance = random.Random(number)
    few = [_quad(chance) for _ in range(14)]
    there: set[Quad] = set()
    found = []
    for _ in range(8):
        turned = {*chance.sample(few, 4), _quad(chance)}
        found.append(ZSet.change(removed=turned & there, added=turned - there))
        there ^= turned
    return found


def _quad(chance: random.Random) -> Quad:
    subject = chance.choice((*RESOURCES, BLANKS[0]))
    object_ = chance.choice((*RESOURCES, *RESOURCES, BLANKS[0], *NUMBERS, '"s"'))
    return subject, chance.choice(PREDICATES[:2]), object_, chance.choice(("", "", *GRAPHS))


def _texts(number: int) -> list[str]:
    """A few queries; more of one seed would be much alike."""
    found: list[str] = []

    @seed(number)
    @settings(max_examples=3, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    @given(selects(depth=1))
    def draw(text: str) -> None:
        text = text.replace('"s"@en', '"s"')  # constants with a tag are taken as they are written
        if not any(sign in text for sign in (")*", ")+", ")?")):
            found.append(text)

    draw()
    return found


@pytest.mark.no_cover
def test_random_queries_hold_when_they_do_after_every_commit(spark: SparkSession) -> None:
    """TIDINGS_QUERIES=1000 for a campaign."""
    for questions in drawn(EXAMPLES).values():
        assert len(questions) == EXAMPLES
        for start in range(0, EXAMPLES, BATCH):
            some = questions[start : start + BATCH]
            assert check(spark, some) > 2 * len(some)


# -- one lamp ---------------------------------------------------------------------------------------------------


def lamp(value: str) -> Quad:
    return ex("lamp"), ex("status"), f'"{value}"', ""


NAMED: Quad = (ex("lamp"), ex("name"), '"desk"', "")
LEVEL: list[Quad] = [(ex("lamp"), ex("level"), f'"{level}"^^<{XSD}integer>', ex("g")) for level in range(3)]
STORY = (
    ZSet.change(removed=[], added=[lamp("on"), NAMED]),
    ZSet.change(removed=[lamp("on")], added=[lamp("off"), LEVEL[0]]),
    ZSet.change(removed=[NAMED, LEVEL[0]], added=[LEVEL[1]]),
    ZSet.change(removed=[lamp("off")], added=[lamp("on"), NAMED]),
    ZSet.change(removed=[], added=[LEVEL[2]]),
)
MONOTONE = (
    "SELECT ?v { :lamp :status ?v }",
    "SELECT ?v ?n { ?l :status ?v ; :name ?n }",
    "SELECT ?v { { :lamp :status ?v } UNION { :lamp :name ?v } UNION { VALUES ?v { :always } } }",
    "SELECT ?l ?u { GRAPH ?g { ?s :level ?l } ?s :status ?v FILTER(?l > 0) BIND(UCASE(?v) AS ?u) }",
    "SELECT DISTINCT ?s { ?s ?p ?o } ORDER BY ?s",
    "SELECT ?g { GRAPH ?g { } }",
    "SELECT ?o FROM :g FROM :h { ?s !:name ?o }",
    "SELECT ?v (1 + 1 AS ?two) { VALUES (?v ?s) { ('on' UNDEF) ('off' :lamp) } ?s :status ?v }",
)
OTHERS = (
    "SELECT ?v ?n { :lamp :status ?v OPTIONAL { :lamp :name ?n } }",
    "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }",
    "SELECT (MAX(?l) AS ?m) { GRAPH :g { ?s :level ?l } }",
    "SELECT ?g (SUM(?l) AS ?m) { GRAPH ?g { ?s :level ?l } } GROUP BY ?g",
    "SELECT ?s { ?s :status ?v FILTER NOT EXISTS { ?s :name ?n } }",
    "SELECT ?s { ?s :status ?v MINUS { GRAPH ?g { ?s :level 1 } } }",
    "SELECT ?o { ?s ?p ?o } ORDER BY ?o LIMIT 1",
    "SELECT * { GRAPH ?g { SELECT (COUNT(*) AS ?n) { ?s :nothing ?o } } }",
)


@pytest.mark.parametrize("texts", [MONOTONE, OTHERS], ids=["monotone", "others"])
def test_rows_hold_from_the_commit_that_brings_them_to_the_one_that_ends_them(
    spark: SparkSession, texts: Sequence[str]
) -> None:
    for text in texts:
        assert is_monotone(unordered(parse_query(PREFIX + text).pattern)) is (texts is MONOTONE), text
    whole = [(PREFIX + text, STORY, 0, 9 * SECOND) for text in texts]
    cut = [(PREFIX + text, STORY, 2 * SECOND + 1, 4 * SECOND) for text in texts[:3]]
    assert check(spark, whole + cut) > 2 * len(texts)


@pytest.mark.parametrize(("graph", "turn"), [("", 0), (ex("g"), 1)], ids=["default", "g"])
def test_rows_hold_as_if_there_were_just_the_graphs_that_may_be_read(
    spark: SparkSession, graph: str, turn: int
) -> None:
    """Every other one with the default graph, the rest with another."""
    readable = Graphs(names=frozenset((graph,)))
    texts = (*MONOTONE[turn::2], *OTHERS[turn::2])
    assert check(spark, [(PREFIX + text, STORY, 0, 9 * SECOND) for text in texts], readable) > len(texts) // 2


def test_no_commit_is_named_that_did_nothing_in_a_graph_that_may_be_read(spark: SparkSession) -> None:
    readable = Graphs(names=frozenset((ex("g"),)))
    text = f"{PREFIX}SELECT ?l {{ GRAPH ?g {{ ?s :level ?l }} }}"
    _, frame = between(changes(spark, STORY), text, int(4.5 * SECOND), 9 * SECOND, readable=readable)
    assert {(start, end) for _, _, _, start, end in frame.collect()} == {(3, None), (5, None)}


def test_an_interval_names_its_commits_and_is_open_where_the_row_still_held(spark: SparkSession) -> None:
    variables, frame = between(changes(spark, STORY), f"{PREFIX}SELECT ?v {{ ?s :status ?v }}", SECOND, 9 * SECOND)
    assert variables == ("v",)
    assert frame.columns == ["v", *INTERVAL]
    rows = {(value, start, end) for value, _, _, start, end in frame.collect()}
    assert rows == {('"on"', 1, 2), ('"off"', 2, 4), ('"on"', 4, None)}


def test_what_always_holds_has_intervals_of_the_same_types(spark: SparkSession) -> None:
    _, frame = between(changes(spark, STORY), "SELECT (1 AS ?x) { }", SECOND, 9 * SECOND)
    assert [kind for _, kind in frame.dtypes] == ["string", "timestamp", "timestamp", "bigint", "bigint"]
    assert frame.count() == 1


def test_too_many_commits_are_refused(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_POINTS", 3)
    text = f"{PREFIX}SELECT (COUNT(*) AS ?n) {{ ?s ?p ?v }}"
    with pytest.raises(NotCompilable, match="more than 3 commits"):
        between(changes(spark, STORY), text, 0, 9 * SECOND)
    _, frame = between(changes(spark, STORY), text.replace("?p", ":status"), 0, 9 * SECOND)
    assert frame.count() == 2  # none before the first commit, and one ever since


def test_what_makes_no_sense_between_two_instants_is_refused(spark: SparkSession) -> None:
    history = changes(spark, STORY)
    with pytest.raises(BadRequest, match="before"):
        between(history, "SELECT * { ?s ?p ?o }", 2, 2)
    with pytest.raises(NotCompilable, match=r"NOW between two instants \(line 1\)"):
        between(history, "SELECT * { ?s ?p ?o FILTER(NOW() > ?o) }", 0, 2)
    with pytest.raises(NotCompilable, match="valid_from"):
        between(history, "SELECT ?valid_from { ?s ?p ?valid_from }", 0, 2)
    with pytest.raises(NotCompilable, match="ASK"):
        between(history, "ASK { ?s ?p ?o }", 0, 2)
    with pytest.raises(NotCompilable, match="path"):
        between(history, "SELECT * { ?s <x>+ ?o }", 0, 2)
