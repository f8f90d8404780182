"""Subscriptions of knowledge processors: indications, both dialects, other connections, and who may do what."""

import pytest

from gates.smart_m3.kp import ANY, NODE, insert, parameter, patterns, remove, space, sparql, triple
from tidings.gates.smart_m3.connection import JSSAP
from tidings.gates.smart_m3.memberships import Memberships
from waiting import asynchronous

A, B, P = "http://x.example/a", "http://x.example/b", "http://x.example/p"
STATES = patterns(triple(A, P, ANY))


@asynchronous
async def test_a_subscriber_to_patterns_is_told_which_triples_came_and_went() -> None:
    async with space() as shared:
        subscriber, publisher = shared.kp(), shared.kp()
        await publisher.ask("INSERT", insert(triple(A, P, "off", "literal")))
        begun = await subscriber.ask("SUBSCRIBE", patterns(triple(A, P, ANY), triple(ANY, ANY, "off", "literal")))
        assert begun.triples() == [(A, P, '"off"')]
        await publisher.ask("UPDATE", insert(triple(A, P, "on", "literal")), remove(triple(A, P, ANY)))
        told = await subscriber.next()
        assert told.header["message_type"] == "INDICATION"
        assert told.header["transaction_id"] == begun.header["transaction_id"]
        assert told.text("subscription_id") == begun.text("subscription_id")
        assert told.text("ind_sequence") == "1"
        assert told.triples("new_results") == [(A, P, '"on"')]
        assert told.triples("obsolete_results") == [(A, P, '"off"')]


@asynchronous
async def test_a_subscription_that_is_ended_over_another_connection_is_told_so() -> None:
    async with space() as shared:
        subscriber, other = shared.kp(), shared.kp()
        spuid = (await subscriber.ask("SUBSCRIBE", STATES)).text("subscription_id")
        end = parameter("subscription_id", spuid)
        stranger = await other.ask("UNSUBSCRIBE", end, node="somebody else")
        assert stranger.status == "m3:SIB.Error.AccessDenied"
        assert (await other.ask("UNSUBSCRIBE", end)).status == "m3:Success"
        ended = await subscriber.next()
        assert (ended.header["transaction_type"], ended.header["message_type"]) == ("UNSUBSCRIBE", "CONFIRM")
        assert (ended.status, ended.text("subscription_id")) == ("m3:Success", spuid)
        await other.ask("INSERT", insert(triple(A, P, B)))
        assert subscriber.heard.empty()
        assert shared.holders == {}


@asynchronous
async def test_a_kp_that_leaves_has_no_subscriptions_any_more() -> None:
    async with space() as shared:
        kp = shared.kp()
        await kp.ask("SUBSCRIBE", STATES)
        await kp.ask("LEAVE")
        assert list(shared.premises.broker.subscribers()) == []


@asynchronous
async def test_a_subscription_goes_on_where_its_kp_was() -> None:
    async with space() as shared:
        lost, publisher = shared.kp(), shared.kp()
        spuid = (await lost.ask("SUBSCRIBE", STATES)).text("subscription_id")
        lost.conversation.end()
        lost.caller.leave()
        await publisher.ask("INSERT", insert(triple(A, P, "on", "literal")))
        seen = parameter("subscription_id", spuid) + parameter("ind_sequence", "0")
        again = shared.kp()
        told = await again.ask("SUBSCRIBE", STATES, seen)
        assert (told.text("resumed"), told.text("ind_sequence")) == ("TRUE", "1")
        assert told.triples("new_results") == [(A, P, '"on"')]
        await publisher.ask("INSERT", insert(triple(A, P, "off", "literal")))
        assert (await again.next()).triples("new_results") == [(A, P, '"off"')]
        anew = await shared.kp().ask(
            "SUBSCRIBE", STATES, parameter("subscription_id", "x") + parameter("ind_sequence", "3")
        )
        assert anew.triples() == [(A, P, '"off"'), (A, P, '"on"')]


@asynchronous
async def test_what_xml_cannot_carry_ends_its_subscription_and_no_other() -> None:
    async with space() as shared:
        subscriber, other, publisher = shared.kp(), shared.kp(JSSAP), shared.kp()
        await subscriber.ask("SUBSCRIBE", STATES)
        await other.line(tt="SUBSCRIBE", enc="rdf", tl=[{"s": A, "p": P, "o": ANY, "ot": "uri"}])
        await publisher.ask("QUERY", sparql(f'INSERT DATA {{ <{A}> <{P}> "\\u0001" }}'))
        ended = await subscriber.next()
        assert (ended.header["transaction_type"], ended.header["message_type"]) == ("UNSUBSCRIBE", "INDICATION")
        assert "U+0001" in ended.text("error_description")
        told = await other.next_line()
        assert told["new_results"][0]["object"] == {"type": "Literal", "value": "\x01"}


