"""What the reference SEPA broker is known to get wrong, right, over real sockets.

`tests/story/test_known_failures.py` says the same of the engine; here each failure is met as a client meets it.
"""

import signal
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime
from pathlib import Path

import pytest

from gates.client import Client, Follower, Graphs, Message, Row, connected
from gates.wire import Broker, serving
from plain import async_client
from waiting import asynchronous

pytestmark = pytest.mark.server

PREFIX = "PREFIX : <urn:> "


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    with serving(tmp_path_factory.mktemp("broker"), "--memory") as broker:
        yield broker


@pytest.fixture
def broker(running: Broker) -> Broker:
    running.update("CLEAR ALL")
    return running


class Stage:
    """A publisher, and subscribers who have a socket each."""

    def __init__(self, broker: Broker, publisher: Client, sockets: AsyncExitStack) -> None:
        self._broker = broker
        self._publisher = publisher
        self._sockets = sockets

    async def publish(self, text: str) -> None:
        await self._publisher.update(PREFIX + text)

    async def follow(self, text: str, alias: str = "it", *, default: Graphs = None, named: Graphs = None) -> Follower:
        socket = await self._sockets.enter_async_context(connected(self._broker))
        return await socket.follow(PREFIX + text, alias, default=default, named=named)


@asynccontextmanager
async def stage(broker: Broker, *updates: str) -> AsyncIterator[Stage]:
    async with AsyncExitStack() as sockets:
        found = Stage(broker, await sockets.enter_async_context(connected(broker)), sockets)
        for text in updates:
            await found.publish(text)
        yield found


def rows(*found: Row) -> Counter[Row]:
    return Counter(found)


# -- what is notified -------------------------------------------------------------------------------------------


@asynchronous
async def test_data_in_the_default_graph_notifies(broker: Broker) -> None:
    async with stage(broker) as scene:
        follower = await scene.follow("SELECT ?o { :lamp :status ?o }")
        assert follower.answer == rows()
        await scene.publish("INSERT DATA { :lamp :status 1 }")
        await follower.hear()
        assert follower.answer == rows(("1",))
        await scene.publish("DELETE DATA { :lamp :status 1 }")
        await follower.hear()
        assert follower.answer == rows()


@asynchronous
async def test_data_published_over_http_notifies(broker: Broker) -> None:
    async with stage(broker) as scene, async_client(base_url=broker.http) as http:
        follower = await scene.follow("SELECT ?o { :lamp :status ?o }")
        answer = await http.post("/update", data={"update": PREFIX + "INSERT DATA { :lamp :status 1 }"})
        assert set(answer.json()["response"]) >= {"sequence", "time", "added", "removed"}
        await follower.hear()
        assert follower.answer == rows(("1",))


@asynchronous
async def test_an_ask_subscription_notifies_whenever_the_answer_turns(broker: Broker) -> None:
    async with stage(broker) as scene:
        follower = await scene.follow("ASK { :lamp :status ?o }")
        assert follower.answer == rows(("false",))
        await scene.publish("INSERT DATA { :lamp :status 1 }")
        await follower.hear()
        assert follower.answer == rows(("true",))
        await scene.publish("INSERT DATA { :lamp :status 2 }")
        await scene.publish("DELETE WHERE { :lamp :status ?o }")
        await follower.hear()
        assert follower.answer == rows(("false",))


@asynchronous
async def test_a_row_with_an_optional_part_replaces_the_row_without_it(broker: Broker) -> None:
    async with stage(broker, "INSERT DATA { :lamp a :Lamp }") as scene:
        follower = await scene.follow("SELECT ?l ?n { ?l a :Lamp OPTIONAL { ?l :name ?n } }")
        assert follower.answer == rows(("urn:lamp", None))
        await scene.publish("INSERT DATA { :lamp :name 'desk' }")
        await follower.hear()
        assert follower.answer == rows(("urn:lamp", "desk"))
        await scene.publish("INSERT DATA { :other :name 'nobody asked' }")
        await scene.publish("INSERT DATA { :lamp :name 'work' }")
        await follower.hear()
        assert follower.answer == rows(("urn:lamp", "desk"), ("urn:lamp", "work"))
        await scene.publish("DELETE DATA { :lamp :name 'desk', 'work' }")
        await follower.hear()
        assert follower.answer == rows(("urn:lamp", None))


