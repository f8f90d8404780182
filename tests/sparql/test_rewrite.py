"""Every rewrite pass keeps the multiset of solutions, alone and with the others; and what each of them does."""

from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oracles.greedy_order import greedily_ordered
from strategies.data import PREFIX, datasets, ex
from strategies.queries import selects
from strategies.subscription_idioms import IDIOMS
from tidings.engine.store.store import Store
from tidings.model.terms import Quad
from tidings.sparql.algebra import (
    BGP,
    Distinct,
    Filter,
    Join,
    LeftJoin,
    Minus,
    Node,
    PathPattern,
    Select,
    TriplePattern,
    Values,
    inputs,
    visible,
)
from tidings.sparql.evaluate.compile import Compiler
from tidings.sparql.evaluate.context import Context, Moment
from tidings.sparql.evaluate.dataset import NOTHING, View
from tidings.sparql.evaluate.layout import ONE, Row
from tidings.sparql.parser import parse_query
from tidings.sparql.rewrite import rewrite
from tidings.sparql.rewrite.antijoins import MOST, join_absence
from tidings.sparql.rewrite.constants import reveal_constants
from tidings.sparql.rewrite.filters import push_filters
from tidings.sparql.rewrite.order import order_joins
from tidings.sparql.rewrite.semijoins import join_existence

Pass = Callable[[Node, View], Node]
PASSES: dict[str, Pass] = {
    "constants": lambda node, _: reveal_constants(node),
    "antijoins": lambda node, _: join_absence(node),
    "semijoins": lambda node, _: join_existence(node),
    "order": lambda node, view: order_joins(node, view.default(), view, frozenset()),
    "filters": lambda node, _: push_filters(node),
    "all": rewrite,
}
LEFT_OPEN = "OPTIONAL that has found nothing"
SETTINGS = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def parsed(pattern: str) -> Node:
    """The pattern of a query, without its projection."""
    query = parse_query(f"{PREFIX}SELECT * {pattern}")
    return inputs(query.pattern)[0]


def nodes_of(node: Node) -> list[Node]:
    return [node, *(each for inner in inputs(node) for each in nodes_of(inner))]


def solutions(node: Node, query: Select, view: View) -> Counter[Row]:
    plan = Compiler(Context(view, Moment())).plan(node)
    columns = [plan.layout.index[variable] for variable in query.variables]
    return Counter(tuple(row[column] for column in columns) for row in plan.run(ONE))


@pytest.mark.parametrize("name", PASSES)
@SETTINGS
@given(datasets, selects())
def test_a_pass_keeps_the_solutions(name: str, quads: list[Quad], text: str) -> None:
    query = parse_query(text)
    assert isinstance(query, Select)
    view = View(Store(quads), query.dataset)
    rewritten = PASSES[name](query.pattern, view)
    assert solutions(rewritten, query, view) == solutions(query.pattern, query, view)


@pytest.mark.parametrize("text", [each for each in IDIOMS[LEFT_OPEN] if each.startswith("SELECT")])
@SETTINGS
@given(quads=datasets)
def test_optional_that_has_found_nothing_is_not_exists(text: str, quads: list[Quad]) -> None:
    query = parse_query(PREFIX + text)
    assert isinstance(query, Select)
    view = View(Store(quads), query.dataset)
    assert solutions(join_absence(query.pattern), query, view) == solutions(query.pattern, query, view)


@pytest.mark.parametrize(
    ("pattern", "is_asked"),
    [
        ("{ ?s :p ?o OPTIONAL { ?s :q ?v } FILTER (!bound(?v)) }", True),
        ("{ ?s :p ?o OPTIONAL { ?s :q ?v } OPTIONAL { ?s :r ?w } FILTER (!bound(?v)) }", True),
        ("{ ?s :p ?o OPTIONAL { ?s :q ?v } OPTIONAL { ?v :r ?w } FILTER (!bound(?w)) }", True),
        ("{ ?s :p ?o OPTIONAL { ?s :q ?v } OPTIONAL { ?s :r ?v } FILTER (!bound(?v)) }", False),
        ("{ ?s :p ?o OPTIONAL { ?s :q ?x BIND (?x + 1 AS ?v) } FILTER (!bound(?v)) }", False),
        ("{ ?s :p ?o OPTIONAL { ?s :q ?v } FILTER (!bound(?v) || ?o = 1) }", False),
        ("{ GRAPH ?g { ?s :p ?o OPTIONAL { ?s :q ?v } FILTER (!bound(?v)) } }", False),
        ("{ ?s :p ?o OPTIONAL { SERVICE ?o { ?s :q ?v } ?s :q ?v } FILTER (!bound(?v)) }", False),
    ],
)
def test_what_is_not_exists(pattern: str, *, is_asked: bool) -> None:
    node = parsed(pattern)
    assert (join_absence(node) is not node) is is_asked


