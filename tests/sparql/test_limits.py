"""A time limit and a row limit end any evaluation with a clear error, and change nothing."""

from collections import deque
from collections.abc import Callable
from itertools import count

import pytest

from tidings.engine.store.store import Store
from tidings.engine.updates.executor import Core
from tidings.model.errors import RowLimitExceeded, TimeLimitExceeded
from tidings.model.results import Solutions, Triples
from tidings.sparql.evaluate.context import Limits, Meter, Spent
from tidings.sparql.evaluate.query import evaluate
from tidings.sparql.parser import parse_query

THREE_WAYS = "SELECT * { ?a ?p ?b . ?c ?q ?d . ?e ?r ?f }"
EVERY_OPERATOR = [
    THREE_WAYS,
    "SELECT (COUNT(*) AS ?n) { ?a ?p ?b . ?c ?q ?d . ?e ?r ?f }",
    "SELECT DISTINCT ?a { ?a ?p ?b . ?c ?q ?d . ?e ?r ?f }",
    "SELECT * { ?a ?p ?b . ?c ?q ?d . ?e ?r ?f } ORDER BY ?a",
    "ASK { ?a ?p ?b . ?c ?q ?d . ?e ?r ?f FILTER(?a + ?c + ?e = 1) }",
    "SELECT * { ?a (<urn:p>|!<urn:p>)* ?b . ?c ?q ?d }",
    "SELECT * { { SELECT ?a { ?a ?p ?b . ?c ?q ?d . ?e ?r ?f } } MINUS { ?a <urn:none> ?z } FILTER(?a = 1) }",
]


def store(size: int = 60) -> Store:
    return Store((f"<urn:s{n}>", "<urn:p>", f"<urn:o{n}>", "") for n in range(size))


def ticking() -> Callable[[], float]:
    """A clock that is a second later each time it is looked at."""
    ticks = count()
    return lambda: float(next(ticks))


def drain(core: Core, text: str, limits: Limits) -> int:
    result = core.query(text, now=0, limits=limits)
    return len(list(result.rows)) if isinstance(result, Solutions) else 0


@pytest.mark.parametrize("text", EVERY_OPERATOR)
def test_an_evaluation_that_takes_too_long_ends(text: str) -> None:
    with pytest.raises(TimeLimitExceeded, match="limit of 5 s"):
        drain(Core(store()), text, Limits(seconds=5, clock=ticking()))


def test_a_path_that_takes_long_to_lead_anywhere_ends_before_it_does() -> None:
    """One row is all there is: nobody but the walk itself can look at the clock on its way."""
    chain = Store((f"<urn:s{n}>", "<urn:p>", f"<urn:s{n + 1}>", "") for n in range(100))
    text = "ASK { <urn:s0> ((<urn:p>|^<urn:p>)*/(<urn:p>|^<urn:p>)*)* <urn:none> }"
    with pytest.raises(TimeLimitExceeded, match="limit of 100 s"):
        drain(Core(chain), text, Limits(seconds=100, clock=ticking()))


def test_an_evaluation_within_its_time_is_not_disturbed() -> None:
    assert drain(Core(store(5)), THREE_WAYS, Limits(seconds=1e9, clock=ticking())) == 125


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * { ?a ?p ?b }",
        "SELECT DISTINCT ?a { ?a ?p ?b }",
        "SELECT ?a { ?a ?p ?b } ORDER BY ?a",
        "SELECT ?a { ?a ?p ?b } GROUP BY ?a",
    ],
)
def test_a_result_with_too_many_rows_ends_at_the_limit(text: str) -> None:
    assert drain(Core(store(10)), text, Limits(rows=10)) == 10
    with pytest.raises(RowLimitExceeded, match="limit of 9 rows"):
        drain(Core(store(10)), text, Limits(rows=9))


def test_groups_count_even_if_only_a_few_of_them_are_shown() -> None:
    text = "SELECT ?a { ?a ?p ?b } GROUP BY ?a LIMIT 1"
    with pytest.raises(RowLimitExceeded):
        drain(Core(store(10)), text, Limits(rows=9))


