"""Takes the pictures of the page that the README shows: the living city, and an answer that changes.

    scripts/page && .venv/bin/python docs/pictures/draw.py

It starts a broker with the demo, looks at its page in a real browser, and writes what it sees beside this file.
"""

import base64
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import Page, sync_playwright

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SERVE = (sys.executable, "-m", "tidings", "serve", "--memory", "--demo", "on", "--http-port", "0", "--ws-port", "0")
SIZE = {"width": 1180, "height": 760}
TEMPO = """PREFIX light: <http://tidings.example/lighting#> WITH <urn:tidings:demo>
DELETE { light:CITY light:hasTempo ?before } INSERT { light:CITY light:hasTempo 12.0 }
WHERE { OPTIONAL { light:CITY light:hasTempo ?before } }"""
WALKING = """PREFIX light: <http://tidings.example/lighting#>
SELECT ?lamp ?status ?dimming WHERE {
  ?sensor a light:PresenceSensor ; light:hasValue "True" ; light:isSensorOf ?post .
  ?post light:hasLamp ?lamp .
  ?lamp light:hasStatus ?status ; light:hasDimmingValue ?dimming
}"""
TO_WEBP = """async png => {
  const image = new Image();
  image.src = `data:image/png;base64,${png}`;
  await image.decode();
  const canvas = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height });
  canvas.getContext("2d").drawImage(image, 0, 0);
  return canvas.toDataURL("image/webp", 0.86).split(",")[1];
}"""


@contextmanager
def serving() -> Iterator[str]:
    """The address of a broker with the city."""
    with subprocess.Popen(SERVE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield next(found[0] for line in process.stdout if (found := re.search(r"http://127\.0\.0\.1:\d+", line)))
        finally:
            process.terminate()


def show_city(page: Page, address: str) -> None:
    page.goto(address)
    page.locator("dd[data-lamps]:not([data-lamps='0'])").wait_for()
    page.get_by_label("Follow a road").select_option(index=3)
    page.get_by_role("complementary").get_by_role("row").nth(3).wait_for()
    page.wait_for_timeout(6_000)  # people walk, and lamps follow


def show_table(page: Page, address: str) -> None:
    page.goto(f"{address}/#/query?{urlencode({'query': WALKING, 'graph': 'urn:tidings:demo', 'live': '1'})}")
    page.locator("[data-state=live]").wait_for()
    page.wait_for_timeout(4_000)
    page.locator(".arriving, .changed").first.wait_for()


PICTURES = {"city": show_city, "live-table": show_table}


def main() -> None:
    chromium = subprocess.run([ROOT / "scripts" / "tool", "chromium"], capture_output=True, text=True, check=True)
    with serving() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium.stdout.strip(), args=["--no-sandbox"])
        page, blank = browser.new_page(viewport=SIZE), browser.new_page()  # type: ignore[arg-type]
        page.request.post(f"{address}/update", form={"update": TEMPO})
        for name, show in PICTURES.items():
            show(page, address)
            picture = blank.evaluate(TO_WEBP, base64.b64encode(page.screenshot()).decode())
            (HERE / f"{name}.webp").write_bytes(base64.b64decode(picture))
        browser.close()


if __name__ == "__main__":
    main()
