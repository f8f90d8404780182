"""The PyPI package sepy against a broker, unmodified."""

import json
import logging
import threading
import warnings
from contextlib import suppress
from queue import SimpleQueue
from typing import Any

import pytest

from gates.wire import Broker
from waiting import PATIENCE, wait_until

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it asks pkg_resources, which is deprecated, for a file of its own
    from sepy.Exceptions import SubscriptionTimeoutException
    from sepy.SAPObject import SAPObject
    from sepy.SEPA import SEPA
    from sepy.tablaze import tablify

pytestmark = pytest.mark.server

LAMP = "select ?o where { <urn:lamp> <urn:status> ?o }"


def profile(broker: Broker, **more: object) -> dict[str, Any]:
    """The profile that sepy tests itself with, with the ports as strings, as some profiles have them."""
    return {
        "host": "127.0.0.1",
        "sparql11protocol": {
            "protocol": "http",
            "port": str(broker.http_port),
            "query": {"path": "/query", "method": "POST", "format": "JSON"},
            "update": {"path": "/update", "method": "POST", "format": "JSON"},
        },
        "sparql11seprotocol": {
            "protocol": "ws",
            "availableProtocols": {"ws": {"port": str(broker.ws_port), "path": "/subscribe"}},
        },
        "namespaces": {"schema": "http://schema.org", "test": "http://wot.arces.unibo.it/test#"},
        "updates": {
            "INSERT_GREETING": {"sparql": "insert data {test:Francesco test:dice 'Ciao'}"},
            "INSERT_VARIABLE_GREETING": {
                "sparql": "insert data {?nome test:dice ?qualcosa}",
                "forcedBindings": {
                    "nome": {"type": "uri", "value": ""},
                    "qualcosa": {"type": "literal", "value": ""},
                },
            },
        },
        "queries": {"QUERY_GREETINGS": {"sparql": "select * where {?nome test:dice ?qualcosa}"}},
    } | more


@pytest.fixture
def sepa(broker: Broker) -> Any:
    return SEPA(SAPObject(profile(broker), log=logging.ERROR))


class Listener:
    """What a subscription is told: the values of its one variable, added and removed."""

    def __init__(self, name: str = "o") -> None:
        self._name = name
        self._told: SimpleQueue[tuple[list[str], list[str]]] = SimpleQueue()

    def __call__(self, added: list[dict[str, Any]], removed: list[dict[str, Any]]) -> None:
        self._told.put((self._values(added), self._values(removed)))

    def hear(self) -> tuple[list[str], list[str]]:
        return self._told.get(timeout=PATIENCE)

    @property
    def deaf(self) -> bool:
        return self._told.empty()

    def _values(self, bindings: list[dict[str, Any]]) -> list[str]:
        return sorted(row[self._name]["value"] for row in bindings)


def values(results: dict[str, Any], name: str = "o") -> list[str]:
    return sorted(row[name]["value"] for row in results["results"]["bindings"])


def insert(sepa: Any, text: str) -> None:
    sepa.sparql_update(f"insert data {{ {text} }}")


def end(sepa: Any, subscription: str) -> None:
    """Unsubscribe, and wait for sepy to close its socket, as it does when it is told that it has unsubscribed."""
    socket = sepa.get_subscriptions()[subscription]
    sepa.unsubscribe(subscription)
    wait_until(lambda: socket.sock is None)


# -- the life of a subscription ---------------------------------------------------------------------------------


def test_a_subscription_from_its_first_answer_to_its_end(sepa: Any) -> None:
    insert(sepa, "<urn:lamp> <urn:status> 'off'")
    lamp = Listener()
    subscription = sepa.sparql_subscribe(LAMP, "lamp", handler=lamp)
    assert lamp.hear() == (["off"], [])
    sepa.sparql_update("delete data { <urn:lamp> <urn:status> 'off' } ; insert data { <urn:lamp> <urn:status> 'on' }")
    assert lamp.hear() == (["on"], ["off"])
    assert values(sepa.sparql_query(LAMP)) == ["on"]
    end(sepa, subscription)
    insert(sepa, "<urn:lamp> <urn:status> 'broken'")
    again = Listener()
    subscription = sepa.sparql_subscribe(LAMP, "again", handler=again)
    assert again.hear() == (["broken", "on"], [])
    assert lamp.deaf
    end(sepa, subscription)


