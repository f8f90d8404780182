"""Reachability between bound ends agrees with walking anew, whatever edges, starts and goals come and go."""

from random import Random

import pytest

from oracles.recomputation import Answer, Follower, commit
from tidings.engine.engine import Engine
from tidings.engine.operators.reach import pairs, reach, turns
from tidings.engine.operators.reach.automaton import Automaton
from tidings.engine.operators.reach.search_tree import SearchTree
from tidings.engine.store.store import Store
from tidings.engine.updates.executor import Core
from tidings.model.terms import Quad
from tidings.model.zset import ZSet
from tidings.sparql.algebra import Alternative, Inverse, Negated, Path, Repeat, Sequence
from tidings.sparql.evaluate.walk import ends, reverse

EX = "http://example.org/"
PREFIX = f"PREFIX : <{EX}> "
NODES = [f"<{EX}n{number}>" for number in range(9)]
CLASSES = [f"<{EX}{name}>" for name in ("Start", "Goal")]
P, Q, IS = (f"<{EX}{name}>" for name in ("p", "q", "is"))
GRAPH = f"<{EX}g>"
ENOUGH = 30
"""Quads: some three edges for each node, and a few starts and goals."""

QUERIES = [
    "SELECT ?x { :n0 :p+ ?x }",
    "SELECT ?x { :n0 :p* ?x }",
    "SELECT ?x { ?x :p+ :n0 }",
    "SELECT ?x { :n0 :p? ?x }",
    "ASK { :n0 :p+ :n3 }",
    "ASK { :n0 :p* :n0 }",
    "SELECT ?x { :n0 ^:p+ ?x }",
    "SELECT ?x { :n0 (:p/:q)+ ?x }",
    "SELECT ?x { :n0 (:p|^:q)* ?x }",
    "SELECT ?x { :n0 (:p*/:q?)+ ?x }",
    "SELECT ?x { :n0 (!:is)+ ?x }",
    "SELECT ?x { :n0 (!(:is|^:p))* ?x }",
    "SELECT ?s ?g { ?s :is :Start . ?s :p+ ?g . ?g :is :Goal }",
    "SELECT ?s ?g { ?s :is :Start . ?s :p* ?g . ?g :is :Goal }",
    "SELECT ?s ?g { ?s :is :Start . ?s :p+ ?g }",
    "SELECT ?s ?g { ?s :is :Start . ?s :p* ?g }",
    "SELECT ?s ?g { ?s :p+ ?g . ?g :is :Goal }",
    "SELECT ?s ?g { ?s :is :Start ; :q ?g . ?s :p+ ?g }",
    "SELECT ?s ?g { ?g :q ?s . ?s :p* ?g }",
    "SELECT ?a ?c { ?a :is :Start . ?a :p+ ?b . ?b :q+ ?c }",
    "SELECT ?a ?c { ?a :is :Start . ?a :p+/:q+ ?c . ?c :is :Goal }",
    "SELECT ?b { :n0 :p+ ?b . ?b :q* :n1 }",
    "SELECT ?s (COUNT(?g) AS ?n) { ?s :is :Start . ?s :p+ ?g } GROUP BY ?s",
    "SELECT ?s ?g { VALUES ?s { :n0 :n1 :n77 } ?s :p* ?g }",
    "SELECT ?s ?g { VALUES ?s { :n0 :n1 :n77 } ?s :p+ ?g }",
    "SELECT ?s ?g { ?s :is :Start OPTIONAL { ?s :p+ ?g . ?g :is :Goal } }",
    "SELECT ?s { ?s :is :Start FILTER NOT EXISTS { ?s :p+ ?g . ?g :is :Goal } }",
    "SELECT ?s { ?s :is :Start MINUS { ?s :p+ ?g . ?g :is :Goal } }",
    "SELECT ?s ?g { ?s :is :Start OPTIONAL { ?s :q ?t } ?t :p+ ?g }",
    "SELECT ?s ?g { { ?s :is :Start } UNION { ?s :is :Goal } ?s :p+ ?g }",
    "SELECT ?s ?g { ?s :is :Start { ?s :p+ ?g } UNION { ?s :q ?g } UNION { ?s :q+ ?g . ?g :is :Goal } }",
    "SELECT ?s ?g { :n1 :q ?s . ?s :p+ ?g }",
    "SELECT ?s ?g { :n2 :q ?s . ?s :p+ ?g }",
    "SELECT ?s ?g ?h { ?s :is :Start . ?s :p+ ?g . ?s :q+ ?h }",
    "SELECT ?x ?y { ?x :p+ ?y }",
    "SELECT ?x ?y { ?x :p* ?y }",
    "SELECT ?x ?y { ?x (:p|^:q)* ?y }",
    "SELECT ?x ?y { ?x (:p*/:q?)+ ?y }",
    "SELECT ?g ?x ?y { GRAPH ?g { ?x :p* ?y } }",
    "SELECT ?x { ?x :is :Start . ?x :p+ ?x }",
    "SELECT ?x { GRAPH :g { :n0 :p+ ?x } }",
    "SELECT ?s ?x { ?s :is :Start GRAPH :g { ?s :p+ ?x } }",
    "SELECT ?x FROM :g FROM :h { :n0 :p+ ?x }",
    "SELECT ?s ?x { GRAPH ?g { ?s :is :Start . ?s :p+ ?x } }",
]


