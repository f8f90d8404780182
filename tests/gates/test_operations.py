"""What those who run a broker can ask it: its health, its counters, its subscriptions, what is yet to come."""

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from gates.doors import House, indoors, is_error
from tidings import __version__
from tidings.broker.subscriptions.subscriber import Parcel, Session, Subscriber
from tidings.gates.http.monitoring.metrics import COUNTERS, GAUGES, HISTOGRAMS
from waiting import asynchronous

INSERT = "INSERT DATA { <http://e/a> <http://e/p> 1 }"
QUERY = "SELECT ?o WHERE { <http://e/a> <http://e/p> ?o }"
LATER = "2999-01-01T00:00:00Z"


class Nobody:
    def deliver(self, subscriber: Subscriber, sequence: int, parcel: Parcel) -> None: ...

    def dismiss(self, subscriber: Subscriber, reason: str, code: int) -> None: ...

    def close(self, code: int, reason: str) -> None: ...


async def subscribe(house: House, text: str = QUERY, alias: str | None = None) -> tuple[Session, str]:
    answered: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    session = house.broker.connect(Nobody())

    def answer(subscriber: Subscriber, *_: object) -> None:
        answered.set_result(subscriber.spuid)

    house.broker.subscribe(session, text, None, alias, answer, answered.set_exception)
    return session, await answered


async def metrics(house: House) -> dict[str, float]:
    text = (await house.get("/metrics")).text
    return {sample.name: sample.value for family in text_string_to_metric_families(text) for sample in family.samples}


# -- health, status, metrics ------------------------------------------------------------------------------------


@asynchronous
async def test_a_healthy_broker_says_so() -> None:
    async with indoors() as house:
        assert (await house.get("/healthz")).json() == {"status": "ok", "version": __version__}


@asynchronous
async def test_a_broker_whose_log_is_broken_is_not_healthy(tmp_path: Path) -> None:
    async with indoors(tmp_path / "data") as house:
        assert house.broker.disk is not None
        house.broker.disk.journal.broken = True
        answer = await house.get("/healthz", 503)
        assert answer.json()["status"] == "log_broken"
        assert is_error(answer, 503, "log_broken")
        assert (await house.get("/status")).json()["log"]["broken"] is True
        house.broker.disk.journal.broken = False


@asynchronous
async def test_a_broker_that_is_stopping_is_not_healthy() -> None:
    async with indoors() as house:
        house.broker.end()
        assert is_error(await house.get("/healthz", 503), 503, "shutting_down")


@asynchronous
async def test_the_status_counts_what_happened() -> None:
    async with indoors() as house:
        await subscribe(house)
        await house.update(INSERT)
        await house.get("/query", params={"query": QUERY})
        await house.http.post("/update", data={"update": INSERT, "at": LATER})
        status = (await house.get("/status")).json()
        assert (status["version"], status["sequence"], status["quads"], status["graphs"]) == (__version__, 1, 1, 0)
        assert status["subscriptions"] | {"live": 1, "absent": 0, "notified": 1} == status["subscriptions"]
        assert (status["queue"]["done"], status["queries"]["done"], status["delayed"]["waiting"]) == (1, 1, 1)
        assert status["log"] is None
        assert status["kpi"]["LHR"] == 100.0
        assert {"T_UPDATE", "T_LUTT", "T_BOOSTER", "T_NOTIFY"} <= status["timing"].keys()
        assert status["memory"]["peak"] > 1_000_000
        assert status["limits"]["max_queue"] == 10_000
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT.*Z", status["started"])


@asynchronous
async def test_the_status_of_the_log_does_not_reveal_its_folder(tmp_path: Path) -> None:
    async with indoors(tmp_path / "secret") as house:
        await house.update(INSERT)
        answer = await house.get("/status")
        log = answer.json()["log"]
        assert (log["durability"], log["sequence"], log["snapshot"]) == ("fsync", 1, 0)
        assert log["bytes"] > 0
        assert "secret" not in answer.text


@asynchronous
async def test_metrics_are_read_from_the_broker_when_they_are_asked_for(tmp_path: Path) -> None:
    async with indoors(tmp_path / "data") as house:
        await subscribe(house)
        await house.update(INSERT)
        await house.http.post("/update", data={"update": "nonsense"})
        found = await metrics(house)
        assert found.keys() >= {f"tidings_{name}" for name in GAUGES} | {f"tidings_{name}_total" for name in COUNTERS}
        expected = {
            "commits_total": 1, "updates_done_total": 1, "updates_failed_total": 1, "notifications_sent_total": 1,
            "subscriptions": 1, "sessions": 1, "quads": 1, "commit_sequence": 1, "lutt_hits_total": 1,
        }  # fmt: skip
        assert {name: found[f"tidings_{name}"] for name in expected} == expected
        assert found.keys() >= {f"tidings_{name}_{part}" for name in HISTOGRAMS for part in ("bucket", "count", "sum")}
        assert (found["tidings_update_seconds_count"], found["tidings_log_write_seconds_count"]) == (2, 2)
        assert (found["tidings_updates_limit"], found["tidings_log_broken"]) == (10_000, 0)
        assert found["tidings_log_behind_bytes"] == found["tidings_log_bytes_total"]
        assert found["tidings_log_bytes_total"] > 0
        assert found["tidings_t_update_seconds_total"] > 0
        assert found["process_resident_memory_bytes"] > 0
        assert "python_gc_collections_total" in found
        await house.update("DELETE WHERE { ?s ?p ?o }")
        assert (await metrics(house))["tidings_commits_total"] == 2