@asynchronous
async def test_blank_nodes_are_inserted_and_deleted_like_everything_else(broker: Broker) -> None:
    async with stage(broker) as scene:
        follower = await scene.follow("SELECT ?v { ?o :of :sensor ; :value ?v }")
        for value, text in [
            ("20", "INSERT DATA { [] :of :sensor ; :value 20 }"),
            ("21", "DELETE { ?o :of ?s } INSERT { _:new :of ?s ; :value 21 } WHERE { ?o :of ?s ; :value 20 }"),
            ("22", "DELETE { ?o :value 21 } INSERT { ?o :value 22 } WHERE { ?o :value 21 }"),
        ]:
            await scene.publish(text)
            await follower.hear()
            assert follower.answer == rows((value,))


@pytest.mark.parametrize(
    "pattern",
    [
        "?s :p ?o OPTIONAL { GRAPH :g { ?o :q ?v } }",
        "{ ?s :r ?v } UNION { GRAPH :g { ?o :q ?v } }",
        "?s :p ?o { SELECT ?v { GRAPH :g { ?o :q ?v } } }",
        "GRAPH ?g { ?o :q ?v }",
        "?s :p ?o OPTIONAL { GRAPH ?g { ?o :q ?v } }",
    ],
)
@asynchronous
async def test_a_named_graph_is_seen_wherever_it_stands_in_the_pattern(broker: Broker, pattern: str) -> None:
    async with stage(broker, "INSERT DATA { :a :p :b }") as scene:
        follower = await scene.follow(f"SELECT * {{ {pattern} }}")
        without = follower.answer
        await scene.publish("INSERT DATA { GRAPH :g { :b :q 1 } }")
        await follower.hear()
        assert follower.answer != without
        await scene.publish("DELETE DATA { GRAPH :g { :b :q 1 } }")
        await follower.hear()
        assert follower.answer == without


@asynchronous
async def test_a_move_notifies_those_who_watch_its_source(broker: Broker) -> None:
    async with stage(broker, "INSERT DATA { GRAPH :from { :a :p 1 } GRAPH :to { :old :p 2 } }") as scene:
        source = await scene.follow("SELECT ?s { GRAPH :from { ?s :p ?o } }")
        target = await scene.follow("SELECT ?s { GRAPH :to { ?s :p ?o } }")
        anywhere = await scene.follow("SELECT ?g ?s { GRAPH ?g { ?s :p ?o } }")
        await scene.publish("MOVE :from TO :to")
        for follower in (source, target, anywhere):
            await follower.hear()
        assert source.answer == rows()
        assert target.answer == rows(("urn:a",))
        assert anywhere.answer == rows(("urn:to", "urn:a"))


@asynchronous
async def test_everything_can_be_cleared_and_everybody_is_told(broker: Broker) -> None:
    async with stage(broker, "INSERT DATA { :a :p 1 GRAPH :g { :b :p 2 } GRAPH :h { :c :p 3 } }") as scene:
        default = await scene.follow("SELECT ?s { ?s :p ?o }")
        named = await scene.follow("SELECT ?s { GRAPH ?g { ?s :p ?o } }")
        for _ in range(2):  # the second time there is nothing to clear and nothing to tell
            await scene.publish("CLEAR ALL")
        await default.hear()
        await named.hear()
        assert default.answer == named.answer == rows()
        await scene.publish("INSERT DATA { :d :p 4 GRAPH :g { :e :p 5 } }")
        await default.hear()
        await named.hear()
        assert (default.answer, named.answer) == (rows(("urn:d",)), rows(("urn:e",)))


@asynchronous
async def test_now_moves_on_after_the_subscription(broker: Broker) -> None:
    async with stage(broker) as scene:
        follower = await scene.follow("SELECT ?s (NOW() AS ?now) { ?s :p ?o }")
        times = []
        for number in range(3):
            await scene.publish(f"DELETE WHERE {{ ?s ?p ?o }} ; INSERT DATA {{ :s{number} :p {number} }}")
            await follower.hear()
            ((subject, now),) = follower.answer.elements()
            assert subject == f"urn:s{number}"
            times.append(datetime.fromisoformat(now or ""))
        assert times == sorted(set(times))


# -- who shares what --------------------------------------------------------------------------------------------


