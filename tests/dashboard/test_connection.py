"""The page and its broker: one that goes away and comes back, and others that are none of its business."""

import signal
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Error, expect

from dashboard.conftest import Visit, visiting
from dashboard.tools import built
from gates.wire import Broker, own_ports, serving
from waiting import PATIENCE

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]
expect.set_options(timeout=1000 * PATIENCE)

ALL = "#/query?query=SELECT+%3Fo+WHERE+%7B+%3Fs+%3Curn%3Apower%3E+%3Fo+%7D&live=1"


def test_a_subscription_resumes_after_the_broker_was_killed_and_started_again(browser: Browser, tmp_path: Path) -> None:
    built()
    ports = own_ports()
    visits = visiting(browser, f"http://127.0.0.1:{ports[1]}")
    visit = next(visits)
    with serving(tmp_path, *ports) as broker:
        broker.update("INSERT DATA { <urn:a> <urn:power> 1 }")
        page = visit.open(ALL)
        expect(page.get_by_role("cell", name="1", exact=True).nth(1)).to_be_visible()
        broker.stop(signal.SIGKILL)
    expect(page.get_by_text("connection lost, trying again")).to_be_visible()
    with serving(tmp_path, *ports) as broker:
        expect(page.get_by_role("banner").get_by_text("connected")).to_be_visible()
        broker.update("INSERT DATA { <urn:b> <urn:power> 22 }")
        expect(page.get_by_role("cell", name="22")).to_be_visible()
        page.get_by_role("tab", name="Notifications").click()
        expect(page.get_by_text("what was missed")).to_be_visible()
        expect(page.locator("[data-rows='2']")).to_be_visible()
        assert [each for each in visit.complaints if "net::ERR_" not in each and "WebSocket" not in each] == []
        visit.complaints.clear()
        assert next(visits, None) is None  # before the broker, whom it would miss


def test_the_page_asks_nobody_else_whatever_runs_in_it(visit: Visit, broker: Broker) -> None:
    page = visit.open()
    expect(page.get_by_role("link", name="Tidings")).to_be_visible()
    other = f"http://127.0.0.1:{broker.ws_port}/"
    assert page.evaluate(f"() => fetch('{other}').then(() => 'asked', () => 'blocked')") == "blocked"
    with pytest.raises(Error, match="TrustedScriptURL"):
        page.evaluate("() => { document.createElement('script').src = 'data:text/javascript,1' }")
    with pytest.raises(Error, match="TrustedHTML"):
        page.evaluate("() => { document.body.innerHTML = '<b>bold</b>' }")
    policies = ("Content Security Policy", "requires 'Trusted")
    assert [each for each in visit.complaints if not any(policy in each for policy in policies)] == []
    visit.complaints.clear()


def test_what_the_data_says_is_shown_and_never_run(visit: Visit, broker: Broker) -> None:
    broker.update(
        """INSERT DATA { <urn:x> <urn:power> "<img src=x onerror='window.ran=1'><script>window.ran=1</script>" }"""
    )
    page = visit.open(ALL)
    expect(page.get_by_role("cell", name="<script>")).to_be_visible()
    assert page.evaluate("() => window.ran ?? null") is None
