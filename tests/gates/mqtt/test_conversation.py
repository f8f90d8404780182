"""Requests by MQTT and their answers, in one loop and without an MQTT broker."""

import json
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from gates.client import is_error, rows
from gates.mqtt.talking import PREFIX, REPLY, talking
from tidings.gates.mqtt.messages import KINDS
from tidings.gates.mqtt.profile import read_mapping
from waiting import asynchronous, until

ALL = "SELECT ?s ?o { ?s <http://x/p> ?o }"
INSERT = 'INSERT DATA { <http://x/a> <http://x/p> "1" }'


@asynchronous
async def test_updates_and_queries_are_answered_where_they_say() -> None:
    async with talking() as talk:
        answer = await talk.ask("update", {"sparql": INSERT, "alias": 3})
        assert (answer["response"]["added"], answer["response"]["alias"]) == (1, 3)
        assert (await talk.ask("update", INSERT))["response"]["added"] == 0  # a bare text will do
        answer = await talk.ask("query", {"sparql": ALL, "alias": "q"})
        assert rows(answer["response"]) == [("http://x/a", "1")]
        talk.put(f"{PREFIX}/query", json.dumps({"sparql": "ASK {}", "reply": "three/one/one"}), reply=None)
        await talk.done()
        assert talk.sent[-1].topic == "three/one/one"
        assert (talk.counts.requests, talk.counts.errors) == (4, 0)


@asynchronous
async def test_delayed_updates_and_events_are_accepted() -> None:
    async with talking(matching="off") as talk:
        assert "delayed" in (await talk.ask("update", {"sparql": INSERT, "delay": 3600}))["response"]
        assert (await talk.ask("events", '{"type": "fire"}'))["response"]["events"] == 1
        assert (await talk.ask("events", '[{"type": "fire"}, {"type": "flood"}]'))["response"]["events"] == 2
        assert is_error(await talk.ask("events", "fire"), 400, "bad_request")


@asynchronous
async def test_a_subscription_is_told_on_a_topic_of_its_own_until_it_ends() -> None:
    async with talking() as talk:
        first = (await talk.ask("subscribe", {"sparql": ALL, "alias": "x", "retain": True}))["notification"]
        spuid = first["spuid"]
        await talk.ask("update", INSERT)
        zero, one = (each["notification"] for each in talk.told(spuid))
        assert zero == first  # which was retained
        assert (one["sequence"], one["alias"], rows(one["addedResults"])) == (1, "x", [("http://x/a", "1")])
        assert one["commit"] == 1
        answer = await talk.ask("subscribe", {"resume": {"spuid": spuid, "sequence": 0}})
        again = answer["notification"]
        assert (again["resumed"], again["sequence"], rows(again["addedResults"])) == (True, 1, [("http://x/a", "1")])
        assert (await talk.ask("unsubscribe", {"spuid": spuid}))["unsubscribed"]["spuid"] == spuid
        assert talk.sent[-2].payload == b""  # what was retained is taken back
        assert talk.sent[-2].retain
        assert (len(talk.channels), len(list(talk.broker.subscribers()))) == (0, 0)
        assert is_error(await talk.ask("unsubscribe", {"spuid": spuid}), 404, "unknown_spuid")


@asynchronous
async def test_while_nothing_is_taken_changes_are_added_up() -> None:
    async with talking() as talk:
        spuid = (await talk.ask("subscribe", ALL))["notification"]["spuid"]
        talk.subscriptions.caller.filled()
        for number in range(5):
            await talk.ask("update", f"INSERT DATA {{ <http://x/a> <http://x/p> {number} }}")
        assert talk.told(spuid) == []
        talk.subscriptions.caller.drained()
        await until(lambda: talk.told(spuid))
        (notification,) = talk.told(spuid)
        assert len(rows(notification["notification"]["addedResults"])) == 5