def test_an_update_tells_what_it_did(sepa: Any) -> None:
    response = json.loads(sepa.sparql_update("insert data { <urn:a> <urn:p> 1 , 2 }"))["response"]
    assert (response["added"], response["removed"]) == (2, 0)


def test_subscriptions_hear_what_is_theirs(sepa: Any) -> None:
    listeners = {alias: Listener() for alias in ("lamp", "door", "bell")}
    subscriptions = {
        alias: sepa.sparql_subscribe(f"select ?o where {{ <urn:{alias}> <urn:status> ?o }}", alias, handler=listener)
        for alias, listener in listeners.items()
    }
    assert len(set(subscriptions.values())) == 3
    assert [listener.hear() for listener in listeners.values()] == [([], [])] * 3
    insert(sepa, "<urn:door> <urn:status> 'open' . <urn:bell> <urn:status> 'silent'")
    assert listeners["door"].hear() == (["open"], [])
    assert listeners["bell"].hear() == (["silent"], [])
    end(sepa, subscriptions.pop("door"))
    insert(sepa, "<urn:lamp> <urn:status> 'on' . <urn:door> <urn:status> 'shut'")
    assert listeners["lamp"].hear() == (["on"], [])
    assert listeners["door"].deaf
    assert listeners["bell"].deaf
    for subscription in subscriptions.values():
        end(sepa, subscription)


def test_the_same_query_twice_is_two_subscriptions(sepa: Any) -> None:
    first, second = Listener(), Listener()
    one, other = (sepa.sparql_subscribe(LAMP, "lamp", handler=listener) for listener in (first, second))
    assert one != other
    assert first.hear() == second.hear() == ([], [])
    end(sepa, one)
    insert(sepa, "<urn:lamp> <urn:status> 'on'")
    assert second.hear() == (["on"], [])
    assert first.deaf
    end(sepa, other)


def test_a_client_that_just_leaves_takes_nobody_with_it(sepa: Any) -> None:
    lamp = Listener()
    left = sepa.sparql_subscribe(LAMP, "left")
    stays = sepa.sparql_subscribe(LAMP, "stays", handler=lamp)
    assert lamp.hear() == ([], [])
    sepa.get_subscriptions()[left].close()
    insert(sepa, "<urn:lamp> <urn:status> 'on'")
    assert lamp.hear() == (["on"], [])
    end(sepa, stays)


def test_everything_can_be_asked_and_cleared(sepa: Any) -> None:
    lamp = Listener()
    insert(sepa, "<urn:lamp> <urn:status> 'on'")
    subscription = sepa.sparql_subscribe(LAMP, "lamp", handler=lamp)
    assert lamp.hear() == (["on"], [])
    assert values(sepa.query_all(), "c") == ["on"]
    sepa.clear()
    assert lamp.hear() == ([], ["on"])
    assert values(sepa.query_all(), "c") == []
    end(sepa, subscription)


def test_an_ask_can_be_subscribed(sepa: Any) -> None:
    turned = Listener("ask")
    subscription = sepa.sparql_subscribe("ask { <urn:lamp> <urn:status> ?o }", "ask", handler=turned)
    assert turned.hear() == (["false"], [])
    insert(sepa, "<urn:lamp> <urn:status> 1")
    assert turned.hear() == (["true"], ["false"])
    end(sepa, subscription)


# -- errors -----------------------------------------------------------------------------------------------------


def test_a_malformed_query_is_told_by_its_status(sepa: Any) -> None:
    with pytest.raises(ValueError, match="Query status code: 400"):
        sepa.sparql_query("selec ?o where { ?s ?p ?o }")


def test_a_malformed_update_is_told_by_the_envelope(sepa: Any) -> None:
    with pytest.raises(ValueError, match="sparql_syntax_error") as refused:
        sepa.sparql_update("insrt data { <urn:a> <urn:p> 1 }")
    assert json.loads(str(refused.value))["status_code"] == 400


