"""Web hooks: what is delivered when a receiver is away, says no, or wants nothing more; and where nothing ever goes."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
from hypothesis import given
from hypothesis import strategies as st
from openapi_spec_validator import validate
from standardwebhooks.webhooks import Webhook

from gates.client import Message, Row, rows
from gates.doors import built, is_error
from gates.stories.receiver import Receiver
from tidings.broker.broker import Broker
from tidings.gates.gate import gate_status
from tidings.gates.http.monitoring.openapi import openapi
from tidings.gates.webhooks.gate import WebhookGate
from tidings.gates.webhooks.hooks import Hook, Hooks
from tidings.gates.webhooks.openapi import paths
from tidings.log.entry import Note
from tidings.server import gates
from tidings.server.optional_gates.webhooks import open_webhooks
from waiting import asynchronous, until

ALL = "SELECT ?o { <http://x/a> <http://x/p> ?o }"
INSERT = "INSERT DATA {{ <http://x/a> <http://x/p> {} }}"


class Place:
    """A broker with web hooks, and who calls it."""

    def __init__(self, broker: Broker, gate: WebhookGate, http: httpx.AsyncClient, receiver: Receiver) -> None:
        self.broker, self.gate, self.http, self.receiver = broker, gate, http, receiver

    async def make(self, url: str | None = None, **changes: Any) -> httpx.Response:
        there = url or f"http://127.0.0.1:{self.receiver.port}/hook"
        return await self.http.post("/webhooks", content=json.dumps({"url": there, "sparql": ALL} | changes))

    async def made(self) -> Message:
        answer = await self.make()
        assert answer.status_code == 201, answer.text
        content = answer.json()["webhook"]
        assert isinstance(content, dict)
        return content

    async def shown(self, hook: Message) -> Message:
        answer = await self.http.get(f"/webhooks/{hook['id']}")
        content = answer.json()["webhook"]
        assert isinstance(content, dict)
        return content

    async def becomes(self, hook: Message, status: str) -> Message:
        async def look() -> Message | None:
            found = await self.shown(hook)
            return found if found["status"] == status else None

        while (found := await look()) is None:
            await asyncio.sleep(0.01)
        return found

    async def next(self, hook: Message) -> Message:
        posted = await self.receiver.next("/hook")
        content: Any = Webhook(hook["secret"]).verify(posted.body, posted.headers)
        assert posted.headers["webhook-id"] == f"{hook['id']}.{content['number']}"
        assert isinstance(content, dict)
        return content


@asynccontextmanager
async def hooked(receiver: Receiver, folder: Path | None = None, **changes: Any) -> AsyncIterator[Place]:
    flags: dict[str, Any] = {
        "webhook_hosts": (f"127.0.0.1:{receiver.port}",), "webhook_networks": ("127.0.0.1/32",), "webhook_pause": 0.02,
    } | changes  # fmt: skip
    async with built(folder, **flags) as (broker, _, settings):
        quotas = gates.client_quotas(settings)
        gate = open_webhooks(gates.premises(broker, settings, None, quotas), settings)
        assert isinstance(gate, WebhookGate)
        pages = gates.http_gate(broker, settings, quotas=quotas, gates=(gate,))
        transport = httpx.ASGITransport(gates.http_app(broker, settings, pages), raise_app_exceptions=False)
        async with gate.running(), httpx.AsyncClient(transport=transport, base_url="http://tidings.test") as client:
            yield Place(broker, gate, client, receiver)


@asynccontextmanager
async def receiving() -> AsyncIterator[Receiver]:
    receiver = Receiver()
    await receiver.start()
    yield receiver
    await receiver.stop()


@asynchronous
async def test_a_hook_is_told_the_whole_answer_and_then_what_changes() -> None:
    async with receiving() as receiver, hooked(receiver) as place:
        hook = await place.made()
        first = await place.next(hook)
        assert (first["number"], first["notification"]["sequence"], first["hook"]) == (1, 0, hook["id"])
        await place.broker.update(INSERT.format(1))
        second = await place.next(hook)
        assert (second["number"], rows(second["notification"]["addedResults"])) == (2, [("1",)])
        assert second["notification"]["commit"] == 1
        shown = await place.becomes(hook, "idle")
        assert (shown["delivered"], "secret" in shown, "waiting" in shown) == (2, False, False)
        assert (await place.http.get("/webhooks")).json()["total"] == 1
        status = (await place.http.get("/status")).json()["gates"]["webhooks"]
        assert (status["clients"], status["notifications"], status["attempts"], status["parked"]) == (1, 2, 2, 0)
        assert 'tidings_gate_notifications_total{gate="webhooks"} 2.0' in (await place.http.get("/metrics")).text
        assert (await place.http.delete(f"/webhooks/{hook['id']}")).status_code == 200
        assert is_error(await place.http.get(f"/webhooks/{hook['id']}"), 404, "unknown_webhook")
        assert list(place.broker.subscribers()) == []


@asynchronous
async def test_while_a_receiver_takes_nothing_changes_are_added_up_and_the_message_stays_the_same() -> None:
    async with receiving() as receiver, hooked(receiver) as place:
        hook = await place.made()
        await place.next(hook)
        receiver.status = 503
        for number in range(5):
            await place.broker.update(INSERT.format(number))
        await until(lambda: len(receiver.refused) >= 3)
        shown = await place.becomes(hook, "retrying")
        assert "503" in shown["reason"]
        assert len({(each.body, each.headers["webhook-id"]) for each in receiver.refused}) == 1
        receiver.status = 204
        told: list[Row] = []
        numbers: list[int] = []
        while len(told) < 5:
            message = await place.next(hook)
            told += rows(message["notification"]["addedResults"])
            numbers.append(message["number"])
        assert sorted(told) == [(str(number),) for number in range(5)]
        assert numbers in ([2], [2, 3])  # all that changed after the first message is one more


@asynchronous
async def test_a_hook_whose_receiver_takes_nothing_for_too_long_is_parked_until_it_is_woken() -> None:
    async with receiving() as receiver, hooked(receiver, webhook_patience=0.05) as place:
        receiver.status = 302  # followed nowhere
        hook = await place.made()
        shown = await place.becomes(hook, "parked")
        assert "302" in shown["reason"]
        assert gate_status(place.gate)["parked"] == 1
        await place.broker.update(INSERT.format(1))
        receiver.status = 200
        assert (await place.http.post(f"/webhooks/{hook['id']}/retry")).status_code == 200
        assert (await place.next(hook))["notification"]["sequence"] == 0
        assert rows((await place.next(hook))["notification"]["addedResults"]) == [("1",)]
        await place.becomes(hook, "idle")


@asynchronous
async def test_a_receiver_that_wants_nothing_more_is_left_alone_at_once() -> None:
    async with receiving() as receiver, hooked(receiver) as place:
        receiver.status = 410
        shown = await place.becomes(await place.made(), "parked")
        assert ("410" in shown["reason"], receiver.attempts) == (True, 1)


async def goes_on(place: Place, before: int) -> int:
    """The number with which the hook goes on, once it is durable."""

    def number() -> int:
        notes = [note for note in place.broker.facts.notes() if note.kind == "webhook_resumed"]
        return max((note.content["sequence"] for note in notes), default=-1)

    await until(lambda: number() > before)
    return number()


@asynchronous
async def test_after_a_restart_the_same_message_is_sent_again_and_then_what_was_missed(tmp_path: Path) -> None:
    async with receiving() as receiver:
        receiver.status = 500
        async with hooked(receiver, tmp_path) as place:
            hook = await place.made()
            await until(lambda: receiver.refused)
            await place.broker.update(INSERT.format(1))
        receiver.status = 204
        async with hooked(receiver, tmp_path) as place:
            first = await place.next(hook)
            assert first == json.loads(receiver.refused[0].body)
            assert rows((await place.next(hook))["notification"]["addedResults"]) == [("1",)]
            await place.becomes(hook, "idle")
        async with hooked(receiver, tmp_path) as place:
            await place.broker.update(INSERT.format(2))
            third = await place.next(hook)
            assert (third["number"], rows(third["notification"]["addedResults"])) == (3, [("2",)])
            await place.becomes(hook, "idle")  # or it is sent again
        numbers = [-1]
        for _ in range(2):  # nothing happens, and nothing is told
            async with hooked(receiver, tmp_path) as place:
                numbers.append(await goes_on(place, numbers[-1]))
        assert numbers[2] == numbers[1] + 1
        async with built(tmp_path, grace=0.0) as (broker, _, _):  # without web hooks: nobody waits for the subscription
            broker.run_due()
            await broker.update(INSERT.format(3))
        async with hooked(receiver, tmp_path) as place:
            anew = await place.next(hook)
            assert (anew["number"], anew["notification"]["resumed"]) == (4, False)
            assert sorted(rows(anew["notification"]["addedResults"])) == [("1",), ("2",), ("3",)]


@asynchronous
async def test_nothing_goes_to_an_address_that_is_not_allowed() -> None:
    async with receiving() as receiver, hooked(receiver, webhook_networks=()) as place:
        for url in (
            None, "http://127.0.0.1:1/", "http://localhost/", "http://[::1]/", "file:///etc/passwd", "nonsense",
            "http://user:word@127.0.0.1/", "http://169.254.169.254/latest",
        ):  # fmt: skip
            assert is_error(await place.make(url), 403, "outgoing_not_allowed")
        assert (receiver.attempts, len(list(place.broker.subscribers()))) == (0, 0)


@asynchronous
async def test_what_cannot_be_a_hook_is_refused_and_leaves_nothing() -> None:
    async with receiving() as receiver, hooked(receiver, webhook_most=1) as place:
        assert is_error(await place.http.post("/webhooks", content=b"[1"), 400, "bad_request")
        assert is_error(await place.http.post("/webhooks", content=b'{"url": "http://x/"}'), 400, "bad_request")
        assert is_error(await place.make(sparql="SELECT"), 400, "sparql_syntax_error")
        assert list(place.broker.subscribers()) == []
        await place.made()
        assert is_error(await place.make(), 429, "too_many_webhooks")


NAMES = st.sampled_from(["a", "b"])
NUMBERS = st.integers(1, 3)
NOTES = st.one_of(
    st.builds(
        lambda name, spuid: Note("webhook", {"id": name, "url": "u", "spuid": spuid, "sparql": "q"}), NAMES, NAMES
    ),
    st.builds(
        lambda name, number: Note(
            "webhook_message",
            {"id": name, "number": number, "sequence": number, "spuid": "a", "body": "{}", "since": 1},
        ),
        NAMES,
        NUMBERS,
    ),
    st.builds(lambda name, number: Note("webhook_taken", {"id": name, "number": number}), NAMES, NUMBERS),
    st.builds(lambda name, number: Note("webhook_resumed", {"id": name, "sequence": number}), NAMES, NUMBERS),
    st.builds(lambda name: Note("webhook_parked", {"id": name, "since": 1, "reason": "r"}), NAMES),
    st.builds(lambda kind, name: Note(kind, {"id": name}), st.sampled_from(["webhook_woken", "webhook_gone"]), NAMES),
)


@given(st.lists(NOTES, max_size=12))
def test_what_a_snapshot_says_leads_to_the_same_hooks(history: list[Note]) -> None:
    @asynchronous
    async def story() -> None:
        async with built() as (broker, _, _):
            lived, restored = Hooks(broker.facts), Hooks(broker.facts)
            for note in history:
                lived.restore(note)
            for note in lived.notes():
                restored.restore(note)
            assert list(restored) == list(lived)

    story()


def test_a_hook_knows_what_began_it() -> None:
    hook = Hook("x", "http://x/", "urn:x", ALL, ("http://x/g",), (), "me")
    assert (hook.asked().sparql, hook.asked().graphs.default, hook.asked().echo.alias) == (ALL, ("http://x/g",), "me")


def test_every_path_is_described_and_documented_with_its_methods() -> None:
    validate(openapi(secured=True, more=paths()))
    documented = (Path(__file__).parents[3] / "docs" / "gates.md").read_text()
    for path, item in paths().items():
        methods = [method.upper() for method in ("get", "head", "post", "delete") if method in item]
        assert f"| `{path}` | {', '.join(methods).replace('GET', 'GET, HEAD')} |" in documented
