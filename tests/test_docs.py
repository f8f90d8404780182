"""What can be set, called or go wrong is documented; the documentation says what is so."""

import argparse
import importlib
import os
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import Field
from pathlib import Path
from typing import Any

import pytest

import tidings
from cli.administered import administered
from cli.shell import ADMINISTERING, AT_SECURED, EXAMPLES, WITH_ENDPOINT, command_of, furnish, shell
from gates.wire import Broker, serving
from plain import calls
from tidings import __version__, cli
from tidings.extras import EXTRAS
from tidings.gates.http.monitoring.openapi import openapi
from tidings.model.errors import TidingsError
from tidings.server.config import ENVIRONMENT, SETTINGS
from waiting import PATIENCE

ROOT = Path(__file__).parents[1]
CLI = (ROOT / "docs/cli.md").read_text()
HTTP = (ROOT / "docs/http.md").read_text()
ERRORS = (ROOT / "docs/errors.md").read_text()
README = (ROOT / "README.md").read_text()
INSTALL = (ROOT / "docs/install.md").read_text()
CHANGELOG = (ROOT / "CHANGELOG.md").read_text()


def every_error(root: type[TidingsError] = TidingsError) -> Iterator[type[TidingsError]]:
    yield root
    for child in root.__subclasses__():
        yield from every_error(child)


def import_everything() -> None:
    for module in pkgutil.walk_packages(tidings.__path__, "tidings."):
        if module.name != "tidings.__main__":
            importlib.import_module(module.name)


def test_every_error_code_is_documented_with_its_status() -> None:
    import_everything()
    table = dict(re.findall(r"^\| `(\w+)` \| (\d{3}) \|", ERRORS, re.MULTILINE))
    assert {error.code: str(error.status) for error in every_error() if "code" in vars(error)} == table


def test_an_error_without_a_code_of_its_own_has_children_or_another_status_for_the_same_code() -> None:
    import_everything()
    nameless = [error for error in every_error() if "code" not in vars(error)]
    assert [error for error in nameless if not error.__subclasses__() and "status" not in vars(error)] == []


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_every_setting_is_documented(setting: Field[Any]) -> None:
    flag = "--" + setting.name.replace("_", "-")
    row = f"| `{setting.name}` | `{flag}` | `{ENVIRONMENT}{setting.name.upper()}` |"
    assert row in CLI


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_and_every_option_is_documented(name: str) -> None:
    _, _, section = CLI.partition(f"## `tidings {name}`")
    section = section.partition("\n## ")[0]
    assert section
    for action in cli.command(name).parser()._actions:
        for option in action.option_strings:
            assert f"`{option}" in section or option in ("-h", "--help"), option
        if not action.option_strings and not isinstance(action, argparse._HelpAction):
            assert f"`{action.metavar}`" in section, action.metavar


@pytest.mark.parametrize("path", openapi(secured=True)["paths"])  # which has exactly the paths that are served
def test_every_path_is_documented_with_its_methods(path: str) -> None:
    described = openapi(secured=True)["paths"][path]
    methods = [method.upper() for method in ("get", "head", "put", "post", "delete") if method in described]
    assert f"| `{path}` | {', '.join(methods)} |" in HTTP


def test_the_changelog_has_a_section_for_this_version() -> None:
    assert re.search(rf"^## {re.escape(__version__)}\n\n### Added\n\n(\*\*.+\*\*\n\n)?- \w", CHANGELOG, re.MULTILINE)


def test_every_extra_is_documented_with_both_ways_to_get_it() -> None:
    for extra in EXTRAS:
        assert f"| `{extra}` |" in INSTALL
        assert f"`extra {extra}`" in CLI
    assert "pip install 'tidings[spark]'" in INSTALL
    assert "scripts/setup spark" in INSTALL
    assert "scripts/setup spark" in README


@pytest.mark.server
def test_every_field_that_operators_are_told_to_look_at_is_in_the_status(tmp_path: Path) -> None:
    operations = (ROOT / "docs/operations.md").read_text()
    fields = re.findall(r"`(\w+\.\w+)`", operations.partition("in `/status`:")[2])
    assert fields
    with serving(tmp_path) as broker:
        status = calls.get(f"{broker.http}/status", timeout=PATIENCE).json()
    for field in fields:
        room, name = field.split(".")
        assert name in status[room], field


def test_links_lead_somewhere() -> None:
    for document in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)\)", document.read_text()):
            assert (document.parent / target).exists(), f"{document.name}: {target}"


def headings(text: str) -> set[str]:
    """The names by which the headings of a page can be linked to."""
    prose = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ (.*)$", prose, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_links_to_headings_lead_there() -> None:
    for document in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        for target, heading in re.findall(r"\]\(([^)#:]*\.md)?#([^)]+)\)", document.read_text()):
            there = document.parent / target if target else document
            assert heading in headings(there.read_text()), f"{document.name}: {target}#{heading}"


def test_the_first_page_leads_to_all_others() -> None:
    first = (ROOT / "docs/README.md").read_text()
    for page in (ROOT / "docs").glob("*.md"):
        assert page.name == "README.md" or f"]({page.name})" in first, page.name
    assert all(f"**Take {name}**" in first for name in ("Fuseki", "MQTT", "Kafka", "Tidings"))


def blocks(text: str) -> list[tuple[str, str]]:
    return re.findall(r"^```(\w*)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def bash(script: str, folder: Path, broker: Broker | None = None) -> str:
    done = shell(f"set -e\n{script}", folder, broker)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.server
def test_the_first_example_of_the_readme_works(tmp_path: Path) -> None:
    (_, serve), (_, calls), (_, answers), *_ = blocks(README)
    assert serve == "scripts/serve\n"
    with subprocess.Popen(
        [sys.executable, "-m", "tidings", "serve"], cwd=tmp_path,
        env=os.environ | {"TIDINGS_HTTP_PORT": "0", "TIDINGS_WS_PORT": "0"}, stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout
        try:
            port = process.stdout.readline().split("127.0.0.1:")[1].split("/")[0]
            said = bash(calls.replace(":8000", f":{port}"), tmp_path)
        finally:
            process.kill()
    assert re.sub(r'"time":\d+', '"time":0', said).split() == re.sub(r'"time":\d+', '"time":0', answers).split()


def test_the_example_of_the_command_line_in_the_readme_works(tmp_path: Path) -> None:
    _, _, _, (_, calls), *_ = blocks(README)
    assert "tidings query" in calls
    assert "LampPost" in bash(calls, tmp_path)


@pytest.mark.server
def test_the_examples_of_the_command_line_reference_work(tmp_path: Path) -> None:
    (tmp_path / "broker").mkdir()
    furnish(tmp_path)
    scripts = [script for kind, script in blocks(CLI) if kind == "sh" and "tidings serve" not in script]
    with serving(tmp_path / "broker", "--mcp") as broker:
        for script in scripts:
            if command_of(script) in AT_SECURED | WITH_ENDPOINT:
                assert set(script.splitlines()) <= set(EXAMPLES)  # which are run at a broker of their kind
            elif command_of(script) not in ADMINISTERING:
                bash(script, tmp_path, broker)


@pytest.mark.server
def test_so_do_those_for_administrators(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scripts = [script for kind, script in blocks(CLI) if kind == "sh" and command_of(script) in ADMINISTERING]
    assert {command_of(script) for script in scripts} == ADMINISTERING
    with administered(tmp_path) as (broker, token):
        monkeypatch.setenv("TIDINGS_TOKEN", token)
        for script in scripts:
            bash(script, tmp_path, broker)