@asynchronous
async def test_two_brokers_of_one_process_count_for_themselves() -> None:
    async with indoors() as one, indoors() as other:
        await one.update(INSERT)
        assert ((await metrics(one))["tidings_quads"], (await metrics(other))["tidings_quads"]) == (1, 0)


# -- subscriptions ----------------------------------------------------------------------------------------------


@asynchronous
async def test_subscriptions_are_listed_with_what_they_ask_and_who_is_there() -> None:
    async with indoors() as house:
        session, spuid = await subscribe(house, alias="it")
        (shown,) = (await house.get("/subscriptions")).json()["subscriptions"]
        assert shown == {
            "spuid": spuid, "alias": "it", "sparql": QUERY, "sequence": 0, "connected": True,
            "incremental": True, "cost": {"seconds": 0.0, "aside": 0.0, "subscribers": 1},
            "default-graph-uri": [], "named-graph-uri": [],
        }  # fmt: skip
        house.broker.disconnect(session)
        (shown,) = (await house.get("/subscriptions")).json()["subscriptions"]
        assert shown["connected"] is False
        assert shown["away"] >= 0


@asynchronous
async def test_a_list_comes_in_pages() -> None:
    async with indoors() as house:
        spuids = [(await subscribe(house))[1] for _ in range(5)]
        found: list[str] = []
        parameters: dict[str, str] = {"limit": "2"}
        while True:
            page = (await house.get("/subscriptions", params=parameters)).json()
            assert (page["total"], len(page["subscriptions"]) <= 2) == (5, True)
            found += [shown["spuid"] for shown in page["subscriptions"]]
            if "after" not in page:
                break
            parameters["after"] = page["after"]
        assert found == spuids
        assert is_error(await house.get("/subscriptions", 404, params={"after": "x"}), 404, "unknown_spuid")
        assert is_error(await house.get("/subscriptions", 400, params={"limit": "x"}), 400, "bad_request")


@asynchronous
async def test_the_dearest_come_first_where_costs_are_asked_for() -> None:
    async with indoors() as house:
        cheap = (await subscribe(house, "SELECT * WHERE { ?s <urn:nobody> ?o }"))[1]
        dear = [(await subscribe(house, f"SELECT * WHERE {{ <urn:a{n}> ?p ?o }}"))[1] for n in range(2)]
        await house.update("INSERT DATA { <urn:a0> <urn:p> 1 }")
        page = (await house.get("/subscriptions", params={"order": "cost"})).json()
        assert ([shown["spuid"] for shown in page["subscriptions"]], page["total"]) == ([*dear, cheap], 3)
        costs = [shown["cost"] for shown in page["subscriptions"]]
        assert costs[0] == costs[1]  # they share a plan, and what it costs
        assert (costs[0]["seconds"] > 0, costs[0]["subscribers"], costs[2]["seconds"]) == (True, 2, 0)
        for wrong in ({"order": "name"}, {"order": "cost", "after": "x"}, {"order": "cost", "since": "x"}):
            assert is_error(await house.get("/subscriptions", 400, params=wrong), 400, "bad_request")


@asynchronous
async def test_a_page_goes_on_although_the_last_one_of_the_page_before_has_ended() -> None:
    async with indoors() as house:
        spuids = [(await subscribe(house))[1] for _ in range(4)]
        page = (await house.get("/subscriptions", params={"limit": "2"})).json()
        house.broker.subscriptions.release(house.broker.subscriptions.find(spuids[1]))
        rest = (await house.get("/subscriptions", params={"after": page["after"]})).json()
        assert ([shown["spuid"] for shown in rest["subscriptions"]], "after" in rest) == (spuids[2:], False)


@asynchronous
async def test_who_came_and_who_ended_since_a_version_is_all_that_is_told() -> None:
    async with indoors() as house:
        spuids = [(await subscribe(house))[1] for _ in range(3)]
        whole = (await house.get("/subscriptions")).json()
        assert "ended" not in whole
        quiet = (await house.get("/subscriptions", params={"since": whole["version"]})).json()
        assert (quiet["subscriptions"], quiet["ended"], quiet["version"]) == ([], [], whole["version"])
        house.broker.subscriptions.release(house.broker.subscriptions.find(spuids[0]))
        _, newcomer = await subscribe(house)
        changed = (await house.get("/subscriptions", params={"since": whole["version"]})).json()
        assert [shown["spuid"] for shown in changed["subscriptions"]] == [newcomer]
        assert changed["ended"] == [spuids[0]]
        assert changed["version"] != whole["version"]


