"""Subscriptions over a WebSocket, from their beginning to their end, and coming back to them."""

from collections import Counter

import pytest

from gates.client import Row, connected, is_error, rows
from gates.sockets import ALL, asynchronous, serving

# -- the Subscribe language -------------------------------------------------------------------------------------


@asynchronous
async def test_a_subscription_from_its_beginning_to_its_end() -> None:
    async with serving() as house, connected(house) as client, connected(house) as publisher:
        await publisher.update("INSERT DATA { <a> <p> 1 }")
        first = (await client.ask({"subscribe": {"sparql": ALL, "alias": "it"}}))["notification"]
        assert (first["alias"], first["sequence"], first["commit"]) == ("it", 0, 1)
        assert first["addedResults"]["head"] == first["removedResults"]["head"] == {"vars": ["s", "o"]}
        assert rows(first["addedResults"]) == [("http://tidings.example/a", "1")]
        assert rows(first["removedResults"]) == []
        assert "resumed" not in first
        done = await publisher.update("DELETE { <a> <p> ?o } INSERT { <a> <p> 2 } WHERE { <a> <p> ?o }")
        assert (done["sequence"], done["added"], done["removed"]) == (2, 1, 1)
        second = (await client.next())["notification"]
        assert (second["spuid"], second["alias"], second["sequence"], second["commit"]) == (first["spuid"], "it", 1, 2)
        assert second["time"] == done["time"]
        assert rows(second["addedResults"]) == [("http://tidings.example/a", "2")]
        assert rows(second["removedResults"]) == [("http://tidings.example/a", "1")]
        end = await client.ask({"unsubscribe": {"spuid": first["spuid"]}})
        assert end == {"unsubscribed": {"spuid": first["spuid"]}}
        await publisher.update("CLEAR ALL")
        await client.quiet()


@asynchronous
async def test_many_subscriptions_share_a_socket_and_keep_apart() -> None:
    async with serving() as house, connected(house) as client, connected(house) as publisher:
        followers = {
            f"lamp {n}": await client.follow(f"SELECT ?o {{ <lamp{n}> <p> ?o }}", f"lamp {n}") for n in range(50)
        }
        assert len({each.spuid for each in followers.values()}) == 50
        for n in range(0, 50, 7):
            await publisher.update(f"INSERT DATA {{ <lamp{n}> <p> {n} }}")
            message = await client.next()
            followers[message["notification"]["alias"]].take(message)
            assert followers[f"lamp {n}"].answer == Counter({(str(n),): 1})
        await client.quiet()


@asynchronous
async def test_subscriptions_with_the_same_query_have_names_of_their_own() -> None:
    async with serving() as house, connected(house) as client:
        one, two = await client.follow(ALL, "one"), await client.follow(ALL, "two")
        assert one.spuid != two.spuid
        client.send({"update": {"sparql": "INSERT DATA { <a> <p> 1 }", "alias": "me"}})
        answers = [await client.next() for _ in range(3)]
        assert {part["alias"] for each in answers for part in each.values()} == {"one", "two", "me"}
        for message in answers:
            if "notification" in message:
                (one if message["notification"]["alias"] == "one" else two).take(message)
        assert one.answer == two.answer == Counter({("http://tidings.example/a", "1"): 1})


@asynchronous
async def test_an_end_by_alias_if_it_names_exactly_one() -> None:
    async with serving() as house, connected(house) as client:
        one = await client.follow(ALL, "one")
        await client.follow("ASK {}", "two")
        await client.follow("ASK {}", "two")
        assert await client.ask({"unsubscribe": {"alias": "one"}}) == {
            "unsubscribed": {"spuid": one.spuid, "alias": "one"}
        }
        for alias in ("two", "nobody"):
            assert is_error(await client.ask({"unsubscribe": {"alias": alias}}), 400, "bad_message", alias)
        assert is_error(await client.ask({"unsubscribe": {}}), 400, "bad_message")


@asynchronous
@pytest.mark.parametrize("alias", ["", 'é\n"', 7, 1.5])
async def test_an_alias_is_echoed_as_it_is(alias: object) -> None:
    async with serving() as house, connected(house) as client:
        client.send({"subscribe": {"sparql": ALL, "alias": alias}})
        assert (await client.next())["notification"]["alias"] == alias
        client.send({"query": {"sparql": "ASK {}", "alias": alias}})
        assert (await client.next())["response"]["alias"] == alias
        assert is_error(
            await client.ask({"query": {"sparql": "ASK", "alias": alias}}), 400, "sparql_syntax_error", alias
        )
        assert is_error(await client.ask({"query": {"sparql": 5, "alias": alias}}), 400, "bad_message", alias)


