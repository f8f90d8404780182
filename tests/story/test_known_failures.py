"""What the reference SEPA broker is known to get wrong, right. Each test has the name of the failure it is about."""

from collections import Counter

import pytest

from oracles.recomputation import Answer, Follower
from tidings.engine.engine import Engine
from tidings.model.access import ALL_RIGHTS, Graphs, Rights
from tidings.model.results import Row
from tidings.model.terms import FALSE, TRUE
from tidings.sparql.algebra import Dataset

PREFIX = "PREFIX : <urn:> "


def iri(name: str) -> str:
    return f"<urn:{name}>"


def integer(value: int) -> str:
    return f'"{value}"^^<http://www.w3.org/2001/XMLSchema#integer>'


class Broker:
    """An engine, as publishers and subscribers see it."""

    def __init__(self, *updates: str) -> None:
        self.engine = Engine()
        self.followers: list[Follower] = []
        for text in updates:
            self.publish(text)

    def publish(self, text: str, now: int = 0) -> None:
        notifications = self.engine.apply(PREFIX + text, now=now).notifications
        for follower in self.followers:
            follower.hear(notifications)

    def follow(self, text: str, dataset: Dataset | None = None, rights: Rights = ALL_RIGHTS) -> Follower:
        self.followers.append(Follower(self.engine, PREFIX + text, dataset, rights=rights))
        return self.followers[-1]


def rows(*found: Row) -> Answer:
    return Counter(found)


def test_data_in_the_default_graph_notifies() -> None:
    broker = Broker()
    follower = broker.follow("SELECT ?o { :lamp :status ?o }")
    broker.publish("INSERT DATA { :lamp :status 1 }")
    assert follower.answer == rows((integer(1),))
    broker.publish("DELETE DATA { :lamp :status 1 }")
    assert follower.answer == rows()
    assert follower.told == 2


def test_an_ask_subscription_notifies_whenever_the_answer_turns() -> None:
    broker = Broker()
    follower = broker.follow("ASK { :lamp :status ?o }")
    assert follower.answer == rows((FALSE,))
    broker.publish("INSERT DATA { :lamp :status 1 }")
    assert follower.answer == rows((TRUE,))
    broker.publish("INSERT DATA { :lamp :status 2 }")
    assert follower.told == 1
    broker.publish("DELETE WHERE { :lamp :status ?o }")
    assert follower.answer == rows((FALSE,))
    assert follower.told == 2


def test_a_row_with_an_optional_part_replaces_the_row_without_it() -> None:
    broker = Broker("INSERT DATA { :lamp a :Lamp }")
    follower = broker.follow("SELECT ?l ?n { ?l a :Lamp OPTIONAL { ?l :name ?n } }")
    assert follower.answer == rows((iri("lamp"), None))
    broker.publish("INSERT DATA { :lamp :name 'desk' }")
    assert follower.answer == rows((iri("lamp"), '"desk"'))
    broker.publish("INSERT DATA { :lamp :name 'work' }")
    assert follower.answer == rows((iri("lamp"), '"desk"'), (iri("lamp"), '"work"'))
    broker.publish("DELETE DATA { :lamp :name 'desk', 'work' }")
    assert follower.answer == rows((iri("lamp"), None))
    broker.publish("INSERT DATA { :other :name 'nobody asked' }")
    assert follower.told == 3


def test_blank_nodes_are_inserted_and_deleted_like_everything_else() -> None:
    broker = Broker()
    follower = broker.follow("SELECT ?v { ?o :of :sensor ; :value ?v }")
    broker.publish("INSERT DATA { [] :of :sensor ; :value 20 }")
    assert follower.answer == rows((integer(20),))
    broker.publish("DELETE { ?o :of ?s } INSERT { _:new :of ?s ; :value 21 } WHERE { ?o :of ?s ; :value 20 }")
    assert follower.answer == rows((integer(21),))
    broker.publish("DELETE { ?o :value 21 } INSERT { ?o :value 22 } WHERE { ?o :value 21 }")
    assert follower.answer == rows((integer(22),))
    assert follower.told == 3


