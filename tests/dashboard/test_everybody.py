"""The page for everybody: on a phone, in the dark, and with the keyboard alone."""

import pytest
from playwright.sync_api import Browser, expect

from dashboard.conftest import Visit, serious_findings, visiting
from gates.wire import Broker
from waiting import PATIENCE

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]
expect.set_options(timeout=1000 * PATIENCE)

PAGES = {
    "home": "A city that listens to itself",
    "query": "Query and subscribe",
    "update": "Update",
    "explore?iri=urn:a": "<urn:a>",
    "history?query=ASK%7B%7D": "History",
    "operations": "Operations",
}


def test_every_page_fits_a_phone_in_the_dark(browser: Browser, broker: Broker) -> None:
    for visit in visiting(browser, broker.http, width=390, scheme="dark"):
        for path, heading in PAGES.items():
            page = visit.open(f"#/{path}")
            expect(page.get_by_role("heading", name=heading, exact=True)).to_have_count(1)
            wide = "() => Math.max(document.documentElement.scrollWidth, document.querySelector('main').scrollWidth)"
            assert page.evaluate(wide) <= 390, path
            here = page.get_by_role("navigation").locator("[aria-current]")
            expect(here).to_be_in_viewport(ratio=0.9)
            expect(page).to_have_title("Tidings" if path == "home" else f"{here.inner_text()} · Tidings")
            assert serious_findings(page) == [], path


def test_the_keyboard_is_enough(visit: Visit, broker: Broker) -> None:
    broker.update("INSERT DATA { <urn:a> <urn:n> 7 }")
    page = visit.open("#/query?query=SELECT+%3Fn+WHERE+%7B+%3Fs+%3Curn%3An%3E+%3Fn+%7D")
    page.get_by_role("textbox", name="SPARQL query").focus()
    page.keyboard.press("Control+Shift+Enter")
    expect(page.get_by_role("cell", name="7")).to_be_visible()
    page.keyboard.press("Tab")
    assert page.evaluate("() => document.activeElement.textContent") == "Stop"
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Subscribe")).to_be_visible()
    page.get_by_role("button", name="Examples").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Classes", exact=True)).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Classes", exact=True)).to_have_count(0)


def test_the_theme_is_the_system_s_until_somebody_chooses(visit: Visit) -> None:
    page = visit.open()
    page.get_by_role("button", name="Theme: system").click()
    page.get_by_role("button", name="Theme: light").click()
    expect(page.get_by_role("button", name="Theme: dark")).to_be_visible()
    assert page.evaluate("() => getComputedStyle(document.documentElement).colorScheme") == "dark"
    page.reload()
    expect(page.get_by_role("button", name="Theme: dark")).to_be_visible()