@asynchronous
@pytest.mark.parametrize(
    ("text", "update", "added"),
    [
        ("ASK { ?s <p> 1 }", "INSERT DATA { <a> <p> 1 }", [("true",)]),
        (
            "CONSTRUCT WHERE { ?s <p> ?o }",
            "INSERT DATA { <urn:a> <p> 1 }",
            [("urn:a", "http://tidings.example/p", "1")],
        ),
        ("DESCRIBE <urn:a>", "INSERT DATA { <urn:a> <p> 1 }", [("urn:a", "http://tidings.example/p", "1")]),
        ("SELECT ?o ?x { ?s <p> ?o OPTIONAL { ?s <q> ?x } }", "INSERT DATA { <a> <p> 1 }", [("1", None)]),
    ],
)
async def test_every_kind_of_query_can_be_subscribed(text: str, update: str, added: list[Row]) -> None:
    async with serving() as house, connected(house) as client, connected(house) as publisher:
        await client.follow(text)
        await publisher.update(update)
        told = (await client.next())["notification"]
        assert rows(told["addedResults"]) == added
        assert rows(told["removedResults"]) == ([("false",)] if text.startswith("ASK") else [])


@asynchronous
@pytest.mark.parametrize("member", ["default-graph-uri", "default_graph_uri"])
@pytest.mark.parametrize("graphs", ["urn:g", ["urn:g"], ["urn:g", "urn:g", "urn:h"]])
async def test_a_dataset_is_a_text_or_a_list(member: str, graphs: object) -> None:
    async with serving() as house, connected(house) as client, connected(house) as publisher:
        client.send({"subscribe": {"sparql": ALL, member: graphs}})
        await client.next()
        await publisher.update("INSERT DATA { <a> <p> 1 }")
        await publisher.update("INSERT DATA { GRAPH <urn:g> { <b> <p> 2 } }")
        assert rows((await client.next())["notification"]["addedResults"]) == [("http://tidings.example/b", "2")]


@asynchronous
async def test_members_nobody_knows_are_ignored_and_tokens_may_be_anywhere() -> None:
    async with serving() as house, connected(house) as client:
        leak = {"httpsAgent": {"options": {"nested": [1, {"a": None}]}}, "authorization": "Bearer x"}
        client.send({"subscribe": {"sparql": ALL, **leak}, "authorization": "y", "verbose": True})
        assert (await client.next())["notification"]["sequence"] == 0


# -- coming back ------------------------------------------------------------------------------------------------


@asynchronous
async def test_a_client_comes_back_and_goes_on_where_it_was() -> None:
    async with serving() as house, connected(house) as publisher:
        async with connected(house) as client:
            follower = await client.follow(ALL)
            await publisher.update("INSERT DATA { <a> <p> 1 }")
            await follower.hear()
        await publisher.update("INSERT DATA { <b> <p> 2 }")
        await publisher.update("DELETE DATA { <a> <p> 1 }")
        async with connected(house) as again:
            resume = {"spuid": follower.spuid, "sequence": follower.told}
            message = await again.ask({"subscribe": {"resume": resume, "alias": "it"}})
            assert message["notification"]["resumed"] is True
            follower.take(message)
            assert follower.answer == Counter({("http://tidings.example/b", "2"): 1})
            await publisher.update("INSERT DATA { <c> <p> 3 }")
            follower.take(await again.next())
        async with connected(house) as third:
            message = await third.ask(
                {"subscribe": {"sparql": ALL, "resume": {"spuid": follower.spuid, "sequence": 99}}}
            )
            assert message["notification"]["resumed"] is False
            assert message["notification"]["sequence"] == 0
            assert len(rows(message["notification"]["addedResults"])) == 2


@asynchronous
async def test_who_comes_back_too_late_begins_anew_under_another_name() -> None:
    async with serving() as house, connected(house) as client:
        resume = {"spuid": "urn:uuid:gone", "sequence": 5}
        message = await client.ask({"subscribe": {"sparql": ALL, "resume": resume, "alias": "it"}})
        assert message["notification"]["resumed"] is False
        assert message["notification"]["spuid"] != "urn:uuid:gone"
        assert message["notification"]["sequence"] == 0


@asynchronous
async def test_a_client_takes_over_from_a_connection_that_is_half_open() -> None:
    async with serving() as house, connected(house) as publisher, connected(house) as half_open:
        follower = await half_open.follow(ALL)
        await publisher.update("INSERT DATA { <a> <p> 1 }")
        async with connected(house) as client:
            follower.take(
                await client.ask({"subscribe": {"resume": {"spuid": follower.spuid, "sequence": 0}, "alias": "it"}})
            )
            await publisher.update("INSERT DATA { <b> <p> 1 }")
            follower.take(await client.next())
            assert len(follower.answer) == 2
            assert await half_open.inbox.end() == 4009