@asynchronous
async def test_a_lease_that_is_over_ends_the_subscription_and_resuming_renews_it() -> None:
    async with talking(lease=3600.0) as talk:
        kept = (await talk.ask("subscribe", ALL))["notification"]["spuid"]
        short = (await talk.ask("subscribe", {"sparql": ALL, "lease": 0.000001}))["notification"]["spuid"]
        await talk.subscriptions.end_expired()
        (gone,) = talk.told(short)
        assert "lease" in gone["unsubscribed"]["reason"]
        channel = talk.channels.of(kept)
        assert channel is not None
        await talk.ask("subscribe", {"resume": {"spuid": kept, "sequence": 0}})
        renewed = talk.channels.of(kept)
        assert renewed is not None
        assert (renewed.expires or 0) > (channel.expires or 0)


@asynchronous
async def test_a_session_that_the_broker_lets_go_is_taken_up_by_another() -> None:
    async with talking() as talk:
        spuid = (await talk.ask("subscribe", ALL))["notification"]["spuid"]
        talk.subscriptions.close(4008, "too slow")
        assert talk.subscriptions.lost.is_set()
        await talk.subscriptions.reopen()
        await talk.ask("update", INSERT)
        resumed, changed = (each["notification"] for each in talk.told(spuid))
        assert (resumed["resumed"], resumed["sequence"], changed["sequence"]) == (True, 1, 2)


@asynchronous
async def test_answers_never_go_to_where_requests_come_from() -> None:
    async with talking() as talk:
        for reply in (f"{PREFIX}/update", f"{PREFIX}/subscriptions/x", f"{PREFIX}/status", "a/+", "", "$SYS/x"):
            talk.put(f"{PREFIX}/update", INSERT, reply=reply)
            await talk.done()
        assert talk.sent == []
        talk.put(f"{PREFIX}/query", "ASK {}", reply=f"{PREFIX}/replies/me")
        await talk.done()
        assert [each.topic for each in talk.sent] == [f"{PREFIX}/replies/me"]


@asynchronous
async def test_what_is_wrong_is_said_with_its_code() -> None:
    async with talking(max_body=1_000) as talk:
        assert is_error(await talk.ask("update", {"sparql": "INSERT", "alias": 1}), 400, "sparql_syntax_error", 1)
        assert is_error(await talk.ask("query", {"alias": "a"}), 400, "bad_message", "a")
        assert is_error(await talk.ask("query", '{"sparql": "ASK {}"}, "update": {}'), 400, "bad_message")
        assert is_error(await talk.ask("update", {"prepared": "x"}), 400, "bad_message")
        assert is_error(await talk.ask("update", "x" * 1_001), 413, "body_too_large")
        talk.put(f"{PREFIX}/subscribe", ALL, reply=None)
        await talk.done()
        assert (talk.counts.errors, len(talk.channels)) == (6, 0)
    async with talking(read_only=True) as talk:
        assert is_error(await talk.ask("update", INSERT), 403, "not_allowed")


@settings(max_examples=30)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([f"{PREFIX}/{kind}" for kind in KINDS]),
            st.one_of(
                st.binary(max_size=60),
                st.sampled_from(
                    [b'{"sparql":', b'{"sparql":1}', b'{"resume":{}}', b'{"spuid":"x"}', b"{}", b"[" * 500, b"\xff{",
                     b'{"sparql":"ASK {}","reply":7}', b'{"sparql":"ASK {}","lease":-1e308,"retain":"no"}']
                ),
            ),
        ),
        max_size=8,
    )
)  # fmt: skip
def test_no_message_stops_the_others(messages: list[tuple[str, bytes]]) -> None:
    @asynchronous
    async def story() -> None:
        async with talking(matching="off") as talk:
            for topic, payload in messages:
                await talk.done(talk.put(topic, payload))
            assert (await talk.ask("query", "ASK {}"))["response"]["boolean"] is True
            assert talk.acknowledged == list(range(1, len(messages) + 2))
            assert {each.topic for each in talk.sent} <= {REPLY}

    story()


