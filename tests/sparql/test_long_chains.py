"""A long chain is not nested: many alternatives or conditions are read, evaluated and kept up to date like few."""

import sys
from collections.abc import Iterator

import pytest

from oracles.recomputation import Follower
from tidings.engine.engine import Engine
from tidings.engine.plans.maintainable import DEEPEST
from tidings.engine.plans.spu import answer_rows
from tidings.model.errors import BadRequest, SparqlSyntaxError
from tidings.model.results import Solutions
from tidings.sparql.algebra import And, Filter, Or, Project, Select, Union, conjuncts
from tidings.sparql.nesting import allow_nesting
from tidings.sparql.parser import parse_query

MANY = 600
NUMBERS = range(2, MANY)


def chain(sign: str, form: str) -> str:
    return f" {sign} ".join(form.format(number) for number in NUMBERS)


FEW = 150
"""As many as an engine that nobody has allowed more than Python does can follow."""


def elements(form: str, count: int) -> str:
    return " ".join(form.format(number) for number in range(count))


GROUPS = {
    "OPTIONAL": "OPTIONAL {{ ?s <urn:p{0}> ?o{0} }}",
    "MINUS": "MINUS {{ ?s <urn:q{0}> ?x }}",
    "BIND": "BIND (?o + {0} AS ?o{0})",
    "GRAPH": "GRAPH <urn:g> {{ ?s <urn:r> ?o{0} }}",
    "VALUES": "VALUES ?o{0} {{ {0} }}",
    "path": ". ?s <urn:p{0}>? ?o{0}",
    "EXISTS": "FILTER NOT EXISTS {{ ?s <urn:q{0}> ?o }}",
    "group": "{{ ?s <urn:p> ?o }}",
}

CHAINS = {
    "||": f"SELECT * {{ ?s ?p ?o FILTER ({chain('||', '?o = {}')}) }}",
    "&&": f"SELECT * {{ ?s ?p ?o FILTER ({chain('&&', '?o != {}')}) }}",
    "FILTER": f"SELECT * {{ ?s ?p ?o {chain(' ', 'FILTER (?o != {})')} }}",
    "UNION": f"SELECT * {{ {chain('UNION', '{{ ?s ?p {} }}')} }}",
    "+": f"SELECT * {{ ?s ?p ?o FILTER ({chain('+', '?o')} > {MANY - 2}) }}",
    "-": f"SELECT * {{ ?s ?p ?o FILTER (0 - {chain('-', '?o')} < {2 - MANY}) }}",
    "*": f"SELECT * {{ ?s ?p ?o FILTER ({chain('*', '?o')} > 1) }}",
    "/": f"SELECT * {{ ?s ?p ?o FILTER (1e0 / {chain('/', '?o')} < 1) }}",
    "|": f"SELECT * {{ ?s {chain('|', '<urn:p{}>')} | <urn:p> ?o }}",
}


@pytest.mark.parametrize(("sign", "count"), [*zip(CHAINS, (2, 1, 1, 2, 2, 2, 2, 2, 3), strict=True)])
def test_a_long_chain_is_evaluated_and_kept_up_to_date(sign: str, count: int) -> None:
    engine = Engine()
    engine.apply(f"INSERT DATA {{ <urn:a> <urn:p> 1, 2, {MANY - 1} }}", now=0)
    answer = engine.core.query(CHAINS[sign], now=0)
    assert isinstance(answer, Solutions)
    assert len(list(answer.rows)) == count
    follower = Follower(engine, CHAINS[sign])
    for update in ("INSERT DATA { <urn:b> <urn:p> 3, 0 }", "DELETE DATA { <urn:a> <urn:p> 1, 2 }"):
        follower.hear(engine.apply(update, now=0).notifications)
        follower.check()


def test_the_members_of_a_chain_stay_in_their_order() -> None:
    query = parse_query("SELECT * { ?s ?p ?o FILTER (?a && ?b && ?c && ?d && ?e) }")
    assert isinstance(query, Select)
    assert isinstance(query.pattern, Project)
    assert isinstance(query.pattern.inner, Filter)
    assert list(conjuncts(query.pattern.inner.condition)) == ["?a", "?b", "?c", "?d", "?e"]


@pytest.mark.parametrize(("sign", "node"), [("||", Or), ("&&", And), ("UNION", Union)])
def test_a_chain_is_as_deep_as_the_logarithm_of_its_length(sign: str, node: type[Or | And | Union]) -> None:
    pattern = parse_query(CHAINS[sign]).pattern
    assert isinstance(pattern, Project)
    found: object = pattern.inner.condition if isinstance(pattern.inner, Filter) else pattern.inner
    depth = 0
    while isinstance(found, node):
        found, depth = found.left, depth + 1
    assert depth == 10


def test_arithmetic_goes_from_left_to_right_however_long_it_is() -> None:
    numbers = " - ".join(str(number) for number in range(2000))
    answer = Engine().core.query(f"SELECT ({numbers} AS ?x) (8 / 2 / 2 * 3 AS ?y) (2 - 3 + 4 AS ?z) {{}}", now=0)
    assert isinstance(answer, Solutions)
    (found,) = answer.rows
    assert [term and term.split('"')[1] for term in found] == [str(-sum(range(2000))), "6", "3"]


