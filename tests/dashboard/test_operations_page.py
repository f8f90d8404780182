"""For those who run a broker: how it is, who has subscribed, and what was committed by whom."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, expect

from dashboard.conftest import Visit, serious_findings, visiting
from dashboard.tools import built
from gates.wire import Broker, serving
from waiting import PATIENCE

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]
expect.set_options(timeout=1000 * PATIENCE)


@pytest.fixture
def kept(browser: Browser, tmp_path: Path) -> Iterator[tuple[Visit, Broker]]:
    """A broker with a commit log."""
    built()
    with serving(tmp_path) as broker:
        for visit in visiting(browser, broker.http):
            yield visit, broker


def test_figures_move_and_plans_of_subscriptions_are_explained(visit: Visit, broker: Broker) -> None:
    quads = httpx.get(f"{broker.http}/status", timeout=PATIENCE).json()["quads"]
    page = visit.open("#/operations")
    expect(page.get_by_text(f"{quads:,}, 1 named graph")).to_be_visible()
    broker.update("INSERT DATA { <urn:a> <urn:b> 1 }")
    expect(page.get_by_text(f"{quads + 1:,}, 1 named graph")).to_be_visible()
    expect(page.locator("figure canvas")).to_have_count(4)
    expect(page.get_by_text("LUTT hit rate, in per cent")).to_be_visible()
    page.get_by_role("button", name="incremental").first.click()
    expect(page.locator(".tree")).to_be_visible()
    assert serious_findings(page) == []


def test_what_changed_between_two_commits_and_by_whom(kept: tuple[Visit, Broker]) -> None:
    visit, broker = kept
    broker.update("INSERT DATA { <urn:a> <urn:b> 1 }")
    broker.update("DELETE DATA { <urn:a> <urn:b> 1 }")
    page = visit.open("#/update")
    page.get_by_role("button", name="Publish").click()
    expect(page.get_by_text("Commit 3")).to_be_visible()
    page.get_by_role("link", name="History").click()
    expect(page.get_by_text("3 commits together added 1 quad and removed 0.")).to_be_visible()
    expect(page.get_by_role("row").filter(has_text="dashboard")).to_be_visible()
    page.get_by_role("button", name="2", exact=True).click()
    expect(page.get_by_text("1 commit together added 0 quads and removed 1.")).to_be_visible()
    assert serious_findings(page) == []


def test_a_broker_without_a_log_says_so(visit: Visit) -> None:
    page = visit.open("#/history")
    expect(page.get_by_role("alert")).to_be_visible()
    assert visit.complaints.pop().startswith("Failed to load resource")
