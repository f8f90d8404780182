"""Answers as charts, maps and graphs, where they fit."""

from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from dashboard.conftest import Visit
from gates.wire import Broker
from waiting import PATIENCE

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]
expect.set_options(timeout=1000 * PATIENCE)


def live(visit: Visit, query: str) -> Page:
    page = visit.open(f"#/query?query={quote(query)}&live=1")
    expect(page.locator("[data-state=live]")).to_be_visible()
    return page


def test_numbers_beside_names_are_bars_that_follow_the_data(visit: Visit, broker: Broker) -> None:
    broker.update("INSERT DATA { <urn:a> <urn:n> 1 . <urn:b> <urn:n> 5 }")
    page = live(visit, "SELECT ?thing ?n WHERE { ?thing <urn:n> ?n }")
    page.get_by_role("tab", name="Chart").click()
    expect(page.get_by_role("list", name="n").get_by_role("listitem")).to_have_text([r"<urn:b>5", r"<urn:a>1"])
    broker.update("DELETE DATA { <urn:a> <urn:n> 1 } ; INSERT DATA { <urn:a> <urn:n> 9 }")
    expect(page.get_by_role("list", name="n").get_by_role("listitem")).to_have_text([r"<urn:a>9", r"<urn:b>5"])
    page = live(
        visit, "SELECT ?kind ?thing (SUM(?n) AS ?all) { ?thing <urn:n> ?n BIND('k' AS ?kind) } GROUP BY ?kind ?thing"
    )
    page.get_by_role("tab", name="Chart").click()
    expect(page.get_by_role("list", name="all").get_by_role("listitem")).to_have_text([r"k <urn:a>9", r"k <urn:b>5"])


def test_numbers_over_time_are_lines(visit: Visit, broker: Broker) -> None:
    time = '"2026-11-1%dT10:00:00Z"^^<http://www.w3.org/2001/XMLSchema#dateTime>'
    broker.update(
        f"INSERT DATA {{ <urn:a> <urn:at> {time % 1} ; <urn:n> 1 . <urn:b> <urn:at> {time % 2} ; <urn:n> 2 }}"
    )
    page = live(visit, "SELECT ?at ?n WHERE { ?x <urn:at> ?at ; <urn:n> ?n }")
    page.get_by_role("tab", name="Chart").click()
    expect(page.locator("figure canvas")).to_be_visible()


def test_places_are_on_a_map_and_links_are_a_graph(visit: Visit, broker: Broker) -> None:
    shapes = '<urn:a> <urn:at> "POINT(11.3 44.4)" . <urn:b> <urn:at> "LINESTRING(11 44, 12 45)"'
    broker.update(f"INSERT DATA {{ {shapes} . <urn:a> <urn:to> <urn:b> }}")
    page = live(visit, "SELECT ?thing ?shape WHERE { ?thing <urn:at> ?shape }")
    page.get_by_role("tab", name="Map").click()
    expect(page.locator(".map circle")).to_have_count(1)
    expect(page.locator(".map polyline")).to_have_count(1)
    page = live(visit, "CONSTRUCT WHERE { ?a <urn:to> ?b }")
    page.get_by_role("tab", name="Graph", exact=True).click()
    expect(page.locator(".graph circle")).to_have_count(2)
    expect(page.locator(".graph line")).to_have_count(1)
    before = page.locator(".graph circle").first.get_attribute("cx")
    broker.update("INSERT DATA { <urn:b> <urn:to> <urn:c> }")
    expect(page.locator(".graph circle")).to_have_count(3)
    expect(page.locator(".graph circle").first).not_to_have_attribute("cx", before or "")  # it makes room