@asynchronous
async def test_a_version_of_another_run_gives_the_whole_list() -> None:
    async with indoors() as one, indoors() as other:
        version = (await one.get("/subscriptions")).json()["version"]
        _, spuid = await subscribe(other)
        for unknown in (version, "", "x", "x-1"):
            page = (await other.get("/subscriptions", params={"since": unknown})).json()
            assert ([shown["spuid"] for shown in page["subscriptions"]], "ended" in page) == ([spuid], False)


@asynchronous
async def test_a_subscription_explains_itself_to_programs_and_to_people() -> None:
    async with indoors() as house:
        _, spuid = await subscribe(house)
        shown = (await house.get(f"/subscriptions/{spuid}")).json()
        assert shown["explain"]["incremental"] is True
        assert shown["explain"]["shared"] == {"members": 1, "subscribers": 1}
        asked: list[dict[str, Any]] = [{"params": {"format": "text"}}, {"headers": {"accept": "text/plain"}}]
        for options in asked:
            answer = await house.get(f"/subscriptions/{spuid}", **options)
            assert answer.headers["content-type"].startswith("text/plain")
            assert answer.text.startswith("shared by 1 member(s)")
        assert is_error(await house.get("/subscriptions/urn:uuid:x", 404), 404, "unknown_spuid")


# -- delayed updates --------------------------------------------------------------------------------------------


@asynchronous
async def test_delayed_updates_are_listed_in_the_order_in_which_they_will_happen() -> None:
    async with indoors() as house:
        for at in ("2999-03-01T00:00:00Z", "2999-01-01T00:00:00Z", "2999-02-01T00:00:00Z"):
            await house.http.post("/update", data={"update": INSERT, "at": at})
        page = (await house.get("/delayed", params={"limit": "2"})).json()
        assert [each["at"][:7] for each in page["delayed"]] == ["2999-01", "2999-02"]
        rest = (await house.get("/delayed", params={"after": page["after"]})).json()
        assert [each["at"][:7] for each in rest["delayed"]] == ["2999-03"]
        assert "after" not in rest


@asynchronous
async def test_a_delayed_update_can_be_looked_at_and_cancelled() -> None:
    async with indoors() as house:
        answer = await house.http.post("/update", data={"update": INSERT, "at": LATER})
        path = f"/delayed/{answer.json()['response']['delayed']}"
        shown = (await house.get(path)).json()
        assert (shown["sparql"], shown["at"]) == (INSERT, LATER)
        assert (await house.http.delete(path)).json() == {"cancelled": shown}
        assert is_error(await house.get(path, 404), 404, "unknown_delayed")
        assert is_error(await house.http.delete(path), 404, "unknown_delayed")
        assert (await house.get("/delayed")).json() == {"total": 0, "delayed": []}


@asynchronous
async def test_a_read_only_endpoint_cancels_nothing() -> None:
    async with indoors(read_only=True) as house:
        assert is_error(await house.http.delete("/delayed/x"), 403, "not_allowed")


# -- every path -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["", "/", "/query?query=ASK{}", "/healthz", "/metrics", "/status", "/nowhere"])
@asynchronous
async def test_what_is_to_be_secure_is_not_there_without_security(path: str) -> None:
    async with indoors() as house:
        for headers in ({}, {"authorization": "Bearer nonsense"}):
            answer = await house.get(f"/secure{path}", 404, headers=headers)
            assert is_error(answer, 404, "not_found")
            assert "this broker runs without" in answer.json()["error_description"]


@asynchronous
async def test_nothing_is_updated_below_secure_without_security() -> None:
    async with indoors() as house:
        bearer = {"authorization": "Bearer nonsense"}
        answer = await house.http.post("/secure/update", data={"update": "CLEAR ALL"}, headers=bearer)
        assert is_error(answer, 404, "not_found")
        assert house.broker.last_commit == 0


@asynchronous
async def test_a_full_broker_can_still_be_watched() -> None:
    async with indoors(max_requests=0) as house:
        assert is_error(await house.get("/status", 429), 429, "too_many_requests")
        for path in ("/healthz", "/metrics"):
            await house.get(path)


@asynchronous
async def test_the_service_describes_where_it_can_be_subscribed_to() -> None:
    async with indoors(ws_port=9001) as house:
        text = (await house.get("/sparql", headers={"accept": "application/n-triples"})).text
        assert "<http://www.w3.org/ns/sparql-service-description#languageExtension> <urn:tidings:subscribe>" in text
        assert "<urn:tidings:webSocketEndpoint> <ws://tidings.test:9001/subscribe>" in text
        assert "<urn:tidings:eventStreamEndpoint> <http://tidings.test/subscribe>" in text