def quads(random: Random) -> Quad:
    """Mostly edges, of one graph; sometimes what is a start, or a goal."""
    graph = random.choice(("", "", "", "", GRAPH, f"<{EX}h>"))
    if random.random() < 0.2:
        return random.choice(NODES), IS, random.choice(CLASSES), graph
    return random.choice(NODES), random.choice((P, P, P, Q)), random.choice(NODES), graph


def delta(random: Random, store: Store, most: int) -> ZSet[Quad]:
    """Some quads that are there go, and others come; there are enough of them for paths to lead somewhere."""
    there = list(store)
    going = 0.3 if len(there) < ENOUGH else 0.7
    changes: dict[Quad, int] = {}
    for _ in range(random.randint(1, most)):
        if there and random.random() < going:
            changes[random.choice(there)] = -1
        elif (quad := quads(random)) not in store:
            changes[quad] = 1
    return ZSet(changes.items())


def answers(followers: list[Follower]) -> list[Answer]:
    return [follower.answer.copy() for follower in followers]


@pytest.fixture(params=[(64, 256), (2, 1)], ids=["a tree for each root", "some roots only walked from, in turns"])
def most_trees(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    most: int = request.param[0]
    first_walk: int = request.param[1]
    monkeypatch.setattr(turns, "_FIRST_WALK", first_walk)
    monkeypatch.setattr(reach, "MOST_TREES", most)
    monkeypatch.setattr(pairs, "IDLE_TREES", 2)
    return most


@pytest.mark.usefixtures("most_trees")
@pytest.mark.parametrize("seed", range(3))
def test_answers_are_those_of_walking_anew(seed: int) -> None:
    random = Random(seed)
    engine = Engine()
    for _ in range(6):
        commit(engine, delta(random, engine.core.store, 5))
    followers = [Follower(engine, PREFIX + query) for query in QUERIES]
    for number in range(30):
        commit(engine, delta(random, engine.core.store, 1 + number % 4), followers)
        for follower in followers:
            follower.check()
        if number % 10 == 9:
            followers.append(Follower(engine, PREFIX + f"SELECT ?s ?g {{ :n{number % 7} :q ?s . ?s :p+ ?g }}"))


@pytest.mark.usefixtures("most_trees")
@pytest.mark.parametrize("seed", range(2))
def test_a_history_and_its_inverse_leave_the_first_answer(seed: int) -> None:
    random = Random(seed)
    engine = Engine()
    for _ in range(8):
        commit(engine, delta(random, engine.core.store, 5))
    followers = [Follower(engine, PREFIX + query) for query in QUERIES]
    first = answers(followers)
    history = []
    for _ in range(8):
        history.append(delta(random, engine.core.store, 4))
        commit(engine, history[-1], followers)
    for each in reversed(history):
        commit(engine, -each, followers)
    assert answers(followers) == first


def test_roots_are_where_less_is_reached() -> None:
    star = [(NODES[0], P, f"<{EX}leaf{number}>", "") for number in range(2_000)]
    store = Store(star)
    charged: list[int] = []
    path, hub, leaves = Repeat(P, 1, True), [NODES[0]], [star[0][2], star[1][2]]
    assert not pairs.starts_lead_to_less(path, hub, leaves, store.default, charged.append)
    assert sum(charged) < 1_000  # not all that the hub leads to
    assert pairs.starts_lead_to_less(reverse(path), leaves, hub, store.default, charged.append)
    engine = Engine(
        Core(Store([*star, (NODES[0], IS, CLASSES[0], ""), *((leaf, IS, CLASSES[1], "") for leaf in leaves)]))
    )
    follower = Follower(engine, PREFIX + "SELECT ?s ?g { ?s :is :Start . ?s :p+ ?g . ?g :is :Goal }")
    commit(engine, ZSet.change(removed=star[:1]), [follower])
    follower.check()
    assert "2 root(s) at the end" in engine.explain(follower.subscription.id).to_text()


def test_a_path_in_a_union_starts_from_what_the_union_is_joined_with() -> None:
    engine = Engine(Core(Store([(NODES[0], P, NODES[1], ""), (NODES[0], IS, CLASSES[0], "")])))
    follower = Follower(engine, PREFIX + "SELECT * { ?s :is :Start { ?s :p+ ?g } UNION { ?s :q ?g } }")
    for quad in ((NODES[1], P, NODES[2], ""), (NODES[0], Q, NODES[3], ""), (NODES[4], P, NODES[5], "")):
        commit(engine, ZSet.change(added=[quad]), [follower])
        follower.check()
    plan = engine.explain(follower.subscription.id).to_text()
    assert "reach:" in plan
    assert "path:" not in plan


PATHS: list[Path] = [
    Repeat(P, 1, True),
    Repeat(P, 0, True),
    Repeat(Sequence(P, Inverse(Q)), 1, True),
    Repeat(Alternative(Repeat(Sequence(P, P), 1, True), Repeat(Q, 0, False)), 0, True),
    Repeat(Negated((P,), (Q,)), 1, True),
    Repeat(Inverse(Sequence(P, Repeat(Q, 0, True))), 1, False),
]


@pytest.mark.parametrize("path", PATHS, ids=str)
@pytest.mark.parametrize("seed", range(10))
def test_a_search_tree_reaches_what_a_walk_does(path: Path, seed: int) -> None:
    random = Random(seed)
    automaton = Automaton(path)
    store = Store()
    tree = SearchTree(NODES[0], automaton, store.default, stands=automaton.stands_still)
    for _ in range(80):
        there = [quad for quad in store if not quad[3]]
        change: dict[Quad, int] = {}
        for _ in range(random.randint(1, 4)):
            if there and random.random() < 0.5:
                change[random.choice(there)] = -1
            else:
                quad = (random.choice(NODES), random.choice((P, P, Q)), random.choice(NODES), "")
                if quad not in store:
                    change[quad] = 1
        before = set(tree.ends)
        store.apply(ZSet(change.items()))
        removed = [edge for quad, weight in change.items() if weight < 0 for edge in automaton.edges(quad)]
        added = [edge for quad, weight in change.items() if weight > 0 for edge in automaton.edges(quad)]
        told = tree.advance(removed, added, store.default, stands=automaton.stands_still)
        expected = set(ends(path, store.default, NODES[0]))
        assert set(tree.ends) == expected
        assert told == {**dict.fromkeys(expected - before, 1), **dict.fromkeys(before - expected, -1)}


@pytest.mark.parametrize(
    "query",
    [
        "SELECT ?x ?y { ?x :p+ ?y }",
        "SELECT ?x ?y { ?x ^:p* ?y }",
        "SELECT ?s ?g { ?s :is :Start . ?s :p+ ?g . ?g :is :Goal }",
        "SELECT ?s ?g { ?s :is :Goal . ?s ^:p+ ?g . ?g :is :Start }",
    ],
)
def test_an_edge_at_a_leaf_costs_no_walk_through_all_that_its_ancestors_reach(query: str) -> None:
    engine = Engine()
    tree = " ".join(f":n{(number - 1) // 4} :p :n{number} ." for number in range(1, 2000))
    ends = " ".join(f":n{number} :is :Start, :Goal ." for number in range(0, 2000, 2))
    engine.apply(f"{PREFIX} INSERT DATA {{ {tree} {ends} }}", now=0)
    follower = Follower(engine, PREFIX + query)
    follower.hear(engine.apply(f"{PREFIX} INSERT DATA {{ :n77 :p :m1 }}", now=0).notifications)  # finds the roots
    meter = follower.subscription.spu.meter
    before = meter.check()
    for update in ("INSERT DATA { :n1998 :p :m2 }", "DELETE DATA { :n499 :p :n1998 }"):
        follower.hear(engine.apply(f"{PREFIX} {update}", now=0).notifications)
        follower.check()
    assert before - meter.check() < 2000  # from the root alone, each would be 4,000
