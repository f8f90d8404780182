"""The dashboard: the page for people, as it was built from the folder `dashboard` of the sources.

Nothing of it comes from anywhere else, and its policy lets nothing in: whatever the data says, only the page's own
scripts run. In a clone the page is built on the first start, beside the broker; until then a short page says so.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from secrets import token_urlsafe

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from tidings.gates.http.routing import route
from tidings.model.errors import NotFound

BUILT = Path(__file__).with_name("built")
MEANWHILE = files(__package__).joinpath("meanwhile.html").read_text("utf-8")
_NONCE = "{nonce}"
MEDIA = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}


def policy(nonce: str) -> str:
    """Content-Security-Policy. The editor makes its styles as it runs, and shows the nonce for them."""
    return (
        f"default-src 'none'; script-src 'self' 'nonce-{nonce}'; style-src 'self' 'nonce-{nonce}'; connect-src 'self'; "
        "img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'; "
        "require-trusted-types-for 'script'; trusted-types svelte-trusted-html"
    )


@dataclass(frozen=True, slots=True)
class Asset:
    """A file of the page, and what is sent of it to those who take gzip."""

    content: bytes
    packed: bytes
    media: str


@dataclass(frozen=True, slots=True)
class Page:
    html: str
    assets: Mapping[str, Asset]

    @classmethod
    def read(cls, folder: Path) -> "Page":
        """As it was built."""
        assets = {
            file.name: Asset(file.read_bytes(), file.with_name(f"{file.name}.gz").read_bytes(), MEDIA[file.suffix])
            for file in (folder / "assets").iterdir()
            if file.suffix in MEDIA
        }
        return cls((folder / "index.html").read_text("utf-8"), assets)


class Dashboard:
    """The page and its parts; what was built while the broker runs is taken up with the next request."""

    def __init__(self, folder: Path = BUILT) -> None:
        self._folder = folder
        self._page: Page | None = None
        self._of: int | None = None

    def routes(self) -> list[Route]:
        return [route("/assets/{name}", self._asset, "GET", "HEAD", public=True)]

    def answer(self) -> Response:
        """The page, or what to say as long as there is none."""
        nonce, page = token_urlsafe(16), self._built()
        html = MEANWHILE if page is None else page.html
        headers = {"content-security-policy": policy(nonce), "vary": "accept", "cache-control": "no-store"}
        return HTMLResponse(html.replace(_NONCE, nonce), headers=headers)

    async def _asset(self, request: Request) -> Response:
        name, page = request.path_params["name"], self._built()
        asset = None if page is None else page.assets.get(name)
        if asset is None:
            raise NotFound(f"the page has no part {name}")
        headers = {"cache-control": "public, max-age=31536000, immutable", "vary": "accept-encoding"}
        if "gzip" in request.headers.get("accept-encoding", ""):
            return Response(asset.packed, media_type=asset.media, headers=headers | {"content-encoding": "gzip"})
        return Response(asset.content, media_type=asset.media, headers=headers)

    def _built(self) -> Page | None:
        """What is in the folder, read once for each time that it is built."""
        try:
            built = (self._folder / "index.html").stat().st_mtime_ns
        except OSError:
            return self._page  # not there yet, or just being replaced
        if built != self._of:
            self._page, self._of = Page.read(self._folder), built
        return self._page
