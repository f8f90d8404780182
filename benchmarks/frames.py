"""The time of a frame of the dashboard's city while thousands of lamps change every second.

Prints one JSON line with `changes_per_s`, the changed rows of the page's answers; `frames_per_s`; and `frame_ms`, the
processor time of the page's main thread for each frame at 60 frames a second, which should be below 16.7 ms; with
`idle_frames_per_s` and `idle_frame_ms` without updates. The browser draws without a graphics card, in other threads.
"""

import subprocess
import time
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import CDPSession, Page, sync_playwright

from measure import check, report, rounded, say
from sockets import tidings

_SECONDS = 10.0
_PAUSE = 0.1  # between two updates, which change every lamp
_RATE = 60  # frames that are to be shown a second
_TOOL = Path(__file__).parents[1] / "scripts" / "tool"
_LAMPS = "SELECT (COUNT(*) AS ?n) WHERE { GRAPH <urn:tidings:demo> { ?lamp light:hasDimmingValue ?value } }"
_PREFIX = "PREFIX light: <http://tidings.example/lighting#> "
_ALL = """WITH <urn:tidings:demo>
DELETE {{ ?lamp light:hasDimmingValue ?old }} INSERT {{ ?lamp light:hasDimmingValue "{}" }}
WHERE {{ ?lamp light:hasDimmingValue ?old }}"""
_COUNT = """() => {
  window.shown = 0;
  const count = () => { window.shown += 1; requestAnimationFrame(count); };
  requestAnimationFrame(count);
}"""


def _busy(session: CDPSession) -> float:
    """The processor time of the main thread, in seconds."""
    metrics: list[dict[str, Any]] = session.send("Performance.getMetrics")["metrics"]
    return next(float(each["value"]) for each in metrics if each["name"] == "TaskDuration")


def _look(page: Page, session: CDPSession, broker: httpx.Client, *, publish: bool) -> tuple[float, float, float]:
    """Updates, frames and processor seconds, each for a second."""
    updates = 0
    busy, shown, start = _busy(session), page.evaluate("() => window.shown"), time.perf_counter()
    while (now := time.perf_counter() - start) < _SECONDS:
        if publish:
            updates += 1
            broker.post("/update", data={"update": _PREFIX + _ALL.format(updates % 100)}).raise_for_status()
        page.wait_for_timeout(1000 * max(0.0, updates * _PAUSE - now if publish else _PAUSE))
    seconds = time.perf_counter() - start
    frames = page.evaluate("() => window.shown") - shown
    return updates / seconds, frames / seconds, (_busy(session) - busy) / seconds


def main() -> None:
    found = subprocess.run([_TOOL, "chromium"], capture_output=True, text=True, check=False)
    check(found.returncode == 0, f"there is a browser: {found.stderr}")
    with tidings("--memory", "--demo", "on") as server, sync_playwright() as playwright:
        address = f"http://{server.http.host}:{server.http.port}"
        browser = playwright.chromium.launch(executable_path=found.stdout.strip(), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 860})
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable", {"timeDomain": "threadTicks"})
        page.goto(address)
        page.locator("dd[data-lamps]:not([data-lamps='0'])").wait_for(timeout=120_000)
        page.evaluate(_COUNT)
        with httpx.Client(base_url=address, timeout=60.0) as broker:
            answer = broker.get("/query", params={"query": _PREFIX + _LAMPS}).raise_for_status().json()
            lamps = int(answer["results"]["bindings"][0]["n"]["value"])
            say(f"{lamps} lamps ...")
            _, idle_frames, idle = _look(page, session, broker, publish=False)
            updates, frames, busy = _look(page, session, broker, publish=True)
        browser.close()
    report(
        changes_per_s=rounded(2 * lamps * updates, 0),
        frames_per_s=rounded(frames, 1),
        frame_ms=rounded(1000 * busy / _RATE, 2),
        idle_frames_per_s=rounded(idle_frames, 1),
        idle_frame_ms=rounded(1000 * idle / _RATE, 2),
    )


if __name__ == "__main__":
    main()