def test_only_so_many_conditions_of_a_filter_are_looked_into() -> None:
    optional = " ".join(f"OPTIONAL {{ ?s :q ?v{number} }}" for number in range(MOST + 5))
    conditions = " && ".join(f"!bound(?v{number})" for number in range(MOST + 5))
    node = join_absence(parsed(f"{{ ?s :p ?o {optional} FILTER ({conditions}) }}"))
    assert sum(isinstance(each, LeftJoin) for each in nodes_of(node)) == 5


@SETTINGS
@given(datasets, selects())
def test_rewriting_twice_is_rewriting_once(quads: list[Quad], text: str) -> None:
    query = parse_query(text)
    assert isinstance(query, Select)
    view = View(Store(quads), query.dataset)
    once = rewrite(query.pattern, view)
    assert solutions(rewrite(once, view), query, view) == solutions(once, query, view)


def blocks(node: Node) -> list[tuple[TriplePattern, ...]]:
    """The basic graph patterns within a pattern that say anything."""
    if isinstance(node, BGP):
        return [node.patterns] if node.patterns else []
    return [block for inner in inputs(node) for block in blocks(inner)]


# -- semijoins --------------------------------------------------------------------------------------------------

COUNTED = "{ SELECT ?s { ?s :q ?v } GROUP BY ?s HAVING (COUNT(*) > 1) }"


def test_exists_around_an_aggregate_is_a_join() -> None:
    node = join_existence(parsed(f"{{ ?s :p ?o FILTER (?o > 1) FILTER EXISTS {COUNTED} }}"))
    assert isinstance(node, Filter)
    assert isinstance(node.inner, Join)
    assert node.inner.left == parsed("{ ?s :p ?o }")
    assert isinstance(node.inner.right, Distinct)


def test_not_exists_around_an_aggregate_is_a_difference() -> None:
    node = join_existence(parsed(f"{{ ?s :p ?o FILTER NOT EXISTS {COUNTED} }}"))
    assert isinstance(node, Minus)
    assert visible(node.right).keys() == {"?s"}


@pytest.mark.parametrize(
    "pattern",
    [
        "{ ?s :p ?o FILTER EXISTS { ?s :q ?v FILTER (?v > ?o) } }",
        "{ ?s :p ?o FILTER NOT EXISTS { SELECT ?x { ?x :q ?v } GROUP BY ?x } }",
        "{ ?x :p ?o OPTIONAL { ?x :q ?s } FILTER NOT EXISTS " + COUNTED + " }",
        "{ ?s :p ?o FILTER EXISTS { SELECT DISTINCT ?s { ?s :q ?v } LIMIT 1 } }",
        "{ ?s :p ?o FILTER EXISTS { SELECT DISTINCT ?s { ?s :q ?v FILTER (RAND() > 0.5) } } }",
        "{ ?s :p ?o FILTER (?o > 1 || EXISTS " + COUNTED + ") }",
    ],
    ids=["sees the row", "nothing in common", "a variable that may be unbound", "LIMIT", "chance", "one of several"],
)
def test_exists_stays_where_it_is_no_join(pattern: str) -> None:
    assert join_existence(parsed(pattern)) == parsed(pattern)


def test_exists_stays_where_its_pattern_meets_what_rows_bring_along() -> None:
    node = parsed("{ ?x :p ?o FILTER EXISTS { SELECT DISTINCT ?s ?x { ?s :q ?x } } }")
    assert isinstance(join_existence(node), Join)
    assert join_existence(node, frozenset({"?s"})) == node


# -- constants --------------------------------------------------------------------------------------------------

A, P, Q = ex("a"), ex("p"), ex("q")


@pytest.mark.parametrize("condition", ["?x = :a", ":a = ?x", "sameTerm(?x, :a)", "sameTerm(:a, ?x)"])
def test_an_equality_with_an_iri_becomes_the_iri(condition: str) -> None:
    node = reveal_constants(parsed(f"{{ ?x :p ?y FILTER({condition}) }}"))
    assert blocks(node) == [((A, P, "?y"),)]
    assert "?x" in visible(node)


def test_a_plain_string_is_revealed_too() -> None:
    node = reveal_constants(parsed('{ ?x :p ?y FILTER(?y = "s") }'))
    assert blocks(node) == [(("?x", P, '"s"'),)]


@pytest.mark.parametrize(
    "pattern",
    [
        "{ ?x :p ?y FILTER(?y = 1) }",  # also true of 1.0
        '{ ?x :p ?y FILTER(?y = "s"@en) }',  # also true of "s"@EN
        "{ ?x :p ?y FILTER(?x != :a) }",
        "{ ?x :p ?y FILTER(?x = :a || ?y = :a) }",
        "{ ?x :p ?y OPTIONAL { ?x :q ?z } FILTER(?z = :a) }",  # ?z may be unbound
        "{ ?x :p ?y FILTER(?z = :a) }",
        "{ { ?x :p ?y } UNION { ?y :p ?z } FILTER(?x = :a) }",
    ],
)
def test_what_might_mean_something_else_is_left_alone(pattern: str) -> None:
    node = parsed(pattern)
    assert reveal_constants(node) == node