PROFILE = {
    "host": "localhost",
    "sparql11protocol": {"protocol": "http", "port": 8000, "query": {"path": "/query"}, "update": {"path": "/update"}},
    "sparql11seprotocol": {"protocol": "ws", "availableProtocols": {"ws": {"port": 9000, "path": "/subscribe"}}},
    "namespaces": {"x": "http://x/"},
    "updates": {
        "SET": {
            "sparql": "DELETE { ?lamp x:power ?old } INSERT { ?lamp x:power ?power ; x:in ?area } "
            "WHERE { OPTIONAL { ?lamp x:power ?old } }",
            "forcedBindings": {
                "lamp": {"type": "uri"},
                "area": {"type": "literal"},
                "power": {"type": "literal", "datatype": "xsd:integer", "value": "0"},
            },
        }
    },
    "queries": {"POWERS": {"sparql": "SELECT ?lamp ?power { ?lamp x:power ?power }"}},
    "extended": {
        "mqtt": {
            "updates": [
                {
                    "topic": "city/{area}/lamp/+/status",
                    "update": "SET",
                    "bindings": {"lamp": "http://x/lamp/{+1}", "power": "{payload.state.power}"},
                },
                {
                    "topic": "plain/{lamp}",
                    "update": "SET",
                    "bindings": {"lamp": "http://x/{lamp}", "area": "-", "power": "{number}"},
                    "pattern": r"power=(?P<number>\d+)",
                },
            ],
            "answers": [
                {
                    "query": "POWERS",
                    "topic": "levels/{lamp}",
                    "payload": "{power}",
                    "bindings": {"lamp": "http://x/lamp/{lamp}"},
                }
            ],
        }
    },
}


@asynchronous
async def test_mapped_topics_are_updates_with_values_of_levels_and_payloads(tmp_path: Path) -> None:
    (tmp_path / "city.jsap").write_text(json.dumps(PROFILE))
    async with talking() as talk:
        mapped = read_mapping(tmp_path / "city.jsap", talk.broker.prepare, "http://x/", PREFIX)
    async with talking(mapped) as talk:
        talk.put('city/no "rth/lamp/7 <a>/status', b'{"state": {"power": 60}}', reply=None)
        talk.put("city/south/lamp/8/status", b'{"state": {}}', reply=None)
        talk.put("plain/9", b"node=1;power=55", reply=None)
        for payload in (b"[", b'{"state": {"power": "much"}}', b"\xff"):
            talk.put("city/south/lamp/8/status", payload, reply=None)
        talk.put("plain/9", b"nothing", reply=None)
        await talk.done()
        answer = await talk.ask("query", "SELECT ?s ?o ?a { ?s <http://x/power> ?o ; <http://x/in> ?a }")
        assert sorted(rows(answer["response"])) == [
            ("http://x/9", "55", "-"),
            ("http://x/lamp/7%20%3Ca%3E", "60", 'no "rth'),
            ("http://x/lamp/8", "0", "south"),
        ]
        assert talk.counts.errors == 4


@asynchronous
async def test_the_profile_of_the_example_maps_what_its_sensors_send() -> None:
    profile = Path(__file__).parents[3] / "examples" / "mqtt" / "gate.jsap"
    async with talking() as talk:
        mapped = read_mapping(profile, talk.broker.prepare, "http://x/", PREFIX)
    async with talking(mapped) as talk:
        talk.put("pepoli/6lowpan/network/NODO1/Temperature", b"21.5", reply=None)
        talk.put("lora/up/0530", b'{"port": 2, "payload": {"temperature": 9.25}}', reply=None)
        talk.put("servers/mml/disk/sda", "/dev/sda: WDC: 37°C".encode(), reply=None)
        await talk.done()
        assert len(talk.broker.store) == 12
        (hot,) = mapped.answers
        assert (hot.filter, talk.counts.errors) == ("alarms/+", 0)
        answer = await talk.ask("query", hot.text)
        assert [row[1] for row in rows(answer["response"])] == ["37"]
