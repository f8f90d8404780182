"""Who is connected to be told, as `/connections` lists them: all to administrators, and to everybody their own."""

from datetime import datetime
from pathlib import Path

from gates.client import connected
from gates.doors import is_error, listening, subscribed
from gates.secured import A, secured
from tidings.broker.subscriptions.subscriber import Parcel, SessionId, Subscriber
from waiting import asynchronous, until

QUERY = "SELECT ?o WHERE { <http://e/a> <http://e/p> ?o }"
IN_A = f"SELECT ?o {{ GRAPH <{A}> {{ <s> <p> ?o }} }}"


class Nobody:
    def deliver(self, subscriber: Subscriber, sequence: int, parcel: Parcel) -> None: ...

    def dismiss(self, subscriber: Subscriber, reason: str, code: int) -> None: ...

    def close(self, code: int, reason: str) -> None: ...


@asynchronous
async def test_those_who_stay_are_listed_newest_first_and_in_pages() -> None:
    async with listening() as house:
        assert (await house.get("/connections")).json() == {"total": 0, "connections": []}
        async with subscribed(house, QUERY) as older:
            await older.next()
            async with subscribed(house, QUERY) as newer:
                await newer.next()
                house.broker.connect(Nobody())  # as for a request: it does not stay
                first, second = (house.broker.sessions[SessionId(number)] for number in (1, 2))
                house.broker.filled(first)
                page = (await house.get("/connections", params={"limit": "1"})).json()
                (shown,) = page["connections"]
                began = datetime.fromisoformat(shown.pop("since"))
                assert began.timestamp() * 1e6 == second.since
                assert shown == {
                    "id": 2, "gate": "event-stream", "address": "127.0.0.1", "subjects": [],
                    "subscriptions": 1, "waiting": 0, "slow": False,
                }  # fmt: skip
                rest = (await house.get("/connections", params={"after": page["after"]})).json()
                assert [(each["id"], each["slow"]) for each in rest["connections"]] == [(1, True)]
                assert (page["total"], rest["total"], "after" in rest) == (2, 2, False)
                for wrong in ({"after": "x"}, {"limit": "x"}):
                    assert is_error(await house.get("/connections", 400, params=wrong), 400, "bad_request")
            await until(lambda: second.id not in house.broker.sessions)
            assert [each["id"] for each in (await house.get("/connections")).json()["connections"]] == [1]


@asynchronous
async def test_administrators_see_all_and_others_their_own_part(tmp_path: Path) -> None:
    async with secured(tmp_path) as house, connected(house) as shared, connected(house):
        boss, listener, reader = [await house.newcomer(name) for name in ("boss", "listener", "reader")]
        for token in (listener, boss, boss):
            first = await shared.ask({"subscribe": {"sparql": IN_A, "authorization": token}})
            assert "notification" in first
        seen = {}
        for who, token in (("boss", boss), ("listener", listener), ("reader", reader)):
            page = (await house.http.get("/connections", headers={"authorization": token})).json()
            assert page["total"] == len(page["connections"])
            seen[who] = [(each["gate"], each["subjects"], each["subscriptions"]) for each in page["connections"]]
        assert seen == {
            "boss": [("websocket", [], 0), ("websocket", ["listener", "boss"], 3)],
            "listener": [("websocket", ["listener"], 1)],
            "reader": [],
        }
