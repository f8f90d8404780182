"""The W3C cases once more, as subscriptions: each answer grows with its data and shrinks with it, always exact."""

from collections import Counter
from random import Random
from typing import Any

import pytest

from conformance.cases import PATH, cases, same_rows
from oracles.recomputation import Follower, commit
from tidings.engine.engine import Engine
from tidings.engine.store.store import Store
from tidings.engine.updates.executor import Core
from tidings.model.formats.rdf import RdfFormat, parse_rdf
from tidings.model.terms import FALSE, TRUE, Quad
from tidings.model.zset import ZSet

pytestmark = [
    pytest.mark.conformance,
    pytest.mark.skipif(not PATH.exists(), reason=f"the W3C cases are not at {PATH}"),
]

NOW = 1_700_000_000_000_000


def params(kind: str) -> list[Any]:
    return [pytest.param(case, id=case["id"]) for case in cases(kind)]


def quads_of(text: str) -> list[Quad]:
    return list(dict.fromkeys(parse_rdf(text.encode(), RdfFormat.N_QUADS)))


def batches(quads: list[Quad], random: Random) -> list[list[Quad]]:
    """The quads in some order, a few or all at a time."""
    waiting = random.sample(quads, len(quads))
    result = []
    while waiting:
        size = random.choice([1, 2, 3, 7, len(quads)])
        result.append(waiting[:size])
        del waiting[:size]
    return result


@pytest.mark.parametrize("case", params("query"))
def test_an_answer_follows_its_data_in_and_out(case: dict[str, Any]) -> None:
    data = quads_of(case["data"])
    for seed in range(2):
        random = Random(seed)
        engine = Engine(Core(base=case["base"]))
        follower = Follower(engine, case["query"], now=NOW)
        first = follower.answer.copy()
        for batch in batches(data, random):
            commit(engine, ZSet.change(added=batch), [follower])
            check(follower)
        check_result(follower, case)
        for batch in batches(list(engine.core.store), random):
            commit(engine, ZSet.change(removed=batch), [follower])
            check(follower)
        assert by_chance(follower) or follower.answer == first


def by_chance(follower: Follower) -> bool:
    return any(name in follower.text.upper() for name in ("RAND", "UUID"))


def check(follower: Follower) -> None:
    if not by_chance(follower):
        follower.check(now=NOW)


def check_result(follower: Follower, case: dict[str, Any]) -> None:
    """The answer is the expected one, where the case does not leave open which rows LIMIT takes."""
    expected, answer = case["expected"], list(follower.answer.elements())
    match expected["form"]:
        case "ask":
            assert answer == [(TRUE if expected["boolean"] else FALSE,)]
        case "graph":
            assert same_rows(answer, {quad[:3] for quad in quads_of(expected["nquads"])})
        case "select" if not case["data"] and "FROM" in case["query"]:
            assert answer == []  # its graphs are not given; see the exceptions of test_w3c
        case "select":
            names = follower.subscription.variables
            assert set(names) == set(expected["vars"])
            order = [expected["vars"].index(name) for name in names]
            assert same_rows(answer, [tuple(row[i] for i in order) for row in expected["rows"]])


@pytest.mark.parametrize("case", params("update"))
def test_subscribers_of_everything_see_the_expected_dataset(case: dict[str, Any]) -> None:
    engine = Engine(Core(Store(quads_of(case["data"])), base=case["base"]))
    default = Follower(engine, "SELECT * { ?s ?p ?o }")
    named = Follower(engine, "SELECT ?s ?p ?o ?g { GRAPH ?g { ?s ?p ?o } }")
    notifications = engine.apply(case["request"], now=NOW).notifications
    for follower in (default, named):
        follower.hear(notifications)
        follower.check()
    told = [(*row, "") for row in default.answer.elements()] + list(named.answer.elements())
    assert Counter(told) == Counter(engine.core.store)
    assert same_rows(told, quads_of(case["expected"]))
