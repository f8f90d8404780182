"""What is built: small enough for a slow line, and nothing of it from anywhere else."""

import json
import re

from dashboard.tools import ROOT, built

MOST = 300_000
"""Bytes that a first visit takes, compressed."""


def test_all_of_the_page_together_is_small() -> None:
    packed = sum(file.stat().st_size for file in built().rglob("*.gz"))
    assert 20_000 < packed < MOST


def test_the_page_names_its_own_parts_only() -> None:
    html = (built() / "index.html").read_text()
    assert set(re.findall(r'(?:src|href)="([^"]*)"', html)) <= {
        f"./assets/{file.name}" for file in (built() / "assets").iterdir()
    }


def test_the_lock_names_no_place_to_get_packages_from() -> None:
    packages = json.loads((ROOT / "package-lock.json").read_text())["packages"]
    assert {package.get("resolved") for package in packages.values()} == {None, "clients/js", "dashboard"}


def test_every_version_is_exact() -> None:
    for folder in ("clients/js", "dashboard"):
        text = (ROOT / folder / "package.json").read_text()
        asked = text.partition('"devDependencies"')[2]
        versions = re.findall(r'": "([^"]*)"', asked)
        assert versions
        assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in versions)