@asynchronous
async def test_jssap_carries_the_same_requests() -> None:
    async with space() as shared:
        kp, publisher = shared.kp(JSSAP), shared.kp(JSSAP)
        pattern = {"s": A, "p": P, "o": ANY, "ot": "URIRef"}
        assert (await kp.line(tt="JOIN", tid=5)) == {
            "tt": "JOIN", "mt": "CONFIRM", "tid": 5, "sid": "X", "nid": NODE, "code": "m3:success",
        }  # fmt: skip
        begun = await kp.line(tt="SUBSCRIBE", enc="rdf", tl=[pattern])
        assert begun["results"] == []
        await publisher.line(tt="INSERT", tl=[{"s": A, "p": P, "o": "off", "ot": "literal"}])
        told = await kp.next_line()
        assert (told["mt"], told["subid"], told["indid"]) == ("INDICATION", begun["subid"], 1)
        off = {
            "subject": {"type": "URIRef", "value": A},
            "predicate": {"type": "URIRef", "value": P},
            "object": {"type": "Literal", "value": "off"},
        }
        assert (told["new_results"], told["old_results"]) == ([off], [])
        await publisher.line(tt="UPDATE", enc="rdf", atl=[{"s": A, "p": P, "o": B, "ot": "uri"}], rtl=[pattern])
        told = await kp.next_line()
        assert [each["object"]["value"] for each in told["new_results"]] == [B]
        assert told["old_results"] == [off]
        asked = await publisher.line(tt="QUERY", enc="sparql", qt=f"SELECT ?o {{ <{A}> ?p ?o }}")
        assert (asked["qt"], asked["results"]) == ("select", [{"o": {"type": "uri", "value": B}}])
        assert (await publisher.line(tt="QUERY", enc="sparql", qt="ASK {}"))["results"] is True
        assert (await publisher.line(tt="UPDATE", enc="SPARQL", ut=f"DELETE WHERE {{ <{A}> ?p ?o }}"))[
            "code"
        ] == "m3:success"
        assert (await kp.next_line())["new_results"] == []
        node = await publisher.line(tt="INSERT", tl=[{"s": "n", "st": "bnode", "p": P, "o": B, "ot": "uri"}])
        assert (await publisher.line(tt="QUERY", tl=[{"s": node["bnodes"]["n"], "p": P, "o": ANY}]))["results"] != []
        assert (await kp.line(tt="UNSUBSCRIBE", subid=begun["subid"]))["code"] == "m3:success"


@pytest.mark.parametrize(
    "members",
    [
        {"tt": 1},
        {"tt": "QUERY", "tl": "x"},
        {"tt": "QUERY", "tl": ["x"]},
        {"tt": "INSERT", "tl": [{"s": "a", "p": "b"}]},
        {"tt": "INSERT", "tl": [{"s": "a", "p": 1, "o": "c"}]},
        {"tt": "SUBSCRIBE", "enc": {}, "qt": "x"},
    ],
)
@asynchronous
async def test_json_of_another_shape_is_refused(members: dict[str, object]) -> None:
    async with space() as shared:
        answer = await shared.kp(JSSAP).line(**members)
        assert (answer["code"], answer["error"]) == ("m3:KP.Error.Message.Syntax", "message_syntax")


def test_a_membership_is_of_one_address_and_of_an_id_that_nobody_guesses() -> None:
    memberships = Memberships(most=2)
    memberships.join(NODE, "192.0.2.1", "token")
    memberships.join("short", "192.0.2.1", "token")
    assert memberships.shown_by(NODE, "192.0.2.1") == "token"
    assert memberships.shown_by(NODE, "192.0.2.2") is None
    assert memberships.shown_by("short", "192.0.2.1") is None
    for number in range(2):
        memberships.join(f"{NODE}{number}", "192.0.2.1", "other")
    assert memberships.shown_by(NODE, "192.0.2.1") is None
    memberships.leave(f"{NODE}1", "192.0.2.1")
    assert len(memberships) == 1