@asynchronous
async def test_the_same_query_over_other_graphs_has_other_answers(broker: Broker) -> None:
    text = "SELECT ?o { :a :p ?o }"
    async with stage(broker, "INSERT DATA { :a :p 0 GRAPH :g { :a :p 1 } GRAPH :h { :a :p 2 } }") as scene:
        plain = await scene.follow(text)
        over_g = await scene.follow(text, default="urn:g")
        over_h = await scene.follow(text, default=["urn:h"])
        over_both = await scene.follow(text, default=["urn:g", "urn:h"])
        over_none = await scene.follow(text, named=["urn:g"])
        assert plain.answer == rows(("0",))
        assert over_g.answer == rows(("1",))
        assert over_h.answer == rows(("2",))
        assert over_both.answer == rows(("1",), ("2",))
        assert over_none.answer == rows()
        await scene.publish("INSERT DATA { GRAPH :h { :a :p 3 } }")
        await over_h.hear()
        await over_both.hear()
        assert over_h.answer == rows(("2",), ("3",))
        assert over_both.answer == rows(("1",), ("2",), ("3",))
        # Whoever had been told of it by mistake would be one notification ahead.
        await scene.publish("INSERT DATA { :a :p 4 GRAPH :g { :a :p 5 } }")
        await plain.hear()
        await over_g.hear()
        assert plain.answer == rows(("0",), ("4",))
        assert over_g.answer == rows(("1",), ("5",))


@asynchronous
async def test_named_graphs_of_the_request_are_the_only_ones(broker: Broker) -> None:
    text = "SELECT ?g ?o { GRAPH ?g { :a :p ?o } }"
    async with stage(broker, "INSERT DATA { GRAPH :g { :a :p 1 } GRAPH :h { :a :p 2 } }") as scene:
        everywhere = await scene.follow(text)
        in_g = await scene.follow(text, named="urn:g")
        assert everywhere.answer == rows(("urn:g", "1"), ("urn:h", "2"))
        assert in_g.answer == rows(("urn:g", "1"))
        await scene.publish("INSERT DATA { GRAPH :h { :a :p 3 } }")
        await scene.publish("INSERT DATA { GRAPH :g { :a :p 4 } }")
        await in_g.hear()
        assert in_g.answer == rows(("urn:g", "1"), ("urn:g", "4"))


def test_urlencoded_requests_may_name_graphs(broker: Broker) -> None:
    broker.update(PREFIX + "INSERT DATA { :a :p 0 GRAPH :g { :a :p 1 } GRAPH :h { :a :p 2 } }")

    def found(text: str, **parameters: str | list[str]) -> set[str]:
        return {row["o"]["value"] for row in broker.query(PREFIX + text, **parameters)}

    default, named = "SELECT ?o { :a :p ?o }", "SELECT ?o { GRAPH ?g { :a :p ?o } }"
    assert found(default) == {"0"}
    assert found(default, **{"default-graph-uri": "urn:g"}) == {"1"}
    assert found(default, **{"default-graph-uri": ["urn:g", "urn:h"]}) == {"1", "2"}
    assert found(default, **{"named-graph-uri": "urn:g"}) == set()
    assert found(named, **{"named-graph-uri": "urn:h", "default-graph-uri": "urn:g"}) == {"2"}
    copy = PREFIX + "INSERT { :copy :p ?o } WHERE { :a :p ?o }"
    assert broker.update(copy, **{"using-graph-uri": ["urn:g", "urn:h"]})["added"] == 2
    copy = PREFIX + "INSERT { :again :p ?o } WHERE { GRAPH ?g { :a :p ?o } }"
    assert broker.update(copy, **{"using-named-graph-uri": "urn:h"})["added"] == 1


# -- who may do what, and who is told ---------------------------------------------------------------------------


@asynchronous
async def test_nobody_ends_the_subscription_of_another(broker: Broker) -> None:
    async with stage(broker) as scene, connected(broker) as stranger:
        follower = await scene.follow("SELECT ?o { :a :p ?o }")
        refusal = await stranger.ask({"unsubscribe": {"spuid": follower.spuid, "alias": "mine"}})
        assert (refusal["error"], refusal["status_code"], refusal["alias"]) == ("not_yours", 403, "mine")
        await scene.publish("INSERT DATA { :a :p 1 }")
        await follower.hear()
        assert follower.answer == rows(("1",))


@asynchronous
async def test_who_subscribed_may_end_it_and_hears_no_more(broker: Broker) -> None:
    async with stage(broker) as scene:
        ended = await scene.follow("SELECT ?o { :a :p ?o }", alias="ended")
        assert await ended.client.ask({"unsubscribe": {"spuid": ended.spuid}}) == {
            "unsubscribed": {"spuid": ended.spuid}
        }
        other = await ended.client.follow(PREFIX + "SELECT ?o { :a :p ?o }", alias="other")
        assert other.spuid != ended.spuid
        await scene.publish("INSERT DATA { :a :p 1 }")
        await other.hear()
        assert other.answer == rows(("1",))
        again = await ended.client.ask({"unsubscribe": {"spuid": ended.spuid}})
        assert (again["error"], again["status_code"]) == ("unknown_spuid", 404)


