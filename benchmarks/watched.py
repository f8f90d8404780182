"""Compares a broker while a page of its dashboard is open with the same broker without: `endtoend.py --watched`.

The page is open in a real browser, on the core of the client, with the lowest priority. `operations` requests all
figures every two seconds. `query` is subscribed to the lamps of a road, as other subscribers are. `everything` is
subscribed to all lamps, and gets a notification of every update, while only one in ten updates notifies another
subscriber. So it shows the cost of any one subscriber more.
"""

import gc
import statistics
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psutil
from playwright.sync_api import Page, sync_playwright

from endtoend import PUBLISHERS, UPDATES, Audience, Course, compared, log_options
from measure import check, city_document, rounded, say
from sockets import Broker, Lines, busy_seconds, tidings
from tidings.bench.workloads.city import COARSE_ROADS, PAPER_ROADS, PREFIX, subscribe_road

_LAMPS = f"{PREFIX}SELECT ?lamp ?dimming WHERE {{ ?lamp ns:hasDimmingValue ?dimming }}"
_PAGES = {
    "operations": "#/operations",
    "query": f"#/query?query={quote(subscribe_road(COARSE_ROADS[0]))}&live=1",
    "everything": f"#/query?query={quote(_LAMPS)}&live=1",
}
_READY = "figure canvas, [data-state=live]"
_PATIENCE = 120_000  # milliseconds
_TOOL = Path(__file__).parents[1] / "scripts" / "tool"


class Watching:
    """Runs rounds at full load, with or without an open page, and collects the rates."""

    def __init__(self, broker: Broker, page: Page) -> None:
        self._broker = broker
        self._page = page
        self.lines = Lines()
        self.audience = Audience(broker.websocket, self.lines)
        self.rates: dict[tuple[str, str], list[float]] = {}
        self.per_busy_second: dict[tuple[str, str], list[float]] = {}
        self._first = PAPER_ROADS * 1000
        broker.await_rest()

    def run(self, seen: str, name: str) -> None:
        """Run a round with one kind of publisher, while the page `seen` is open; empty for no page."""
        self._look_at(seen)
        publisher = PUBLISHERS[name](self._broker, self.lines, "")
        course = Course(f"{seen or 'nobody looks'}, {name}", self.audience, self.lines)
        before = busy_seconds(self._broker.process)
        course.run_full_load(publisher, self._first)
        spent = busy_seconds(self._broker.process) - before
        self._first += UPDATES
        publisher.close()
        self.rates.setdefault((seen, name), []).extend(course.rates)
        self.per_busy_second.setdefault((seen, name), []).append(UPDATES / spent)

    def _look_at(self, seen: str) -> None:
        self._page.goto("about:blank")
        if seen:
            self._page.goto(f"http://{self._broker.http.host}:{self._broker.http.port}/{_PAGES[seen]}")
            self._page.locator(_READY).first.wait_for(timeout=_PATIENCE)
        self._broker.await_rest()

    def ratios(self, measured: dict[tuple[str, str], list[float]]) -> dict[str, dict[str, float]]:
        return {
            seen: {name: rounded(compared(measured[seen, name], measured["", name]), 3) for name in PUBLISHERS}
            for seen in _PAGES
        }


def watched(durability: str, turns: int) -> dict[str, Any]:
    gc.disable()
    with tempfile.TemporaryDirectory() as folder, _browser() as page:
        document = Path(folder) / "city.nt"
        document.write_bytes(city_document())
        with tidings(*log_options(folder, "data", durability), "--load", str(document), "--ping", "600") as broker:
            say("everybody subscribes ...")
            watching = Watching(broker, page)
            everyone = ("", *_PAGES)
            for turn in range(turns):
                for name in PUBLISHERS:
                    for seen in everyone if turn % 2 == 0 else reversed(everyone):
                        watching.run(seen, name)
            watching.audience.check(broker.http, watching.lines)
            watching.lines.close()
    plain = {name: rounded(statistics.median(watching.rates["", name]), 0) for name in PUBLISHERS}
    return {
        "unwatched": plain,
        "watched_to_unwatched": watching.ratios(watching.rates),
        "watched_to_unwatched_busy": watching.ratios(watching.per_busy_second),
    }


@contextmanager
def _browser() -> Iterator[Page]:
    """A page of a browser whose processes have the lowest priority."""
    found = subprocess.run([_TOOL, "chromium"], capture_output=True, text=True, check=False)
    check(found.returncode == 0, f"there is a browser: {found.stderr}")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found.stdout.strip(), args=["--no-sandbox"])
        page = browser.new_page()
        for process in psutil.Process().children(recursive=True):
            process.nice(19)
        yield page
        browser.close()
