"""Linked Data Notifications, W3C Recommendation of 2 May 2017: what senders must do, section by section."""

import orjson
import pytest

from gates.webhooks.test_webhooks import ALL, INSERT, hooked, receiving
from tidings.gates.ldn.activities import activity
from tidings.gates.ldn.contexts import Contexts
from tidings.gates.ldn.discovery import Resource, inbox_of
from tidings.gates.ldn.errors import NoInbox
from tidings.gates.ldn.notifications import Reading
from tidings.model.terms import RDF_TYPE
from waiting import asynchronous, until

LDP = "http://www.w3.org/ns/ldp#"
AS = "https://www.w3.org/ns/activitystreams#"
TARGET = "https://user.example/profile"
REL = f'rel="{LDP}inbox"'

# -- Discovery ----------------------------------------------------------------------------------------------------

HEADERS = {
    "relative": f"</inbox/>; {REL}",
    "absolute": f"<https://user.example/inbox/>; {REL}",
    "without quotes": f"</inbox/>; rel={LDP}inbox",
    "among others": f'<https://x.example/a,b;c>; rel="next"; title="a, b", </inbox/>; title="x"; {REL}',
    "with several relations": f'</inbox/>; rel="next {LDP}inbox"',
}


@pytest.mark.parametrize("what", HEADERS)
def test_discovery_senders_must_find_the_inbox_in_a_link_header(what: str) -> None:
    assert inbox_of(Resource(TARGET, [HEADERS[what]], "text/html", b"")) == "https://user.example/inbox/"


BODIES = {
    "application/ld+json": orjson.dumps({"@id": "", f"{LDP}inbox": {"@id": "/inbox/"}}),
    'application/ld+json; profile="x"': orjson.dumps(
        {"@context": "https://www.w3.org/ns/activitystreams", "id": TARGET, "inbox": "/inbox/"}
    ),
    "text/turtle": f"<> <{LDP}inbox> </inbox/> .".encode(),
}


@pytest.mark.parametrize("media_type", BODIES)
def test_discovery_senders_must_find_the_inbox_in_the_body(media_type: str) -> None:
    assert inbox_of(Resource(TARGET, [], media_type, BODIES[media_type])) == "https://user.example/inbox/"


@pytest.mark.parametrize(
    "resource",
    [
        Resource(TARGET, ['</other>; rel="next"'], "text/turtle", b"<> <http://e/p> <http://e/o> ."),
        Resource(TARGET, [], "text/turtle", f"<http://other.example/> <{LDP}inbox> </inbox/> .".encode()),
        Resource(TARGET, [], "text/html", b"<html>"),
        Resource(TARGET, ["<<;;"], "application/ld+json", b"{"),
        Resource(TARGET, [], "application/ld+json", b'{"@context": "http://127.0.0.1/", "inbox": "/x"}'),
    ],
)
def test_discovery_a_resource_without_an_inbox_has_none(resource: Resource) -> None:
    with pytest.raises(NoInbox):
        inbox_of(resource)


# -- Payload ------------------------------------------------------------------------------------------------------

NOTIFICATION = {
    "spuid": "urn:uuid:1", "sequence": 3, "commit": 9, "alias": "lamps",
    "addedResults": {"results": {"bindings": [
        {"lamp": {"type": "uri", "value": "http://e/lamp"},
         "name": {"type": "literal", "value": "Lampe", "xml:lang": "de"}},
        {"lamp": {"type": "bnode", "value": "b1"}, "name": {
            "type": "literal", "value": "7", "datatype": "http://www.w3.org/2001/XMLSchema#integer"}},
    ]}},
    "removedResults": {"results": {"bindings": [{"name": {"type": "literal", "value": "x"}}]}},
}  # fmt: skip


def test_payload_an_activity_has_everything_that_its_receiver_should_know() -> None:
    document = activity(NOTIFICATION, "urn:uuid:2", "http://b.example/", "2026-01-01T00:00:00Z")
    triples = set(Reading(Contexts()).read(orjson.dumps(document), "application/ld+json", "http://r.example/inbox/1"))
    me = "<urn:uuid:2>"
    assert {
        (me, RDF_TYPE, f"<{AS}Update>"),
        (me, f"<{AS}object>", "<urn:uuid:1>"),
        (me, f"<{AS}actor>", "<http://b.example/>"),
        (me, "<urn:tidings:sequence>", '"3"^^<http://www.w3.org/2001/XMLSchema#integer>'),
    } <= triples
    values = {(p, o) for _, p, o in triples if p.startswith("<urn:tidings:variable:")}
    assert {
        ("<urn:tidings:variable:lamp>", "<http://e/lamp>"),
        ("<urn:tidings:variable:name>", '"Lampe"@de'),
        ("<urn:tidings:variable:name>", '"7"^^<http://www.w3.org/2001/XMLSchema#integer>'),
        ("<urn:tidings:variable:name>", '"x"'),
    } <= values
    assert sum(p == "<urn:tidings:added>" for _, p, _ in triples) == 2
    assert sum(p == "<urn:tidings:removed>" for _, p, _ in triples) == 1


# -- Sending ------------------------------------------------------------------------------------------------------


@asynchronous
async def test_sending_is_by_post_of_json_ld_to_the_inbox_that_was_discovered() -> None:
    async with receiving() as receiver, hooked(receiver) as place:
        here = f"http://127.0.0.1:{receiver.port}"
        receiver.status = 201
        receiver.links["/me"] = f'</inbox/>; rel="{LDP}inbox"'
        made = (await place.http.post("/webhooks", json={"inbox": f"{here}/me", "sparql": ALL})).json()["webhook"]
        assert (made["inbox"], made["url"]) == (f"{here}/me", f"{here}/inbox/")
        first = await receiver.next("/inbox/")
        assert first.headers["content-type"] == "application/ld+json"
        await place.broker.update(INSERT.format(1))
        receiver.status = 202
        told = orjson.loads((await receiver.next("/inbox/")).body)
        assert (told["actor"], told["object"]) == (place.broker.engine.core.base, made["spuid"])
        assert [row["var:o"]["@value"] for row in told["added"]] == ["1"]
        await until(lambda: place.gate.counts.notifications == 2)


@asynchronous
async def test_sending_goes_only_where_web_hooks_may_go() -> None:
    async with receiving() as receiver, hooked(receiver) as place:
        here = f"http://127.0.0.1:{receiver.port}"

        async def refused(target: str, **more: str) -> str:
            answer = await place.http.post("/webhooks", json={"inbox": target, "sparql": ALL, **more})
            return str(answer.json()["error"])

        receiver.links["/elsewhere"] = f'<http://169.254.169.254/inbox/>; rel="{LDP}inbox"'
        assert await refused(f"{here}/elsewhere") == "outgoing_not_allowed"
        assert await refused("http://169.254.169.254/") == "outgoing_not_allowed"
        receiver.links["/nothing"] = '</other>; rel="next"'
        assert await refused(f"{here}/nothing") == "no_inbox"
        assert await refused(f"{here}/nothing", url=f"{here}/hook") == "bad_request"
        assert receiver.attempts == 0
