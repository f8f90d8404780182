"""Updates and queries over a WebSocket: in order, prepared, ahead of their time, and refused."""

from collections import Counter

import pytest

from gates.client import Client, Message, connected, is_error, rows
from gates.sockets import ALL, asynchronous, serving
from tidings.gates.websocket import conversation
from waiting import until


@asynchronous
async def test_a_burst_of_updates_is_answered_in_order() -> None:
    async with serving() as house, connected(house) as client:
        for n in range(500):
            client.send({"update": {"sparql": f"INSERT DATA {{ <s{n}> <p> {n} }}", "alias": str(n)}})
        answers = [(await client.next())["response"] for _ in range(500)]
        assert [each["alias"] for each in answers] == [str(n) for n in range(500)]
        assert [each["sequence"] for each in answers] == list(range(1, 501))


@asynchronous
async def test_one_update_too_many_is_asked_to_come_back() -> None:
    async with serving(max_queue=1) as house, connected(house) as client:
        house.broker.updates.hold()
        client.send({"update": {"sparql": "CLEAR ALL", "alias": "first"}})
        assert is_error(
            await client.ask({"update": {"sparql": "CLEAR ALL", "alias": "second"}}), 429, "too_many_requests", "second"
        )
        house.broker.updates.resume()
        assert (await client.next())["response"]["alias"] == "first"


@asynchronous
async def test_queries_are_answered_with_results_whatever_their_kind() -> None:
    async with serving() as house, connected(house) as client:
        await client.update("INSERT DATA { <urn:a> <urn:p> 1 }")
        select = (await client.ask({"query": {"sparql": "SELECT ?o { ?s ?p ?o }", "alias": "q"}}))["response"]
        assert rows(select) == [("1",)]
        assert (await client.ask({"query": {"sparql": "ASK { ?s ?p 1 }"}}))["response"]["boolean"] is True
        triples = (await client.ask({"query": {"sparql": "CONSTRUCT WHERE { ?s ?p ?o }"}}))["response"]
        assert rows(triples) == [("urn:a", "urn:p", "1")]


@asynchronous
async def test_an_update_is_prepared_once_and_bound_often() -> None:
    async with serving() as house, connected(house) as client, connected(house) as other:
        text = "DELETE { ?lamp <p> ?old } INSERT { ?lamp <p> ?new } WHERE { OPTIONAL { ?lamp <p> ?old } }"
        response = (await client.ask({"prepare": {"sparql": text, "alias": "set"}}))["response"]
        assert response["alias"] == "set"
        assert {"lamp", "new"} <= set(response["variables"])
        follower = await other.follow(ALL)
        evil = '"> . } ; CLEAR ALL #'
        for name, value in (("l1", {"type": "literal", "value": "on"}), ("l1", "off"), ("l2", evil)):
            bindings = {"lamp": {"type": "uri", "value": name}, "new": value}
            done = await client.ask({"update": {"prepared": response["prepared"], "bindings": bindings}})
            assert done["response"]["added"] == 1
            await follower.hear()
        base = "http://tidings.example/"
        assert follower.answer == Counter({(f"{base}l1", "off"): 1, (f"{base}l2", evil): 1})


@asynchronous
async def test_a_publisher_may_name_itself_in_or_beside_its_update() -> None:
    async with serving() as house, connected(house) as client:
        names: list[str | None] = []
        house.broker.follow(lambda commit: names.append(commit.publisher))
        prepared = (await client.ask({"prepare": {"sparql": "INSERT DATA { <a> <p> ?v }"}}))["response"]["prepared"]
        await client.ask({"update": {"sparql": "INSERT DATA { <a> <p> 1 }", "publisher": "in"}, "publisher": "beside"})
        await client.ask({"update": {"sparql": "INSERT DATA { <a> <p> 2 }"}, "publisher": "beside"})
        await client.ask({"update": {"sparql": "INSERT DATA { <a> <p> 3 }"}})
        await client.ask({"update": {"prepared": prepared, "bindings": {"v": "4"}, "publisher": "été"}})
        await client.ask({"update": {"sparql": "INSERT DATA { <a> <p> 5 }", "at": 1, "publisher": "late"}})
        await until(lambda: len(names) == 5)
        assert names == ["in", "beside", None, "été", "late"]


