"""Planning is bounded: by the number of parts, by the clock, and by how its steps grow with the size of a request."""

from collections.abc import Callable
from itertools import count

import pytest

from tidings.engine.engine import Engine
from tidings.engine.store.store import Store
from tidings.engine.updates.executor import Core
from tidings.model.errors import RequestTooComplex, TimeLimitExceeded
from tidings.sparql.algebra.complexity import parts_of
from tidings.sparql.evaluate.context import Limits
from tidings.sparql.parser import parse_query


def apart(number: int) -> str:
    """Triple patterns that share nothing."""
    return " ".join(f"?a{n} <urn:p> ?b{n} ." for n in range(number))


@pytest.mark.parametrize(
    ("pattern", "parts"),
    [
        ("{}", 0),
        ("{ ?a ?b ?c . ?d ?e ?f }", 2),
        ("{ ?a ?b ?c FILTER (?c > 1) }", 5),
        ("{ ?a <urn:p>+/<urn:q> ?c }", 5),
        ("{ ?a !(<urn:p>|^<urn:q>) ?c }", 4),
        ("{ ?a ?b ?c OPTIONAL { ?d ?e ?f } }", 3),
        ("{ { ?a ?b ?c } UNION { ?d ?e ?f } }", 3),
        ("{ ?a ?b ?c FILTER EXISTS { ?d ?e ?f . ?g ?h ?i } }", 5),
        ("{ VALUES ?a { 1 2 3 4 5 } }", 1),
        ("{ BIND (1 + 2 - 3 AS ?a) }", 5),
    ],
)
def test_parts_are_counted(pattern: str, parts: int) -> None:
    ask = parse_query(f"ASK {pattern}")
    assert parts_of(ask.pattern) == parts


TOO_COMPLEX = [f"SELECT * {{ {apart(11)} }}", f"ASK {{ FILTER ({' + '.join('1' * 11)} > 1) }}"]


@pytest.mark.parametrize("text", TOO_COMPLEX)
def test_a_query_that_is_too_complex_is_refused_with_the_number_and_the_limit(text: str) -> None:
    core = Core(most_parts=10)
    with pytest.raises(RequestTooComplex, match="limit of max_parts is 10") as refused:
        core.query(text, now=0)
    envelope = refused.value.to_json()
    assert (envelope["error"], envelope["status_code"], envelope["limit"]) == ("request_too_complex", 413, 10)
    assert envelope["measured"] == parts_of(parse_query(text).pattern) > 10


def test_updates_and_subscriptions_are_refused_alike_and_data_is_not() -> None:
    engine = Engine(Core(most_parts=10))
    with pytest.raises(RequestTooComplex):
        engine.apply(f"DELETE WHERE {{ {apart(11)} }}", now=0)
    with pytest.raises(RequestTooComplex):
        engine.apply(f"DELETE WHERE {{ {apart(6)} }} ; DELETE WHERE {{ {apart(6)} }}", now=0)
    for text in TOO_COMPLEX:
        with pytest.raises(RequestTooComplex):
            engine.subscribe(text, now=0)
        with pytest.raises(RequestTooComplex):
            engine.first_answer(text, now=0)
    assert not engine.subscriptions
    data = " ".join(f"<urn:a> <urn:p> {n} ." for n in range(100))
    assert len(engine.apply(f"INSERT DATA {{ {data} }}", now=0).delta) == 100


def ticking(ticks: "count[int]") -> Callable[[], float]:
    return lambda: float(next(ticks))


@pytest.mark.parametrize(
    "pattern",
    [
        apart(3000),
        "?a <urn:p> ?b " + " ".join(f"FILTER (?b != {n})" for n in range(300)),
        " UNION ".join(f"{{ ?a <urn:p> {n} }}" for n in range(300)),
    ],
)
def test_planning_counts_towards_the_time_limit(pattern: str) -> None:
    core = Core(Store([("<urn:s>", "<urn:p>", "<urn:o>", "")]))
    with pytest.raises(TimeLimitExceeded):
        core.query(f"SELECT * {{ {pattern} }}", now=0, limits=Limits(seconds=20, clock=ticking(count())))
    update = f"INSERT {{ ?a <urn:q> 1 }} WHERE {{ {pattern} }}"
    with pytest.raises(TimeLimitExceeded):
        core.update(update, now=0, limits=Limits(seconds=20, clock=ticking(count())))
    assert core.store.size == 1


def test_an_update_that_had_no_time_to_be_planned_is_planned_the_next_time() -> None:
    core = Core(Store([("<urn:s>", "<urn:p>", "<urn:o>", "")]))
    request = core.prepare_update(f"INSERT {{ ?a0 <urn:q> 1 }} WHERE {{ {apart(300)} }}")
    for seconds in (1, 1e9, 1):
        limits = Limits(seconds=seconds, clock=ticking(count()))
        if seconds == 1:
            with pytest.raises(TimeLimitExceeded):
                core.execute(*request, now=0, limits=limits)
        else:
            assert len(core.execute(*request, now=0, limits=limits)) == 1


def test_a_large_conjunction_is_kept_up_to_date_by_evaluating_it() -> None:
    engine = Engine()
    query = f"SELECT ?b0 {{ {' '.join(f'?a <urn:p{n}> ?b{n} .' for n in range(70))} }}"
    subscription, answer = engine.subscribe(query, now=0)
    assert answer == []
    assert "more than 64 triple patterns" in engine.explain(subscription.id).to_text()
    data = " ".join(f"<urn:a> <urn:p{n}> {n} ." for n in range(70))
    (told,) = engine.apply(f"INSERT DATA {{ {data} }}", now=0).notifications
    assert [weight for _, weight in told.changes.items()] == [1]
