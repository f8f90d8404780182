"""The first page: the city while it lives, and otherwise a tour of the graph that is there."""

import pytest
from playwright.sync_api import Browser, expect

from dashboard.conftest import Visit, serious_findings, visiting
from gates.wire import Broker
from waiting import PATIENCE, wait_until

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]
expect.set_options(timeout=1000 * PATIENCE)

TEMPO = "SELECT ?t WHERE { GRAPH <urn:tidings:demo> { ?c <http://tidings.example/lighting#hasTempo> ?t } }"


def test_lamps_go_on_around_people_and_a_click_shows_the_subscription(visit: Visit, broker: Broker) -> None:
    page = visit.open()
    expect(page.get_by_role("heading", name="A city that listens to itself")).to_be_visible()
    expect(page.locator("dd[data-lamps]:not([data-lamps='0'])")).to_be_visible()
    page.get_by_label("Follow a road").select_option(label="Road 1 (10 lamps)")
    aside = page.get_by_role("complementary", name="The subscription of Road 1")
    expect(aside.get_by_text("10 rows")).to_be_visible()
    broker.update(
        """PREFIX light: <http://tidings.example/lighting#> WITH <urn:tidings:demo>
        DELETE { light:LAMP_1_1 light:hasDimmingValue ?d } INSERT { light:LAMP_1_1 light:hasDimmingValue "77" }
        WHERE { light:LAMP_1_1 light:hasDimmingValue ?d }"""
    )
    expect(aside.get_by_role("cell", name="77")).to_be_visible()
    assert serious_findings(page) == []


def test_the_tempo_is_what_the_graph_says(visit: Visit, broker: Broker) -> None:
    page = visit.open()
    expect(page.locator("dd[data-lamps]:not([data-lamps='0'])")).to_be_visible()
    page.get_by_label("Tempo").fill("12")
    wait_until(lambda: [row["t"]["value"] for row in broker.query(TEMPO)] == ["12.0"])


def test_without_the_city_there_is_a_tour_of_what_is_there(browser: Browser, quiet: Broker) -> None:
    quiet.update("CLEAR ALL ; INSERT DATA { <urn:a> a <urn:Thing> . GRAPH <urn:g> { <urn:b> <urn:p> 1, 2 } }")
    for visit in visiting(browser, quiet.http):
        page = visit.open()
        expect(page.get_by_role("heading", name="3 triples")).to_be_visible()
        expect(page.get_by_role("link", name="<urn:Thing>")).to_be_visible()
        page.get_by_role("button", name="<urn:g>").click()
        page.get_by_role("link", name="<urn:p>").click()
        expect(page.locator("[data-rows='2']")).to_be_visible()