def test_an_aggregate_over_many_rows_is_one_row() -> None:
    assert drain(Core(store(10)), "SELECT (COUNT(*) AS ?n) { ?a ?p ?b }", Limits(rows=1)) == 1


@pytest.mark.parametrize("limits", [Limits(rows=9), Limits(seconds=1, clock=ticking())])
def test_an_update_that_passes_a_limit_leaves_no_trace(limits: Limits) -> None:
    core = Core(store(10))
    before = set(core.store)
    request = "INSERT DATA { <urn:new> <urn:p> 1 } ; DELETE { ?s ?p ?o } WHERE { ?s ?p ?o . ?a ?b ?c . ?d ?e ?f }"
    with pytest.raises((RowLimitExceeded, TimeLimitExceeded)):
        core.update(request, now=0, limits=limits)
    assert set(core.store) == before


def test_the_time_limit_of_a_request_covers_all_its_operations() -> None:
    one = "INSERT { ?s <urn:q> ?o } WHERE { ?s <urn:p> ?o }"
    core = Core(store(10))
    core.update(one, now=0, limits=Limits(seconds=5, clock=ticking()))
    with pytest.raises(TimeLimitExceeded):
        core.update(" ; ".join([one] * 20), now=0, limits=Limits(seconds=5, clock=ticking()))


def test_a_time_limit_without_a_clock_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="clock"):
        drain(Core(store(1)), THREE_WAYS, Limits(seconds=1))


TEN = "{ 1 2 3 4 5 6 7 8 9 10 }"
BY_THE_THOUSAND = {
    "inline data": f"SELECT (COUNT(*) AS ?n) {{ VALUES ?a {TEN} VALUES ?b {TEN} VALUES ?c {TEN} VALUES ?d {TEN} }}",
    "unions": "SELECT (COUNT(*) AS ?n) {" + "{ {} UNION {} }" * 12 + "}",
    "templates": "CONSTRUCT {" + "".join(f"<urn:s> <urn:p> {n} . " for n in range(4096)) + "} {}",
    "descriptions": "DESCRIBE <urn:hub>",
    "patterns that nothing fits": "SELECT * { ?x ?p ?x }",
    "patterns that nothing fits in any graph": "SELECT * { GRAPH ?g { ?x ?p ?x } }",
    "names of graphs": "SELECT * { GRAPH ?g { FILTER(?g = 1) } }",
}


@pytest.mark.parametrize("text", BY_THE_THOUSAND.values(), ids=BY_THE_THOUSAND.keys())
def test_work_that_looks_up_little_or_gives_no_row_looks_at_the_clock_as_well(text: str) -> None:
    many = [("<urn:hub>", "<urn:p>", f"<urn:o{n}>") for n in range(4096)]
    core = Core(Store([*((*each, "") for each in many), *((*each, f"<urn:g{n}>") for n, each in enumerate(many))]))
    clock = ticking()
    result = core.query(text, now=0, limits=Limits(seconds=1e9, clock=clock))
    planned = clock()
    deque(result.triples if isinstance(result, Triples) else result.rows, maxlen=0)  # type: ignore[union-attr]
    assert clock() - planned > 4096 / 512


@pytest.mark.parametrize("call", ["UCASE(?o)", "SHA512(?o)", "REPLACE(?o, 'b', 'c')", "xsd:string(?o)"])
def test_what_is_done_to_long_texts_looks_at_the_clock_and_counts_by_their_length(call: str) -> None:
    long = Store([("<urn:s>", "<urn:p>", f'"{"a" * 100_000}"', "")])
    prefix = "PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> "
    query = f"{prefix}SELECT ?n {{ ?s ?p ?o BIND({' || '.join([f'STRLEN({call}) = 1'] * 20)} AS ?n) }}"
    with pytest.raises(TimeLimitExceeded):
        drain(Core(long), query, Limits(seconds=20, clock=ticking()))
    meter = Meter()
    meter.begin(20_000)
    with pytest.raises(Spent):
        deque(evaluate(parse_query(query), long, meter=meter).rows, maxlen=0)  # type: ignore[union-attr]
