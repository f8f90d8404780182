"""What a client hears when its rights change: the rows with a reason, or that its subscription has ended, and why."""

import pytest

from gates.client import connected, rows
from gates.doors import listening, subscribed
from gates.sockets import ALL, asynchronous, serving
from tidings.client import connect
from tidings.model.access import NO_RIGHTS, Graphs, Rights
from tidings.model.errors import MayNotSubscribe
from tidings.protocol.answer_reading import decode_answer
from tidings.protocol.answers import Notification, Unsubscribed, encode

NOWHERE = Graphs(names=frozenset(("<urn:nowhere>",)))


@asynchronous
async def test_a_socket_hears_what_it_may_no_longer_see_and_then_that_it_is_over() -> None:
    async with serving() as house, connected(house) as client, connected(house) as publisher:
        await publisher.update("INSERT DATA { <a> <p> 1 }")
        first = (await client.ask({"subscribe": {"sparql": ALL, "alias": "it"}}))["notification"]
        house.broker.rights_changed(None, Rights(read=NOWHERE, subscribe=NOWHERE), "the grant was revoked")
        told = (await client.next())["notification"]
        assert (told["spuid"], told["sequence"], told["reason"]) == (first["spuid"], 1, "the grant was revoked")
        assert rows(told["removedResults"]) == [("http://tidings.example/a", "1")]
        assert rows(told["addedResults"]) == []
        house.broker.rights_changed(None, NO_RIGHTS, "you may not subscribe")
        assert await client.next() == {
            "unsubscribed": {"spuid": first["spuid"], "alias": "it", "reason": "you may not subscribe"}
        }
        assert "response" in await client.ask({"query": {"sparql": "ASK {}"}})  # the connection goes on


@asynchronous
async def test_an_event_stream_ends_with_the_reason() -> None:
    async with listening() as house, subscribed(house, "ASK {}") as stream:
        await stream.next()
        house.broker.rights_changed(None, NO_RIGHTS, "you may not subscribe")
        last = await stream.next()
        assert last.name == "error"
        assert (last.data["error"], last.data["code"], last.data["error_description"]) == (
            "may_not_subscribe",
            4003,
            "you may not subscribe",
        )


def test_reasons_are_read_as_they_are_written() -> None:
    for answer in (Unsubscribed("urn:it", "me", "over"), Notification("urn:it", 3, alias="me", reason="revoked")):
        assert decode_answer(encode(answer)) == answer


@asynchronous
async def test_a_live_answer_of_the_client_library_loses_its_rows_and_then_says_why_it_ends() -> None:
    async with serving() as house, connect(house.ws) as client:
        await client.update("INSERT DATA { <a> <p> 1 }")
        live = await client.subscribe(ALL)
        assert len((await anext(live)).added) == 1
        house.broker.rights_changed(None, Rights(read=NOWHERE, subscribe=NOWHERE), "the grant was revoked")
        assert len((await anext(live)).removed) == 1
        assert live.rows == []
        house.broker.rights_changed(None, NO_RIGHTS, "you may not subscribe")
        with pytest.raises(MayNotSubscribe, match="you may not subscribe"):
            await anext(live)
        await live.unsubscribe()
