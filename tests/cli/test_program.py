"""The command line as a program: its version, what it imports, what its help teaches."""

import shlex
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from cli.calls import Captured
from cli.shell import EXAMPLES, furnish, runs_alone, shell
from tidings import __version__
from tidings.cli import COMMANDS, main
from tidings.model.terms import Quad
from tidings.server import app, brokers
from tidings.server.config import Settings
from tidings.server.listening import Addresses

pytestmark = pytest.mark.usefixtures("folder")


def test_the_version_is_told() -> None:
    said = subprocess.run([sys.executable, "-m", "tidings", "--version"], capture_output=True, text=True, check=True)
    assert said.stdout == f"tidings {__version__}\n"


def test_a_command_in_a_pipe_imports_neither_a_web_server_nor_a_terminal_library() -> None:
    call = "main(['query', '-q', '--empty', 'ASK {}'])"
    code = f"import sys; from tidings.cli import main; {call}; print(sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert not [
        name for name in ("rich", "starlette", "uvicorn", "asyncio", "tidings.server.app") if f"'{name}'" in loaded
    ]


@pytest.mark.parametrize("name", COMMANDS)
def test_help_teaches_with_examples(capsys: Captured, name: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main([name, "--help"])
    assert ended.value.code == 0
    assert f"examples:\n  tidings {name}" in capsys.readouterr().out


@pytest.mark.parametrize("example", [line for line in EXAMPLES if runs_alone(line)])
def test_every_example_of_the_help_runs(folder: Path, example: str) -> None:
    furnish(folder)
    done = shell(example, folder)
    assert done.returncode == 0, done.stderr
    assert "error" not in done.stderr
    assert done.stdout or any(word in example for word in ("--output", "--in-place", "convert city.nt city", "> "))


@pytest.mark.parametrize("example", [line for line in EXAMPLES if "tidings serve" in line])
def test_every_example_of_serve_runs(
    capsys: Captured, folder: Path, monkeypatch: pytest.MonkeyPatch, example: str
) -> None:
    loaded: list[Quad] = []

    def serve(
        settings: Settings,
        quads: Callable[[], Iterable[Quad]],
        announce: Callable[[app.Opened], None],
        say: Callable[[str], None],
    ) -> None:
        loaded.extend(quads())
        places = Addresses(f"http://x:{settings.http_port}", f"ws://x:{settings.ws_port}")
        announce(app.Opened(brokers.build_broker(settings), places))

    monkeypatch.setattr(app, "serve", serve)
    monkeypatch.setattr("tidings.cli.commands.operation.serve.configure", lambda *_: None)
    (folder / "tidings.toml").write_text("http_port = 8001\n")
    assert main(["city", "--factor", "0.01", "--output", "city.nt"]) == 0
    words = shlex.split(example)
    while "=" in words[0]:
        monkeypatch.setenv(*words.pop(0).split("=", 1))
    assert main(words[1:]) == 0
    said = capsys.readouterr().out
    assert "/sparql" in said
    assert ("in memory only" in said) == ("--memory" in example)
    assert bool(loaded) == ("--load " in example)
    assert not (folder / "tidings-data").exists()
