"""The npm package @arces-wot/sepa-js against a broker, unmodified."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from clients import sepa_js
from clients.sepa_js import Refused, SepaJs
from gates.wire import Broker, own_ports, serving

pytestmark = pytest.mark.server

LAMP = "select ?o where { <urn:lamp> <urn:status> ?o }"


def profile(broker: Broker) -> dict[str, Any]:
    """A JSAP, with the ports as strings, as some profiles have them."""
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
        "namespaces": {"exp": "http://www.w3.org/example#"},
        "updates": {
            "simpleUpdate": {"sparql": "INSERT DATA { exp:hello exp:from 'js' }"},
            "updateArgs": {
                "sparql": "INSERT DATA {?sub ?pred ?obj}",
                "forcedBindings": {
                    "sub": {"type": "uri", "value": "exp:hello"},
                    "pred": {"type": "uri", "value": "exp:from"},
                    "obj": {"type": "literal", "value": "js"},
                },
            },
        },
        "queries": {
            "simpleQuery": {"sparql": "select * where{?a ?b ?c}"},
            "queryArgs": {
                "sparql": "select * where{?a ?b ?c}",
                "forcedBindings": {"a": {"type": "uri", "value": "exp:person1"}},
            },
        },
    }


@pytest.fixture
def sepa(broker: Broker, node: str, modules: Path) -> Iterator[SepaJs]:
    with sepa_js.running(node, modules, profile(broker)) as client:
        yield client


def values(results: dict[str, Any], name: str = "o") -> list[str]:
    return sorted(row[name]["value"] for row in results["results"]["bindings"])


def follow(sepa: SepaJs, text: str, alias: str, *config: object) -> dict[str, Any]:
    """Notification 0."""
    assert sepa.call("subscribe", text, alias, *config) == alias
    return notified(sepa, alias, 0)


def notified(sepa: SepaJs, alias: str, sequence: int) -> dict[str, Any]:
    notification = sepa.hear(alias, "notification")
    assert isinstance(notification, dict)
    assert (notification["alias"], notification["sequence"]) == (alias, sequence)
    return notification


def insert(sepa: SepaJs, text: str) -> None:
    assert sepa.call("update", f"insert data {{ {text} }}")["status"] == 200


# -- the life of a subscription ---------------------------------------------------------------------------------


def test_a_subscription_from_its_first_answer_to_its_end(sepa: SepaJs) -> None:
    insert(sepa, "<urn:lamp> <urn:status> 'off'")
    assert sepa.call("subscribe", LAMP, "lamp") == "lamp"
    subscribed = sepa.hear("lamp", "subscribed")
    assert values(subscribed["addedResults"]) == ["off"]
    assert notified(sepa, "lamp", 0) == subscribed

    sepa.call("update", "delete data { <urn:lamp> <urn:status> 'off' } ; insert data { <urn:lamp> <urn:status> 'on' }")
    changed = notified(sepa, "lamp", 1)
    assert (values(changed["addedResults"]), values(changed["removedResults"])) == (["on"], ["off"])
    assert changed["addedResults"]["head"]["vars"] == changed["removedResults"]["head"]["vars"] == ["o"]
    assert sepa.hear("lamp", "added") == changed["addedResults"]
    assert sepa.hear("lamp", "removed") == changed["removedResults"]
    assert values(sepa.call("query", LAMP)) == ["on"]

    sepa.call("unsubscribe", "lamp")
    assert sepa.hear("lamp", "unsubscribed")["unsubscribed"]["spuid"] == changed["spuid"]
    sepa.hear("lamp", "closed")
    insert(sepa, "<urn:lamp> <urn:status> 'broken'")
    assert values(follow(sepa, LAMP, "again")["addedResults"]) == ["broken", "on"]
    assert sepa.unheard("lamp") == []


def test_a_client_that_ended_its_subscription_is_let_go(sepa: SepaJs) -> None:
    """sepa-js closes without a code, which it then hears of as 1005, and waits for the broker to close as well."""
    follow(sepa, LAMP, "lamp")
    assert sepa.call("sockets") == 1
    sepa.call("unsubscribe", "lamp")
    sepa.hear("lamp", "unsubscribed")
    assert sepa.hear("lamp", "closed") in {1000, 1005}
    assert sepa.call("sockets") == 0


def test_subscriptions_on_one_socket_hear_what_is_theirs(sepa: SepaJs) -> None:
    for alias in ("lamp", "door", "bell"):
        follow(sepa, f"select ?o where {{ <urn:{alias}> <urn:status> ?o }}", alias)
    assert sepa.call("sockets") == 1
    insert(sepa, "<urn:door> <urn:status> 'open' . <urn:bell> <urn:status> 'silent'")
    assert values(notified(sepa, "door", 1)["addedResults"]) == ["open"]
    assert values(notified(sepa, "bell", 1)["addedResults"]) == ["silent"]
    sepa.call("unsubscribe", "door")
    sepa.hear("door", "unsubscribed")
    insert(sepa, "<urn:lamp> <urn:status> 'on' . <urn:door> <urn:status> 'shut' . <urn:bell> <urn:status> 'loud'")
    assert values(notified(sepa, "lamp", 1)["addedResults"]) == ["on"]
    assert values(notified(sepa, "bell", 2)["addedResults"]) == ["loud"]
    assert sepa.unheard("door") == []


def test_the_same_query_twice_is_two_subscriptions(sepa: SepaJs) -> None:
    first, second = follow(sepa, LAMP, "first"), follow(sepa, LAMP, "second")
    assert first["spuid"] != second["spuid"]
    sepa.call("unsubscribe", "first")
    sepa.hear("first", "unsubscribed")
    insert(sepa, "<urn:lamp> <urn:status> 'on'")
    assert values(notified(sepa, "second", 1)["addedResults"]) == ["on"]
    assert sepa.unheard("first") == []


def test_a_client_that_dies_takes_nobody_with_it(broker: Broker, sepa: SepaJs, node: str, modules: Path) -> None:
    follow(sepa, LAMP, "lamp")
    with sepa_js.running(node, modules, profile(broker)) as other:
        follow(other, LAMP, "lamp")
        other.end()
    insert(sepa, "<urn:lamp> <urn:status> 'on'")
    assert values(notified(sepa, "lamp", 1)["addedResults"]) == ["on"]


def test_a_subscription_that_was_killed_leaves_the_others(sepa: SepaJs) -> None:
    """`kill` stops listening but says nothing to the broker, which goes on telling."""
    follow(sepa, LAMP, "killed")
    follow(sepa, LAMP, "lamp")
    sepa.call("kill", "killed")
    insert(sepa, "<urn:lamp> <urn:status> 'on'")
    assert values(notified(sepa, "lamp", 1)["addedResults"]) == ["on"]
    assert "notification" not in sepa.unheard("killed")


def test_a_client_finds_the_broker_again_when_it_was_restarted(tmp_path: Path, node: str, modules: Path) -> None:
    ports = own_ports()
    with serving(tmp_path, *ports) as first, sepa_js.running(node, modules, profile(first)) as sepa:
        insert(sepa, "<urn:lamp> <urn:status> 'off'")
        before = follow(sepa, LAMP, "lamp")
        assert first.stop() == 0
        with serving(tmp_path, *ports) as second:
            after = notified(sepa, "lamp", 0)
            assert after["addedResults"] == before["addedResults"]
            second.update("insert data { <urn:lamp> <urn:status> 'on' }")
            assert values(notified(sepa, "lamp", 1)["addedResults"]) == ["on"]


def test_a_subscription_may_end_before_it_was_answered(sepa: SepaJs) -> None:
    """Before its first notification sepa-js knows no spuid, and sends an alias only."""
    follow(sepa, LAMP, "lamp")
    sepa.call("subscribeAndUnsubscribe", LAMP, "hasty")
    assert values(notified(sepa, "hasty", 0)["addedResults"]) == []
    sepa.hear("hasty", "unsubscribed")
    insert(sepa, "<urn:lamp> <urn:status> 'on'")
    assert values(notified(sepa, "lamp", 1)["addedResults"]) == ["on"]
    assert sepa.unheard("hasty") == []


# -- errors -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["query", "update"])
def test_a_malformed_request_is_rejected_with_the_envelope(sepa: SepaJs, kind: str) -> None:
    with pytest.raises(Refused) as refused:
        sepa.call(kind, "selectfa ?a where {<integration> <tests> ?a}")
    assert refused.value.status == 400
    assert (refused.value.body["error"], refused.value.body["status_code"]) == ("sparql_syntax_error", 400)


def test_a_malformed_subscription_is_an_error_of_its_own_on_the_shared_socket(sepa: SepaJs) -> None:
    follow(sepa, LAMP, "lamp")
    sepa.call("subscribe", "selectfa ?a where {<integration> <tests> ?a}", "bad")
    error = sepa.hear("bad", "error")
    assert (error["error"], error["status_code"], error["alias"]) == ("sparql_syntax_error", 400, "bad")
    insert(sepa, "<urn:lamp> <urn:status> 'on'")
    assert values(notified(sepa, "lamp", 1)["addedResults"]) == ["on"]
    assert "error" not in sepa.unheard("lamp")


# -- graphs and names -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("graphs", ["urn:g", ["urn:g"]], ids=["a string", "an array"])
def test_a_subscription_names_its_graphs_one_way_or_the_other(sepa: SepaJs, graphs: object) -> None:
    data = "<urn:lamp> <urn:status> 'default' graph <urn:g> { <urn:lamp> <urn:status> 'g' }"
    insert(sepa, f"{data} graph <urn:h> {{ <urn:lamp> <urn:status> 'h' }}")
    named = "select ?o where { graph ?g { <urn:lamp> <urn:status> ?o } }"
    everywhere = follow(sepa, named, "everywhere")
    over_g = follow(sepa, LAMP, "over g", {"options": {"default-graph-uri": graphs}})
    in_g = follow(sepa, named, "in g", {"options": {"named-graph-uri": graphs}})
    assert values(everywhere["addedResults"]) == ["g", "h"]
    assert values(over_g["addedResults"]) == values(in_g["addedResults"]) == ["g"]
    insert(sepa, "<urn:lamp> <urn:status> 2 graph <urn:h> { <urn:lamp> <urn:status> 3 }")
    insert(sepa, "graph <urn:g> { <urn:lamp> <urn:status> 4 }")
    assert values(notified(sepa, "over g", 1)["addedResults"]) == ["4"]
    assert values(notified(sepa, "in g", 1)["addedResults"]) == ["4"]
    sepa.call("unsubscribe", "in g")
    sepa.hear("in g", "unsubscribed")


@pytest.mark.parametrize(("graphs", "found"), [("urn:g", ["g"]), (["urn:g", "urn:h"], ["g", "h"])])
def test_a_query_names_its_graphs_in_parameters(sepa: SepaJs, graphs: object, found: list[str]) -> None:
    """Of an array, axios makes the parameter `default-graph-uri[]`."""
    insert(sepa, "<urn:lamp> <urn:status> 'default' graph <urn:g> { <urn:lamp> <urn:status> 'g' }")
    insert(sepa, "graph <urn:h> { <urn:lamp> <urn:status> 'h' }")
    assert values(sepa.call("query", LAMP, {"options": {"params": {"default-graph-uri": graphs}}})) == found


def test_relative_iris_mean_the_same_to_all(sepa: SepaJs) -> None:
    """The texts are those of the tests of sepa-js."""
    sepa.call("update", "delete{<integration> <tests> ?a}where{<integration> <tests> ?a}")
    follow(sepa, "select ?a where {<integration> <tests> ?a}", "tests")
    insert(sepa, "<integration> <tests> '--hello--'")
    assert values(notified(sepa, "tests", 1)["addedResults"], "a") == ["--hello--"]
    assert values(sepa.call("query", "select ?a where {<integration> <tests> ?a}"), "a") == ["--hello--"]
    sepa.call("update", "delete{<integration> <tests> ?a}where{<integration> <tests> ?a}")
    assert values(notified(sepa, "tests", 2)["removedResults"], "a") == ["--hello--"]


def test_text_of_any_script_arrives_as_it_was_sent(sepa: SepaJs) -> None:
    follow(sepa, LAMP, "läm\u200bp ☀ \"'")
    insert(sepa, "<urn:lamp> <urn:status> 'été ☀ 日本 \\u00e9 \\n \\\"'")
    assert values(notified(sepa, "läm\u200bp ☀ \"'", 1)["addedResults"]) == ['été ☀ 日本 é \n "']


def test_an_ask_and_a_limit_can_be_subscribed(sepa: SepaJs) -> None:
    follow(sepa, "ask { <urn:lamp> <urn:status> ?o }", "ask")
    follow(sepa, "select * where{?sub ?obj ?pred}LIMIT 1", "one")
    insert(sepa, "<urn:lamp> <urn:status> 1 , 2")
    turned = notified(sepa, "ask", 1)
    assert (values(turned["removedResults"], "ask"), values(turned["addedResults"], "ask")) == (["false"], ["true"])
    assert len(notified(sepa, "one", 1)["addedResults"]["results"]["bindings"]) == 1


# -- JSAP -------------------------------------------------------------------------------------------------------


def test_a_profile_publishes_asks_and_subscribes(sepa: SepaJs) -> None:
    everything = sepa.call("follow", "simpleQuery", {})
    person = sepa.call("follow", "queryArgs", {})
    assert notified(sepa, everything, 0)["addedResults"]["results"]["bindings"] == []
    assert notified(sepa, person, 0)["addedResults"]["results"]["bindings"] == []

    assert sepa.call("publish", "simpleUpdate")["status"] == 200
    assert values(notified(sepa, everything, 1)["addedResults"], "a") == ["http://www.w3.org/example#hello"]
    bindings = {"sub": "exp:person1", "pred": "exp:hasName", "obj": "Max"}
    assert sepa.call("publish", "updateArgs", bindings)["status"] == 200
    assert values(notified(sepa, everything, 2)["addedResults"], "c") == ["Max"]
    assert values(notified(sepa, person, 1)["addedResults"], "c") == ["Max"]
    assert values(sepa.call("ask", "simpleQuery", {}), "c") == ["Max", "js"]
    assert values(sepa.call("ask", "queryArgs", {}), "c") == ["Max"]

    sepa.call("unsubscribe", person)
    sepa.hear(person, "unsubscribed")


def test_several_values_of_a_forced_binding_are_any_of_them(sepa: SepaJs) -> None:
    for name in ("Max", "Mia", "Moe"):
        sepa.call("publish", "updateArgs", {"sub": f"exp:{name}", "pred": "exp:hasName", "obj": name})
    assert values(sepa.call("ask", "queryArgs", {"a": ["exp:Max", "exp:Moe"]}), "c") == ["Max", "Moe"]