@pytest.mark.parametrize("options", [["--memory"], []], ids=["in memory", "on disk"])
@asynchronous
async def test_a_subscription_that_ends_at_once_is_answered_all_the_same(tmp_path: Path, options: list[str]) -> None:
    """A client that has not been told a spuid can name its subscription by the alias only, as sepa-js does, and does
    not take an end for its own."""
    with serving(tmp_path, *options) as broker:
        async with connected(broker) as socket:
            socket.send({"subscribe": {"sparql": "SELECT ?o { ?s ?p ?o }", "alias": "hasty"}})
            socket.send({"unsubscribe": {"alias": "hasty"}})
            follower = Follower("hasty", socket)
            await follower.hear()
            assert (await socket.next())["unsubscribed"]["spuid"] == follower.spuid


@pytest.mark.parametrize("kind", ["subscribe", "query", "update"])
@asynchronous
async def test_an_error_has_the_alias_of_whoever_caused_it(broker: Broker, kind: str) -> None:
    async with stage(broker) as scene:
        follower = await scene.follow("SELECT ?o { :a :p ?o }", alias="good")
        error = await follower.client.ask({kind: {"sparql": "SELEC ?o { ?s ?p ?o }", "alias": "bad"}})
        assert (error["error"], error["status_code"], error["alias"]) == ("sparql_syntax_error", 400, "bad")
        assert error["error_description"]
        await scene.publish("INSERT DATA { :a :p 1 }")
        await follower.hear()
        assert follower.answer == rows(("1",))


@asynchronous
async def test_an_error_does_not_close_a_shared_socket_whatever_caused_it(broker: Broker) -> None:
    async with stage(broker) as scene:
        follower = await scene.follow("SELECT ?o { :a :p ?o }", alias="good")
        for nonsense in ("{", "[]", "7", '"subscribe"', "{}", '{"subscribe":7}', '{"unheard-of":{"alias":"x"}}'):
            error = await follower.client.ask(nonsense)
            assert isinstance(error["error"], str)
            assert error["status_code"] == 400
        requests: list[tuple[str, Message]] = [
            ("subscribe", {}),
            ("subscribe", {"sparql": "CLEAR ALL"}),
            ("subscribe", {"sparql": "ASK {}", "default-graph-uri": 7}),
            ("unsubscribe", {"spuid": "urn:nobody"}),
            ("unsubscribe", {}),
        ]
        for kind, members in requests:
            error = await follower.client.ask({kind: {"alias": "bad"} | members})
            assert isinstance(error["error"], str)
            assert error["alias"] == "bad"
        await scene.publish("INSERT DATA { :a :p 1 }")
        await follower.hear()
        assert follower.answer == rows(("1",))


# -- statuses and starts ----------------------------------------------------------------------------------------


@asynchronous
async def test_an_update_without_effect_is_a_success(broker: Broker) -> None:
    """The reference broker takes its endpoint's 204, "done, nothing to say", for a failure of its own."""
    text = PREFIX + "DELETE DATA { :nothing :of :this }"
    async with connected(broker) as socket, async_client(base_url=broker.http) as http:
        for answer in (
            await http.post("/update", data={"update": text}),
            await http.post("/update", content=text, headers={"content-type": "application/sparql-update"}),
        ):
            assert answer.status_code == 200
            assert (answer.json()["response"]["added"], answer.json()["response"]["removed"]) == (0, 0)
        response = await socket.update(text)
        assert (response["added"], response["removed"]) == (0, 0)


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGKILL])
def test_a_second_start_with_default_settings_finds_what_the_first_was_told(
    tmp_path: Path, ending: signal.Signals
) -> None:
    with serving(tmp_path) as first:
        assert first.update(PREFIX + "INSERT DATA { :a :p 1 GRAPH :g { :b :p 2 } }")["added"] == 2
        assert first.stop(ending) == (0 if ending == signal.SIGTERM else -ending)
    with serving(tmp_path) as second:
        found = second.query(PREFIX + "SELECT ?o { { ?s :p ?o } UNION { GRAPH ?g { ?s :p ?o } } } ORDER BY ?o")
        assert [row["o"]["value"] for row in found] == ["1", "2"]
        assert second.update(PREFIX + "INSERT DATA { :a :p 1 , 3 }")["added"] == 1
        assert second.stop() == 0
    with serving(tmp_path) as third:
        assert len(third.query(PREFIX + "SELECT ?o { ?s :p ?o }")) == 2
