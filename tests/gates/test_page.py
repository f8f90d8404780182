"""The page for people: as it was built, or what to say until it is."""

import asyncio
import gzip
import re
from pathlib import Path

import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gates.requests import Gate, ask
from tidings.gates.http.page import Dashboard

BROWSER = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


def built(folder: Path, script: bytes = b"let x = 1;") -> Path:
    (folder / "assets").mkdir(parents=True, exist_ok=True)
    (folder / "assets" / "index-1.js").write_bytes(script)
    (folder / "assets" / "index-1.js.gz").write_bytes(gzip.compress(script))
    (folder / "index.html").write_text(
        '<meta name="nonce" content="{nonce}"><script src="./assets/index-1.js"></script>'
    )
    return folder


def visit(dashboard: Dashboard, path: str, **headers: str) -> httpx.Response:
    async def root(_: Request) -> Response:
        return dashboard.answer()

    async def once() -> httpx.Response:
        transport = httpx.ASGITransport(Starlette(routes=[Route("/", root), *dashboard.routes()]))
        async with httpx.AsyncClient(transport=transport, base_url="http://tidings.test") as client:
            return await client.get(path, headers=headers)

    return asyncio.run(once())


def test_the_policy_lets_in_nothing_but_the_page_itself(app: Gate) -> None:
    policy = ask(app, "GET", "/", headers=BROWSER).headers["content-security-policy"]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["connect-src"] == rules["img-src"] == "'self'"
    assert re.fullmatch(r"'self' 'nonce-[\w-]{22}'", rules["script-src"])
    assert "unsafe" not in policy


def test_each_visit_has_a_nonce_of_its_own(tmp_path: Path) -> None:
    dashboard = Dashboard(built(tmp_path))
    answers = [visit(dashboard, "/") for _ in range(3)]
    nonces = [re.findall(r'content="([^"]*)"', answer.text)[0] for answer in answers]
    assert len(set(nonces)) == 3
    for nonce, answer in zip(nonces, answers, strict=True):
        assert f"'nonce-{nonce}'" in answer.headers["content-security-policy"]


def test_parts_come_compressed_to_those_who_take_it_and_may_be_kept(tmp_path: Path) -> None:
    dashboard = Dashboard(built(tmp_path))
    packed = visit(dashboard, "/assets/index-1.js", **{"accept-encoding": "gzip"})
    assert (packed.headers["content-encoding"], packed.content) == ("gzip", b"let x = 1;")
    assert "immutable" in packed.headers["cache-control"]
    plain = visit(dashboard, "/assets/index-1.js", **{"accept-encoding": "identity"})
    assert (plain.headers.get("content-encoding"), plain.headers["content-type"]) == (
        None,
        "text/javascript; charset=utf-8",
    )


def test_what_the_page_does_not_have_is_not_found(app: Gate) -> None:
    for name in ("none.js", "..%2Findex.html", "index.html", "%2Fetc%2Fpasswd"):
        answer = ask(app, "GET", f"/assets/{name}")
        assert (answer.status_code, answer.json()["error"]) == (404, "not_found")


def test_a_page_that_is_built_while_the_broker_runs_is_taken_up(tmp_path: Path) -> None:
    dashboard = Dashboard(tmp_path / "built")
    meanwhile = visit(dashboard, "/")
    assert "is being built" in meanwhile.text
    assert "<textarea" in meanwhile.text
    assert "assets/index" not in meanwhile.text
    built(tmp_path / "built")
    assert "assets/index-1.js" in visit(dashboard, "/").text
