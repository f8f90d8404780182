"""A real browser, without a window, that opens the page of a real broker. Whatever it complains of fails the test."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Error, Page, Route, sync_playwright

from dashboard.tools import built, tool
from gates.wire import Broker, serving
from waiting import PATIENCE


@dataclass
class Visit:
    """A page on a broker; what went wrong in it, and whom it has asked."""

    page: Page
    address: str
    complaints: list[str] = field(default_factory=list)
    asked: set[str] = field(default_factory=set)

    def open(self, fragment: str = "") -> Page:
        self.page.goto(f"{self.address}/{fragment}")
        return self.page


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """For these tests, and no longer: as long as there is one, its loop runs in this thread, and no other can."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=tool("chromium"), args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    built()
    with serving(tmp_path_factory.mktemp("broker"), "--memory", "--demo", "on") as broker:
        yield broker


@pytest.fixture
def broker(running: Broker) -> Broker:
    running.update("CLEAR DEFAULT")
    return running


@pytest.fixture(scope="module")
def logged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data of the broker that is quiet."""
    return tmp_path_factory.mktemp("quiet") / "data"


@pytest.fixture(scope="module")
def quiet(logged: Path) -> Iterator[Broker]:
    """A broker without the city, whose log has a segment a commit."""
    built()
    with serving(logged.parent, "--data", str(logged), "--demo", "off", "--segment-size", "1") as broker:
        yield broker


@pytest.fixture
def visit(browser: Browser, broker: Broker) -> Iterator[Visit]:
    yield from visiting(browser, broker.http)


def visiting(browser: Browser, address: str, **options: int | str) -> Iterator[Visit]:
    """A fresh profile on a page. The test that has it may expect complaints, and remove them from the list."""
    viewport = {"width": int(options.get("width", 1280)), "height": 860}
    context = browser.new_context(viewport=viewport, color_scheme=options.get("scheme", "light"))  # type: ignore[arg-type]
    context.set_default_timeout(1000 * PATIENCE)
    page = context.new_page()
    visit = Visit(page, address)

    def heard(message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            visit.complaints.append(message.text)

    def failed(error: Error) -> None:
        visit.complaints.append(str(error))

    page.on("console", heard)
    page.on("pageerror", failed)
    page.on(
        "request", lambda request: visit.asked.add(request.url.partition("/")[2].partition("/")[2].partition("/")[0])
    )
    yield visit
    page.unroute_all(behavior="wait")  # a page that asks now and then may be asking
    context.close()
    assert visit.complaints == []
    assert visit.asked <= {address.removeprefix("http://")}


AXE = Path(__file__).parents[2] / "node_modules" / "axe-core" / "axe.min.js"


def serious_findings(page: Page) -> list[str]:
    """What axe finds that keeps somebody out, with where it is."""
    page.evaluate(AXE.read_text())
    found = page.evaluate("() => axe.run(document, { resultTypes: ['violations'] })")
    return [
        f"{each['id']}: {each['help']} at {node['target']}"
        for each in found["violations"]
        if each["impact"] in {"serious", "critical"}
        for node in each["nodes"]
    ]


def with_an_mqtt_gate(route: Route) -> None:
    """What the broker says of itself, and that it has a gate more."""
    answer = route.fetch()
    gate = {"address": "mqtt://site:1883/tidings", "clients": 3, "requests": 5, "errors": 1, "notifications": 7}
    route.fulfill(response=answer, json=answer.json() | {"gates": {"mqtt": gate}})


def write(page: Page, text: str) -> None:
    """As somebody who pastes it in the place of what was there."""
    page.get_by_role("textbox", name="SPARQL").focus()
    page.keyboard.press("Control+a")
    paste = """text => {
      const data = new DataTransfer();
      data.setData("text/plain", text);
      const event = new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true });
      document.activeElement.dispatchEvent(event);
    }"""
    page.evaluate(paste, text)