def test_a_long_sequence_of_steps_is_walked() -> None:
    engine = Engine()
    steps = range(300)
    engine.apply(" ; ".join(f"INSERT DATA {{ <urn:{n}> <urn:p{n}> <urn:{n + 1}> }}" for n in steps), now=0)
    answer = engine.core.query(f"SELECT * {{ ?a {'/'.join(f'<urn:p{n}>' for n in steps)} ?b }}", now=0)
    assert isinstance(answer, Solutions)
    assert list(answer.rows) == [("<urn:0>", "<urn:300>")]


@pytest.fixture
def allowed() -> Iterator[None]:
    before = sys.getrecursionlimit()
    allow_nesting()
    yield
    sys.setrecursionlimit(before)


@pytest.mark.parametrize("kind", GROUPS)
def test_hundreds_of_elements_of_one_group_are_evaluated_and_kept_up_to_date(kind: str, allowed: None) -> None:
    engine = Engine()
    engine.apply("INSERT DATA { <urn:a> <urn:p> 1 . GRAPH <urn:g> { <urn:a> <urn:r> 3 . <urn:c> <urn:r> 4 } }", now=0)
    text = f"SELECT * {{ ?s <urn:p> ?o {elements(GROUPS[kind], 300)} }}"
    answer = engine.core.query(text, now=0)
    assert isinstance(answer, Solutions)
    assert len(list(answer.rows)) == 1
    follower = Follower(engine, text)
    for update in (
        "INSERT DATA { <urn:b> <urn:p> 1 . <urn:c> <urn:p> 2 }",
        "INSERT DATA { <urn:a> <urn:p5> 1 ; <urn:q5> 1 . <urn:c> <urn:p7> 7 }",
        "DELETE DATA { <urn:a> <urn:p> 1 }",
    ):
        follower.hear(engine.apply(update, now=0).notifications)
        follower.check()


@pytest.mark.parametrize("kind", GROUPS)
def test_few_and_many_elements_give_the_same_whichever_way_they_are_kept_up_to_date(kind: str, allowed: None) -> None:
    """Few are kept by deltas, many are evaluated after a hit; elements that add nothing make no difference."""
    updates = (
        "INSERT DATA { <urn:a> <urn:p> 1, 2 . <urn:b> <urn:p> 1 . GRAPH <urn:g> { <urn:a> <urn:r> 3 } }",
        "INSERT DATA { <urn:a> <urn:p1> 5 . <urn:b> <urn:q1> 1, 2 . GRAPH <urn:g> { <urn:b> <urn:r> 3 } }",
        "DELETE DATA { <urn:a> <urn:p1> 5 . <urn:b> <urn:q1> 1 }",
    )
    for count in (2, DEEPEST - 8, DEEPEST + 8):
        engine = Engine()
        follower = Follower(engine, f"SELECT * {{ ?s <urn:p> ?o {elements(GROUPS[kind], count)} }}")
        for update in updates:
            follower.hear(engine.apply(update, now=0).notifications)
            follower.check()


@pytest.mark.parametrize("kind", GROUPS)
def test_some_elements_need_no_allowance(kind: str) -> None:
    engine = Engine()
    engine.apply("INSERT DATA { <urn:a> <urn:p> 1 . GRAPH <urn:g> { <urn:a> <urn:r> 3 } }", now=0)
    Follower(engine, f"SELECT * {{ ?s <urn:p> ?o {elements(GROUPS[kind], FEW)} }}").check()


@pytest.mark.parametrize("kind", [kind for kind in GROUPS if kind != "EXISTS"])  # which are conditions, and a chain
def test_what_is_nested_too_deeply_is_refused_in_words_wherever_that_is_found(kind: str) -> None:
    text = f"SELECT * {{ ?s <urn:p> ?o {elements(GROUPS[kind], 12_000)} }}"
    engine = Engine()
    with pytest.raises(BadRequest, match="nested too deeply"):
        list(answer_rows(engine.core.query(text, now=0)))
    with pytest.raises(BadRequest, match="nested too deeply"):
        engine.subscribe(text, now=0)
    with pytest.raises(BadRequest, match="nested too deeply"):
        engine.apply(f"INSERT {{ ?s <urn:x> 1 }} WHERE {text[9:]}", now=0)


def test_what_is_nested_too_deeply_is_refused_in_words() -> None:
    with pytest.raises(SparqlSyntaxError, match="nested too deeply"):
        parse_query("SELECT * { ?s ?p ?o FILTER (" + "(" * 50_000 + "1" + ")" * 50_000 + ") }")
    with pytest.raises(BadRequest, match="nested too deeply"):
        Engine().core.query(f"SELECT * {{ ?s ?p ?o {'OPTIONAL { ?s ?p ?x }' * 20_000} }}", now=0)
