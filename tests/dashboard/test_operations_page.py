"""For those who run a broker: how it is, and who has subscribed."""

import re

import pytest
from playwright.sync_api import expect

from dashboard.conftest import Visit, serious_findings, with_an_mqtt_gate
from gates.wire import Broker
from plain import calls
from waiting import PATIENCE

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]
expect.set_options(timeout=1000 * PATIENCE)


def test_figures_move_and_plans_of_subscriptions_are_explained(visit: Visit, broker: Broker) -> None:
    quads = calls.get(f"{broker.http}/status", timeout=PATIENCE).json()["quads"]
    visit.page.route("**/status", with_an_mqtt_gate)
    page = visit.open("#/operations")
    expect(page.get_by_text(f"{quads:,}, 1 named graph")).to_be_visible()
    broker.update("INSERT DATA { <urn:a> <urn:b> 1 }")
    expect(page.get_by_text(f"{quads + 1:,}, 1 named graph")).to_be_visible()
    expect(page.get_by_text(re.compile(r"^(\d+ h )?\d+ (min|s), version "))).to_be_visible()
    expect(page.locator("figure canvas")).to_have_count(7)
    expect(page.get_by_text("LUTT hit rate, in per cent")).to_be_visible()
    page.get_by_role("button", name="incremental").first.click()
    expect(page.locator(".tree")).to_contain_text("light:")
    expect(page.get_by_text("of the query: all queries that differ only in that share the plan.")).to_be_visible()
    page.get_by_role("button", name="cost").click()
    expect(page.get_by_role("columnheader", name="cost")).to_have_attribute("aria-sort", "descending")
    expect(page.get_by_role("row").filter(has_text="incremental").first).to_contain_text(re.compile(r"\d m?s"))
    expect(page.get_by_role("region", name="Gates").get_by_role("row")).to_have_count(2)
    assert serious_findings(page) == []


def test_who_connects_is_listed_with_where_they_come_from(visit: Visit, broker: Broker) -> None:
    page = visit.open("#/operations")
    clients = page.get_by_role("region", name="Clients", exact=True)
    expect(clients.get_by_role("row").filter(has_text="websocket").first).to_contain_text("127.0.0.1")
    streams = clients.get_by_role("row").filter(has_text="event-stream")
    expect(streams).to_have_count(0)
    asked = {"query": "SELECT * WHERE { ?s <urn:nobody> ?o }"}
    with calls.stream("GET", f"{broker.http}/subscribe", params=asked, timeout=PATIENCE) as stream:
        assert stream.status_code == 200
        expect(streams).to_have_count(1)
        expect(streams).to_contain_text("nothing")
    expect(streams).to_have_count(0)