@asynchronous
async def test_a_name_that_no_publisher_can_have_is_refused() -> None:
    async with serving() as house, connected(house) as client:
        for name in ("", " ", "x" * 201, "a\nb", "\u202e"):
            answer = await client.ask({"update": {"sparql": "INSERT DATA { <a> <p> 1 }", "publisher": name}})
            assert is_error(answer, 400, "bad_request")
        assert is_error(await client.ask({"update": {"sparql": "CLEAR ALL", "publisher": 5}}), 400, "bad_message")
        assert len(house.broker.store) == 0


@asynchronous
async def test_what_is_prepared_or_bound_wrongly_is_refused() -> None:
    async with serving() as house, connected(house) as client, connected(house) as other:
        text = "INSERT { <a> <p> ?v } WHERE {}"
        name = (await client.ask({"prepare": {"sparql": text}}))["response"]["prepared"]
        odd, no_iri = {"type": "odd", "value": "x"}, {"type": "uri", "value": "a b"}
        refusals: list[tuple[Client, Message, int, str]] = [
            (client, {"prepare": {"sparql": "INSERT", "alias": "x"}}, 400, "sparql_syntax_error"),
            (client, {"prepare": {"alias": "x"}}, 400, "bad_message"),
            (client, {"update": {"prepared": "nobody", "alias": "x"}}, 404, "unknown_prepared"),
            (other, {"update": {"prepared": name, "alias": "x"}}, 404, "unknown_prepared"),
            (client, {"update": {"prepared": name, "delay": 5, "alias": "x"}}, 400, "bad_message"),
            (client, {"update": {"prepared": name, "bindings": {"v": None}, "alias": "x"}}, 400, "bad_message"),
            (client, {"update": {"prepared": name, "bindings": {"v": odd}, "alias": "x"}}, 400, "bad_message"),
            (client, {"update": {"prepared": name, "bindings": {"v": no_iri}, "alias": "x"}}, 400, "bad_message"),
            (client, {"update": {"prepared": name, "bindings": [], "alias": "x"}}, 400, "bad_message"),
        ]  # fmt: skip
        for socket_, message, status, code in refusals:
            assert is_error(await socket_.ask(message), status, code, "x"), message
        answer = await client.ask({"update": {"prepared": name, "bindings": {"unknown": "x"}, "alias": "x"}})
        assert "error" in answer
        await client.quiet()


@asynchronous
async def test_so_many_updates_can_be_prepared_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversation, "MOST_PREPARED", 2)
    async with serving() as house, connected(house) as client:
        for _ in range(2):
            assert "response" in await client.ask({"prepare": {"sparql": "CLEAR ALL"}})
        assert is_error(await client.ask({"prepare": {"sparql": "CLEAR ALL"}}), 429, "too_many_prepared")


@asynchronous
@pytest.mark.parametrize("when", [{"delay": 0.02}, {"delay": "PT0.02S"}, {"delay": "0.02"}, {"at": 1}])
async def test_an_update_can_be_sent_ahead_of_its_time(when: dict[str, object]) -> None:
    async with serving() as house, connected(house) as client, connected(house) as publisher:
        follower = await client.follow(ALL)
        accepted = await publisher.ask({"update": {"sparql": "INSERT DATA { <a> <p> 1 }", "alias": "later", **when}})
        response = accepted["response"]
        assert (response["alias"], response["at"].endswith("Z")) == ("later", True)
        assert response["delayed"]
        await follower.hear()
        assert len(follower.answer) == 1
        assert len(house.broker.schedule) == 0


@asynchronous
@pytest.mark.parametrize(
    "when",
    [
        {"delay": -1},
        {"delay": "soon"},
        {"delay": True},
        {"delay": [1]},
        {"at": "tomorrow"},
        {"at": 1.5},
        {"at": {}},
        {"at": 10**18},
        {"at": -1},
        {"at": "9" * 40},
        {"delay": 1, "at": 1},
        {"delay": 1e300},
    ],
)
async def test_an_instant_that_makes_no_sense_is_refused(when: dict[str, object]) -> None:
    async with serving() as house, connected(house) as client:
        answer = await client.ask({"update": {"sparql": "CLEAR ALL", "alias": "x", **when}})
        assert (answer["status_code"], answer["alias"]) == (400, "x")
        assert len(house.broker.schedule) == 0


@asynchronous
async def test_a_read_only_broker_refuses_updates_and_nothing_else() -> None:
    async with serving(read_only=True) as house, connected(house) as client:
        for message in ({"sparql": "CLEAR ALL"}, {"sparql": "CLEAR ALL", "delay": 1}, {"prepared": "x"}):
            assert is_error(await client.ask({"update": message}), 403, "not_allowed")
        await client.follow(ALL)
