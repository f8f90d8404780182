"""A broker that asks everybody who they are: one logs in, and the page keeps nothing of it."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from dashboard.conftest import serious_findings, visiting
from dashboard.tools import built
from gates.wire import serving
from waiting import PATIENCE

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]
expect.set_options(timeout=1000 * PATIENCE)


def test_where_everybody_is_asked_one_logs_in_and_a_reload_forgets(browser: Browser, tmp_path: Path) -> None:
    built()
    with serving(tmp_path, "--secure") as broker:
        secret = (tmp_path / "tidings-data" / "admin.secret").read_text().strip()
        for visit in visiting(browser, broker.http):
            page = visit.open()
            expect(page.get_by_text("This broker asks everybody who they are.")).to_be_visible()
            page.get_by_role("button", name="Log in").click()
            page.get_by_label("Client").fill("admin")
            page.get_by_label("Secret").fill("wrong")
            page.get_by_role("dialog").get_by_role("button", name="Log in").click()
            expect(page.get_by_role("alert")).to_be_visible()
            page.get_by_label("Secret").fill(secret)
            assert serious_findings(page) == []
            page.get_by_role("dialog").get_by_role("button", name="Log in").click()
            expect(page.get_by_role("button", name="Log out admin")).to_be_visible()
            page.get_by_role("navigation").get_by_role("link", name="Update").click()
            page.get_by_role("button", name="Publish").click()
            expect(page.get_by_text("+1 −0")).to_be_visible()
            page.goto(f"{broker.http}/#/query?query=SELECT+*+WHERE+%7B+%3Fs+%3Fp+%3Fo+%7D&live=1")
            expect(page.get_by_role("cell", name="40")).to_be_visible()
            page.get_by_role("link", name="Operations").click()
            expect(page.get_by_text("graphs that you may read")).to_be_visible()
            page.get_by_role("button", name="Log out admin").click()
            expect(page.get_by_role("alert")).to_have_text("This broker asks everybody who they are. Log in first.")
            expect(page.get_by_text("graphs that you may read")).to_have_count(0)
            page.get_by_role("link", name="Query").click()
            expect(page.get_by_role("textbox", name="SPARQL query")).to_contain_text("SELECT *")
            expect(page.get_by_role("cell", name="40")).to_have_count(0)
            kept = page.evaluate("() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])")
            assert secret not in kept
            assert "eyJ" not in kept
            page.reload()
            expect(page.get_by_role("button", name="Log in")).to_be_visible()
            assert all("401" in each or "400" in each for each in visit.complaints)
            visit.complaints.clear()