def test_the_other_conditions_stay() -> None:
    node = reveal_constants(parsed("{ ?x :p ?y FILTER(?x = :a && ?y > 1) }"))
    assert isinstance(node, Filter)
    assert blocks(node) == [((A, P, "?y"),)]


# -- filters ----------------------------------------------------------------------------------------------------


def test_a_condition_is_tested_behind_the_pattern_that_binds_its_variables() -> None:
    node = push_filters(parsed("{ ?x :p ?y . ?x :q ?z FILTER(?y > 1) }"))
    assert isinstance(node, Join)
    assert isinstance(node.left, Filter)
    assert node.left.inner == BGP((("?x", P, "?y"),))
    assert node.right == BGP((("?x", Q, "?z"),))


@pytest.mark.parametrize(
    "pattern",
    [
        "{ ?x :p ?y OPTIONAL { ?x :q ?z } FILTER(!BOUND(?z)) }",
        "{ ?x :p ?y . ?x :q ?z FILTER(?y = ?z) }",
        "{ ?x :p ?y . ?x :q ?z FILTER EXISTS { ?x :r ?y } }",
        "{ ?x :p ?y . ?x :q ?z FILTER(?y > RAND()) }",
        "{ ?x :p ?y BIND(?y + 1 AS ?z) FILTER(?z > 1) }",
        "{ { SELECT ?x { ?x :p ?y } LIMIT 1 } FILTER(?x = :a) }",
        "{ GRAPH ?g { ?x :p ?y } FILTER(?g = :g) }",
    ],
)
def test_a_condition_stays_on_top_where_it_would_mean_something_else_below(pattern: str) -> None:
    node = parsed(pattern)
    assert isinstance(node, Filter)
    assert push_filters(node) == node


def test_a_condition_goes_into_both_arms_of_a_union() -> None:
    node = push_filters(parsed("{ { ?x :p ?y } UNION { ?x :q ?y } FILTER(?y > 1) }"))
    assert all(isinstance(arm, Filter) for arm in inputs(node))


# -- order ------------------------------------------------------------------------------------------------------

MANY: list[Quad] = [(ex(f"s{i}"), P, ex("o"), "") for i in range(20)] + [(ex("s1"), Q, ex("o"), "")]


def ordered(pattern: str) -> Node:
    view = View(Store(MANY), parse_query("ASK {}").dataset)
    return order_joins(parsed(pattern), view.default(), view, frozenset())


def test_the_rare_predicate_comes_first() -> None:
    assert ordered("{ ?x :p ?y . ?x :q ?z }") == BGP((("?x", Q, "?z"), ("?x", P, "?y")))


def test_a_pattern_that_shares_a_variable_comes_before_one_that_does_not() -> None:
    assert ordered("{ ?x :q ?y . ?a :p ?b . ?x :p ?z }") == BGP((("?x", Q, "?y"), ("?x", P, "?z"), ("?a", P, "?b")))


def test_few_given_rows_come_before_any_scan() -> None:
    node = ordered("{ ?x :p ?y VALUES ?x { :s1 :s2 } }")
    assert isinstance(node, Join)
    assert isinstance(node.left, Values)


def test_a_path_is_walked_from_an_end_that_is_known() -> None:
    node = ordered("{ ?x :p+ ?y . ?x :q ?z }")
    assert isinstance(node, Join)
    assert node.left == BGP((("?x", Q, "?z"),))
    assert isinstance(node.right, PathPattern)


@SETTINGS
@given(datasets, selects(), st.sets(st.sampled_from(["?a", "?b", "?c", "?x", "?y", "?z"])))
def test_the_order_is_that_of_asking_all_patterns_each_time(quads: list[Quad], text: str, bound: set[str]) -> None:
    query = parse_query(text)
    view = View(Store(quads), query.dataset)
    source = view.default()
    assert order_joins(query.pattern, source, view, bound) == greedily_ordered(query.pattern, source, view, bound)


TERMS = st.sampled_from(["?a", "?b", "?c", "?d", "?e", "?f", ex("a"), ex("b"), ex("s1"), ex("o")])
PREDICATES = st.sampled_from([P, Q, ex("r"), "?a", "?p"])


@SETTINGS
@given(datasets, st.lists(st.tuples(TERMS, PREDICATES, TERMS), max_size=12), st.booleans())
def test_many_patterns_are_in_the_order_of_asking_all_of_them_each_time(
    quads: list[Quad], patterns: list[TriplePattern], empty: bool
) -> None:
    view = View(Store(quads), parse_query("ASK {}").dataset)
    source = NOTHING if empty else view.default()
    for bound in (frozenset[str](), frozenset({"?a"})):
        node = BGP(tuple(patterns))
        assert order_joins(node, source, view, bound) == greedily_ordered(node, source, view, bound)
