"""Serves the dashboard, the page for people, which is built from the folder `dashboard` of the sources.

The page loads nothing from other hosts, and its Content-Security-Policy allows only its own scripts, whatever the data
are. In a clone, the first start builds the page while the broker runs already; until then, a short page says so.
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
    """The Content-Security-Policy. The nonce is for the styles that the editor makes at run time."""
    return (
        f"default-src 'none'; script-src 'self' 'nonce-{nonce}'; style-src 'self' 'nonce-{nonce}'; connect-src 'self'; "
        "img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'; "
        "require-trusted-types-for 'script'; trusted-types svelte-trusted-html"
    )


@dataclass(frozen=True, slots=True)
class Asset:
    """A file of the page, also compressed for clients that accept gzip."""

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
    """The page and its files. A page that is built while the broker runs is served from the next request on."""

    def __init__(self, folder: Path = BUILT) -> None:
        self._folder = folder
        self._page: Page | None = None
        self._of: int | None = None

    def routes(self) -> list[Route]:
        return [route("/assets/{name}", self._asset, "GET", "HEAD", public=True)]

    def answer(self) -> Response:
        """The page, or a short one that says that it is not built yet."""
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
        """The page from the folder, read once after each build."""
        try:
            built = (self._folder / "index.html").stat().st_mtime_ns
        except OSError:
            return self._page  # not built yet, or just being replaced
        if built != self._of:
            self._page, self._of = Page.read(self._folder), built
        return self._page
