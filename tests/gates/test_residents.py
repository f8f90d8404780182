"""Gates that speak for somebody whom the settings name, or who is not there: with that client's rights, as they are."""

import asyncio
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from gates.client import Message, rows
from gates.secured import A, B, House, secured
from gates.stories.receiver import Receiver
from tidings.broker.subscriptions.subscriber import Parcel, Subscriber
from tidings.gates.asking import Resident
from tidings.gates.caller import Caller
from tidings.gates.gate import Counts
from tidings.gates.premises import Premises
from tidings.model.errors import GraphNotWritable, TidingsError
from tidings.model.results import Row
from waiting import asynchronous, until

ALL = "SELECT ?o { GRAPH ?g { <s> <p> ?o } }"


class Link:
    """Remembers what it is told."""

    def __init__(self) -> None:
        self.answer: set[Row] = set()
        self.reasons: list[str] = []

    def begun(self, subscriber: Subscriber, parcel: Parcel, resumed: bool | None) -> None:
        self._take(parcel.changes.items())

    def deliver(self, subscriber: Subscriber, sequence: int, parcel: Parcel) -> None:
        self._take(parcel.changes.items())

    def _take(self, changes: Iterable[tuple[Row, int]]) -> None:
        for row, weight in changes:
            (self.answer.add if weight > 0 else self.answer.discard)(row)

    def dismiss(self, subscriber: Subscriber, reason: str, code: int) -> None:
        self.reasons.append(reason)

    def close(self, code: int, reason: str) -> None:
        self.reasons.append(reason)


def caller_of(house: House, link: Link, name: str) -> Caller:
    premises = Premises(house.broker, house.quotas, "http://base/", house.security.guard)
    return Caller(premises, link, Counts(), shown=Resident(name), where="mqtt")


async def grant(house: House, boss: str, **rights: list[str]) -> None:
    content = {"grants": [{"to": "client:gate", **rights}]}
    answer = await house.http.put("/admin/grants/gate", json=content, headers={"authorization": boss})
    assert answer.status_code == 200, answer.text


@asynchronous
async def test_a_gate_has_the_rights_of_the_client_that_the_settings_name(tmp_path: Path) -> None:
    async with secured(tmp_path) as house:
        boss = await house.newcomer("boss")
        await house.register("gate")
        link = Link()
        caller = caller_of(house, link, "gate")
        with pytest.raises(TidingsError):
            await caller.subscribe(ALL, None, link.begun)
        await grant(house, boss, subscribe=[A])
        await caller.subscribe(ALL, None, link.begun)
        assert link.answer == {('"in a"',)}
        with pytest.raises(GraphNotWritable):
            await caller.update(f"INSERT DATA {{ GRAPH <{A}> {{ <s> <p> 1 }} }}")
        await grant(house, boss, subscribe=[A, B])
        await until(lambda: link.answer == {('"in a"',), ('"in b"',)})
        await house.http.delete("/admin/grants/gate", headers={"authorization": boss})
        await until(lambda: link.reasons)
        caller.leave()


@asynchronous
async def test_a_web_hook_has_the_rights_of_who_made_it_and_is_nobody_elses(tmp_path: Path) -> None:
    receiver = Receiver()
    await receiver.start()
    flags: dict[str, Any] = {"webhook_hosts": (f"127.0.0.1:{receiver.port}",), "webhook_networks": ("127.0.0.1/32",)}
    async with secured(tmp_path, **flags) as house:
        boss, listener, reader = [await house.newcomer(name) for name in ("boss", "listener", "reader")]
        wanted = json.dumps({"url": f"http://127.0.0.1:{receiver.port}/hook", "sparql": ALL})

        async def call(method: str, path: str, who: str | None, content: str = "") -> Message:
            headers = {} if who is None else {"authorization": who}
            answer = await house.http.request(method, path, content=content, headers=headers)
            content_ = answer.json()
            assert isinstance(content_, dict)
            return content_

        assert (await call("POST", "/webhooks", None, wanted))["error"] == "invalid_request"
        hook = (await call("POST", "/webhooks", listener, wanted))["webhook"]
        told = json.loads((await receiver.next("/hook")).body)["notification"]
        assert rows(told["addedResults"]) == [("in a",)]
        path = f"/webhooks/{hook['id']}"
        for method, place in (("GET", path), ("DELETE", path), ("POST", f"{path}/retry")):
            assert (await call(method, place, reader))["error"] == "unknown_webhook"
        assert [(await call("GET", "/webhooks", who))["total"] for who in (listener, reader, boss)] == [1, 0, 1]
        gone = await house.http.delete("/admin/clients/listener", headers={"authorization": boss})
        assert gone.status_code == 200, gone.text
        while (await call("GET", path, boss))["webhook"]["status"] != "parked":
            await asyncio.sleep(0.01)
        assert (await call("DELETE", path, boss))["webhook"]["id"] == hook["id"]
    await receiver.stop()