@pytest.mark.parametrize(
    "pattern",
    [
        "?s :p ?o OPTIONAL { GRAPH :g { ?o :q ?v } }",
        "{ ?s :r ?v } UNION { GRAPH :g { ?o :q ?v } }",
        "?s :p ?o { SELECT ?v { GRAPH :g { ?o :q ?v } } }",
        "?s :p ?o FILTER NOT EXISTS { GRAPH :g { ?o :q ?v } }",
        "?s :p ?o MINUS { GRAPH :g { ?o :q ?v } }",
        "GRAPH ?g { ?o :q ?v }",
        "?s :p ?o OPTIONAL { GRAPH ?g { ?o :q ?v } }",
        "GRAPH ?g { ?o :q ?v OPTIONAL { ?o :r ?w } }",
        "GRAPH ?g { { ?s :p ?o } UNION { ?o :q ?v } }",
        "GRAPH ?g { SELECT (COUNT(*) AS ?n) { ?o :q ?v } }",
    ],
)
def test_a_named_graph_is_seen_wherever_it_stands_in_the_pattern(pattern: str) -> None:
    broker = Broker("INSERT DATA { :a :p :b }")
    follower = broker.follow(f"SELECT * {{ {pattern} }}")
    without = follower.answer.copy()
    broker.publish("INSERT DATA { GRAPH :g { :b :q 1 } }")
    follower.check()
    assert follower.told == 1
    assert follower.answer != without
    broker.publish("DELETE DATA { GRAPH :g { :b :q 1 } }")
    assert follower.answer == without
    assert follower.told == 2


def test_a_move_notifies_those_who_watch_its_source() -> None:
    broker = Broker("INSERT DATA { GRAPH :from { :a :p 1 } GRAPH :to { :old :p 2 } }")
    source = broker.follow("SELECT ?s { GRAPH :from { ?s :p ?o } }")
    target = broker.follow("SELECT ?s { GRAPH :to { ?s :p ?o } }")
    anywhere = broker.follow("SELECT ?g ?s { GRAPH ?g { ?s :p ?o } }")
    broker.publish("MOVE :from TO :to")
    assert source.answer == rows()
    assert target.answer == rows((iri("a"),))
    assert anywhere.answer == rows((iri("to"), iri("a")))


@pytest.mark.parametrize("word", ["CLEAR", "DROP"])
def test_everything_can_be_cleared_and_everybody_is_told(word: str) -> None:
    broker = Broker("INSERT DATA { :a :p 1 GRAPH :g { :b :p 2 } GRAPH :h { :c :p 3 } }")
    default = broker.follow("SELECT ?s { ?s :p ?o }")
    named = broker.follow("SELECT ?s { GRAPH ?g { ?s :p ?o } }")
    alive = broker.follow("ASK { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }")
    broker.publish(f"{word} ALL")
    assert default.answer == named.answer == rows()
    assert alive.answer == rows((FALSE,))
    broker.publish(f"{word} ALL")
    assert (default.told, named.told, alive.told) == (1, 1, 1)


def test_now_moves_on_after_the_subscription() -> None:
    broker = Broker()
    follower = broker.follow("SELECT (YEAR(NOW()) AS ?year) {}")
    assert follower.answer == rows((integer(1970),))
    broker.publish("INSERT DATA { :a :p 1 }", now=1_700_000_000_000_000)
    assert follower.answer == rows((integer(2023),))


def test_the_same_query_over_other_graphs_has_other_answers() -> None:
    broker = Broker("INSERT DATA { :a :p 0 GRAPH :g { :a :p 1 } GRAPH :h { :a :p 2 } }")
    text = "SELECT ?o { :a :p ?o }"
    plain = broker.follow(text)
    over_g = broker.follow(text, Dataset((iri("g"),), ()))
    over_h = broker.follow(text, Dataset((iri("h"),), ()))
    broker.publish("INSERT DATA { GRAPH :h { :a :p 3 } }")
    assert plain.answer == rows((integer(0),))
    assert over_g.answer == rows((integer(1),))
    assert over_h.answer == rows((integer(2),), (integer(3),))
    assert (plain.told, over_g.told, over_h.told) == (0, 0, 1)


def test_subscribers_with_other_rights_share_nothing() -> None:
    broker = Broker()
    text = "SELECT ?o { :a :p ?o }"
    default = Graphs(names=frozenset(("",)))
    annas, bertas = (Rights(read=graphs, subscribe=graphs) for graphs in (default, default | Graphs(prefixes=("x:",))))
    anna, berta, again = (broker.follow(text, rights=who) for who in (annas, bertas, annas))
    assert anna.subscription.spu is again.subscription.spu
    assert anna.subscription.spu is not berta.subscription.spu
    broker.publish("INSERT DATA { :a :p 1 }")
    assert anna.answer == berta.answer == again.answer == rows((integer(1),))
