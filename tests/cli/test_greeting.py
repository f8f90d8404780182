"""What a broker says when it begins: commands that a shell finds, and that answer something."""

import shlex
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from tidings import extras
from tidings.cli.output.greeting import first_steps, greeting
from tidings.engine.updates.executor import Core
from tidings.model.results import Solutions
from tidings.model.terms import DEFAULT_GRAPH, Quad
from tidings.server.app import Opened
from tidings.server.brokers import build_broker
from tidings.server.config import Settings
from tidings.server.demo.town import town
from tidings.server.listening import Addresses

USUAL = Addresses("http://127.0.0.1:8000", "ws://127.0.0.1:9000/subscribe")
MINE = ("<urn:a>", "<urn:b>", "<urn:c>")


def opened(settings: Settings, quads: Iterable[Quad] = (), at: Addresses = USUAL) -> Opened:
    broker = build_broker(settings)
    for quad in quads:
        broker.store.add(*quad)
    return Opened(broker, at)


def rows(core: Core, command: str) -> int:
    """How many rows the query of a command has; an update is carried out."""
    text = next(word for word in reversed(shlex.split(command)) if "{" in word)
    if text.startswith("update="):
        core.update(text.removeprefix("update="), now=0)
        return 1
    result = core.query(text.removeprefix("query="), now=0)
    assert isinstance(result, Solutions)
    return len(list(result.rows))


@pytest.mark.parametrize(
    ("settings", "quads"),
    [
        (Settings(memory=True, demo=True), [*town(0.001)]),
        (Settings(memory=True), [(*MINE, DEFAULT_GRAPH)]),
        (Settings(memory=True), [(*MINE, "<urn:graph>")]),
        (Settings(memory=True), []),
    ],
    ids=["demo", "default graph", "named graph", "nothing"],
)
def test_the_commands_of_the_greeting_answer_something(settings: Settings, quads: list[Quad]) -> None:
    served = opened(settings, quads)
    core = served.broker.engine.core
    found = {command: rows(core, command) for command in first_steps(served, settings)}
    followed = [command for command in found if "subscribe" in command]
    assert len(followed) == 2
    assert all(count or command in followed for command, count in found.items())
    assert settings.demo or all(found.values())  # at night, all lamps of the city are off


def test_the_greeting_names_the_page_and_an_address_that_is_not_the_usual_one() -> None:
    settings = Settings(memory=True)
    there = Addresses("http://127.0.0.1:8123", "ws://127.0.0.1:9123/subscribe")
    assert "  page: http://127.0.0.1:8000/\n" in greeting(opened(settings), settings)
    assert " --http " not in greeting(opened(settings), settings)
    said = greeting(opened(settings, at=there), settings)
    assert "  page: http://127.0.0.1:8123/\n" in said
    assert f"query --http {there.http} '" in said


def test_who_may_log_in_at_first_is_named_as_long_as_the_secret_is_there(tmp_path: Path) -> None:
    settings = Settings(secure=True, data=str(tmp_path / "my data"))
    served = opened(Settings(memory=True))
    assert next(first_steps(served, settings)).endswith(" login")
    (tmp_path / "my data").mkdir()
    (tmp_path / "my data" / "admin.secret").touch()
    words = shlex.split(next(first_steps(served, settings)))
    assert words[1:] == ["login", "--id", "admin", "--secret-file", str(tmp_path / "my data" / "admin.secret")]


def test_commands_are_called_as_a_shell_finds_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root, elsewhere = tmp_path / "my clone", tmp_path / "bin"
    for folder in (root / "scripts", root / "src/tidings", root / ".venv/bin", elsewhere):
        folder.mkdir(parents=True)
    for file in ("scripts/setup", "scripts/tidings", ".venv/bin/tidings"):
        (root / file).touch(mode=0o755)
    monkeypatch.setattr(extras, "clone", lambda: root)
    monkeypatch.setattr(sys, "prefix", str(root / ".venv"))
    monkeypatch.setenv("PATH", str(elsewhere))
    assert extras.program() == f"'{root}/scripts/tidings'"
    (elsewhere / "tidings").touch(mode=0o755)  # another one, of somebody else
    assert extras.program() == f"'{root}/scripts/tidings'"
    (elsewhere / "tidings").unlink()
    (elsewhere / "tidings").symlink_to(root / "scripts/tidings")
    assert extras.program() == "tidings"
    monkeypatch.setenv("PATH", str(root / ".venv/bin"))
    assert extras.program() == "tidings"
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "other"))
    assert extras.program() == f"{shlex.quote(sys.executable)} -m tidings"