def test_a_malformed_subscription_is_told_and_disturbs_nobody(sepa: Any, caplog: pytest.LogCaptureFixture) -> None:
    """sepy cannot read an error. It logs that, and gives up after ten seconds, for which nobody waits here."""
    lamp = Listener()
    subscription = sepa.sparql_subscribe(LAMP, "lamp", handler=lamp)
    assert lamp.hear() == ([], [])

    def subscribe() -> None:
        with suppress(SubscriptionTimeoutException):
            sepa.sparql_subscribe("selec ?o where { ?s ?p ?o }", "bad")

    threading.Thread(target=subscribe, daemon=True).start()
    wait_until(lambda: any("on_message" in message for message in caplog.messages))
    insert(sepa, "<urn:lamp> <urn:status> 'on'")
    assert lamp.hear() == (["on"], [])
    end(sepa, subscription)


# -- graphs and names -------------------------------------------------------------------------------------------

GRAPHS = """<urn:lamp> <urn:status> 'default'
    graph <urn:g> { <urn:lamp> <urn:status> 'g' } graph <urn:h> { <urn:lamp> <urn:status> 'h' }"""


@pytest.mark.parametrize(
    ("graphs", "found"),
    [(None, ["default"]), ("urn:g", ["g"]), (["urn:g"], ["g"]), (["urn:g", "urn:h"], ["g", "h"])],
)
def test_a_subscription_names_its_graphs_one_way_or_the_other(sepa: Any, graphs: object, found: list[str]) -> None:
    insert(sepa, GRAPHS)
    lamp = Listener()
    subscription = sepa.sparql_subscribe(LAMP, "lamp", handler=lamp, default_graph=graphs)
    assert lamp.hear() == (found, [])
    sepa.sparql_update("clear all")
    assert lamp.hear() == ([], found)
    end(sepa, subscription)


@pytest.mark.parametrize("member", ["default-graph-uri", "named-graph-uri"])
def test_the_graphs_of_a_profile_hold_for_its_subscriptions(broker: Broker, member: str) -> None:
    """Named graphs as well, but as the default graph, for that is how sepy sends them."""
    sepa = SEPA(SAPObject(profile(broker, graphs={member: "urn:h"}), log=logging.ERROR))
    insert(sepa, GRAPHS)
    lamp = Listener()
    subscription = sepa.sparql_subscribe(LAMP, "lamp", handler=lamp)
    assert lamp.hear() == (["h"], [])
    end(sepa, subscription)


def test_relative_iris_mean_the_same_to_all(sepa: Any) -> None:
    lamp = Listener("a")
    subscription = sepa.sparql_subscribe("select ?a where {<integration> <tests> ?a}", "tests", handler=lamp)
    assert lamp.hear() == ([], [])
    insert(sepa, "<integration> <tests> '--hello--'")
    assert lamp.hear() == (["--hello--"], [])
    assert values(sepa.sparql_query("select ?a where {<integration> <tests> ?a}"), "a") == ["--hello--"]
    end(sepa, subscription)


def test_text_of_any_script_arrives_as_it_was_sent(sepa: Any) -> None:
    lamp = Listener()
    subscription = sepa.sparql_subscribe(LAMP, "lämp ☀ \"'", handler=lamp)
    assert lamp.hear() == ([], [])
    insert(sepa, "<urn:lamp> <urn:status> 'été ☀ 日本 \\u00e9 \\n \\\"'")
    assert lamp.hear() == (['été ☀ 日本 é \n "'], [])
    end(sepa, subscription)


# -- JSAP -------------------------------------------------------------------------------------------------------


def test_a_profile_publishes_asks_and_subscribes(sepa: Any) -> None:
    """What sepy's own tests do."""
    sepa.clear()
    sepa.update("INSERT_GREETING")
    prefixes = sepa.sap.get_namespaces(stringList=True)
    table = tablify(sepa.query_all(), prefix_file=prefixes, destination=None)
    assert "| (uri) test:Francesco | (uri) test:dice | (literal) Ciao |" in table
    greetings = Listener("qualcosa")
    subscription = sepa.subscribe("QUERY_GREETINGS", "test", handler=greetings)
    assert greetings.hear() == (["Ciao"], [])
    sepa.update("INSERT_VARIABLE_GREETING", forcedBindings={"nome": "test:Adriano", "qualcosa": "Salve"})
    assert greetings.hear() == (["Salve"], [])
    assert values(sepa.query("QUERY_GREETINGS"), "qualcosa") == ["Ciao", "Salve"]
    end(sepa, subscription)
