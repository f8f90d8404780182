"""A slider over commits: an answer as it was, what changed between two of them, and by whom."""

import json
import re
from pathlib import Path
from urllib.parse import parse_qs, quote

import pytest
from playwright.sync_api import Browser, Route, expect

from dashboard.conftest import Visit, serious_findings, visiting
from gates.wire import Broker
from tidings.log.layout import segment_path
from waiting import PATIENCE

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]
expect.set_options(timeout=1000 * PATIENCE)

NUMBERS = quote("SELECT ?s ?n WHERE { ?s <urn:number> ?n } ORDER BY ?n")


def test_an_answer_is_as_it_was_and_the_slider_shows_what_came_and_went(browser: Browser, quiet: Broker) -> None:
    first = quiet.update("INSERT DATA { <urn:a> <urn:number> 10 }")["sequence"]
    quiet.update("INSERT DATA { <urn:b> <urn:number> 20 }")
    quiet.update("DELETE DATA { <urn:a> <urn:number> 10 }")
    for visit in visiting(browser, quiet.http):
        page = visit.open(f"#/history?query={NUMBERS}&from={first}&to={first + 1}")
        answer = page.get_by_role("region", name="Answer")
        expect(answer.get_by_role("row")).to_have_text(["# sn", "1 <urn:a>10", "2 <urn:b>20"])
        expect(page.get_by_text(f"since commit {first}, 1 row came and 0 left")).to_be_visible()
        page.get_by_role("button", name="One commit on").click()
        expect(page.locator("[data-rows='1']")).to_be_visible()
        expect(answer.get_by_role("cell", name="10", exact=True)).to_have_count(0)
        page.get_by_label("only what differs").check()
        expect(answer.get_by_role("cell", name="−", exact=True)).to_be_visible()
        expect(answer.get_by_role("cell", name="+", exact=True)).to_be_visible()
        page.get_by_label("only what differs").uncheck()
        page.get_by_label("up to commit").fill(str(first - 1))
        expect(page.get_by_text("The answer was empty.")).to_be_visible()
        assert serious_findings(page) == []


def test_what_changed_between_two_commits_and_by_whom(browser: Browser, quiet: Broker) -> None:
    quiet.update("CLEAR ALL ; INSERT DATA { <urn:before> <urn:b> 0 }")
    quiet.update("INSERT DATA { <urn:a> <urn:b> 1 }")
    second = quiet.update("DELETE DATA { <urn:a> <urn:b> 1 }")["sequence"]
    for visit in visiting(browser, quiet.http):
        page = visit.open("#/update")
        page.get_by_role("button", name="Publish").click()
        expect(page.get_by_text(f"Commit {second + 1}")).to_be_visible()
        page.get_by_role("link", name="History").click()
        expect(page.get_by_role("row").filter(has_text="dashboard")).to_be_visible()
        page.get_by_label("after commit").fill(str(second - 2))
        expect(page.get_by_text("3 commits together added 1 quad and removed 0.")).to_be_visible()
        page.get_by_role("button", name=str(second), exact=True).click()
        expect(page.get_by_text("1 commit added 0 quads and removed 1.")).to_be_visible()
        page.get_by_label("up to commit").fill(str(second - 2))
        expect(page.get_by_text(f"Commit {second - 2}: ")).to_be_visible()  # and the other slider makes way
        assert serious_findings(page) == []


def test_where_the_log_begins_later_the_page_says_who_knows_more(browser: Browser, quiet: Broker, logged: Path) -> None:
    quiet.update("INSERT DATA { <urn:a> <urn:b> 2 }")
    segment_path(logged, 1).unlink()
    for visit in visiting(browser, quiet.http):
        page = visit.open("#/history")
        expect(page.get_by_text("The log of this broker begins with commit 2.")).to_be_visible()
        expect(page.get_by_text("tidings history query --lake")).to_be_visible()
        assert page.get_by_label("up to commit").get_attribute("min") == "1"


def with_a_lake(route: Route) -> None:
    """What the broker says of itself, and that a lake has its first commit."""
    answer = route.fetch()
    lake = {"folder": "/lake", "first": 1, "last": 1, "graphs": ["*"]}
    route.fulfill(response=answer, json=answer.json() | {"lake": lake})


def first_commit(route: Route) -> None:
    line = {"seq": 1, "time": 1, "op": "add", "s": "<urn:a>", "p": "<urn:b>", "o": '"1"', "g": "", "left": 0}
    route.fulfill(body=json.dumps(line | {"by": "a keeper of lakes"}) + "\n", content_type="application/x-ndjson")


def nothing_yet(route: Route) -> None:
    """The answer before the first commit, which the log cannot lead back to; others are the broker's."""
    if parse_qs(route.request.post_data or "").get("at") != ["0"]:
        return route.fallback()
    empty = {"head": {"vars": ["s", "n"]}, "results": {"bindings": []}}
    return route.fulfill(body=json.dumps(empty), content_type="application/sparql-results+json")


def test_what_the_log_no_longer_has_comes_from_the_lake(browser: Browser, quiet: Broker, logged: Path) -> None:
    quiet.update("INSERT DATA { <urn:a> <urn:b> 3 }")
    segment_path(logged, 1).unlink(missing_ok=True)
    for visit in visiting(browser, quiet.http):
        visit.page.route("**/status", with_a_lake)
        visit.page.route(re.compile(r"/log\?from=1&"), first_commit)
        visit.page.route("**/query", nothing_yet)
        page = visit.open("#/history")
        expect(page.get_by_text("comes from the history lake, which has the commits 1 to 1.")).to_be_visible()
        expect(page.get_by_text("From the lake.")).to_have_count(0)
        assert page.get_by_label("after commit").get_attribute("min") == "0"
        page.get_by_label("after commit").fill("0")
        page.get_by_label("up to commit").fill("1")
        expect(page.get_by_text("From the lake.")).to_be_visible()
        expect(page.get_by_text("1 commit added 1 quad and removed 0.")).to_be_visible()
        expect(page.get_by_role("row").filter(has_text="a keeper of lakes")).to_be_visible()
        page.get_by_role("tab", name="An answer, as it was").click()
        expect(page.get_by_text("As of commit 1; since commit 0, ")).to_be_visible()
        assert serious_findings(page) == []


def test_a_broker_without_a_log_says_so(visit: Visit) -> None:
    page = visit.open("#/history")
    expect(page.get_by_role("alert")).to_contain_text("This broker keeps everything in memory")
